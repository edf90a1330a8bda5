"""The pages of language models: presets, saving, and the question whether this server may connect to itself."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from agent.connections.service_keys import opened
from agent.models import LanguageModel
from agent.providers.presets import PRESETS
from audit.actions import Action
from audit.models import Entry
from copilot_site.lib.outgoing.addresses import parsed_url
from tests.factories import make_user
from tests.integration.admin.test_try_model import NUMBERS
from tests.integration.governance.world import client_of, staff, text_of
from tests.modelserver import says, serving

pytestmark = pytest.mark.django_db
LOCAL = "http://localhost:11434/v1"


@pytest.fixture
def root(settings: Any) -> User:
    settings.OUTGOING_ALLOW = ("private", "public", "local-models")
    return make_user("root", is_superuser=True)


@pytest.fixture
def keeper(root: User) -> User:
    """Staff who may change language models, and is no superuser."""
    user = staff("kim")
    user.user_permissions.set(Permission.objects.filter(content_type__model="languagemodel"))
    return user


def filled(**fields: Any) -> dict[str, Any]:
    return {
        "name": "ours",
        "base_url": "https://models.example.com/v1",
        "model": "m",
        **NUMBERS,
        "is_enabled": "on",
        **fields,
    }


def added(user: User, **fields: Any) -> Any:
    return client_of(user).post(f"{reverse('language-model-add')}?preset=ollama", filled(**fields))


def test_a_preset_fills_in_where_the_service_is(root: User) -> None:
    for preset in PRESETS:
        host, _port = parsed_url(preset.base_url)
        assert (host == "localhost") is preset.is_local
        assert preset.base_url.startswith("https://") is not preset.is_local
    form = client_of(root).get(f"{reverse('language-model-add')}?preset={preset.key}").context["form"]
    assert (form["base_url"].value(), form["context_tokens"].value()) == (preset.base_url, preset.context_tokens)


def test_a_model_is_added_changed_and_deleted(root: User) -> None:
    assert added(root, api_key="sk-1", is_default="on", anyway="1").status_code == 302
    row = LanguageModel.objects.get()
    assert (opened(row.encrypted_key, row.base_url), row.is_default, row.local_address) == ("sk-1", True, "")
    added(root, name="second", is_default="on", anyway="1")
    assert [item.name for item in LanguageModel.objects.filter(is_default=True)] == ["second"]
    page = reverse("language-model", args=[row.pk])
    assert "sk-1" not in client_of(root).get(page).content.decode()
    client_of(root).post(page, filled(model="n"))
    row.refresh_from_db()
    assert (row.model, opened(row.encrypted_key, row.base_url)) == ("n", "sk-1")
    client_of(root).post(page, {"do": "delete"})
    assert [item.name for item in LanguageModel.objects.all()] == ["second"]


def test_a_default_model_that_does_not_answer_is_saved_only_anyway(root: User) -> None:
    silent = "http://127.0.0.1:9/v1"
    given = {"base_url": silent, "allow_here": "on", "is_default": "on", "api_key": "sk-1"}
    said = added(root, **given)
    assert "does not answer. Nothing answers at this address" in text_of(said)
    assert 'value="sk-1"' in said.content.decode(), "not lost when it is saved anyway"
    assert not LanguageModel.objects.exists()
    assert added(root, **given, anyway="1").status_code == 302
    with serving(says("yes")) as served:
        row = LanguageModel.objects.get()
        changed = filled(**{**given, "base_url": served.base_url}, id=row.pk)
        assert client_of(root).post(reverse("language-model", args=[row.pk]), changed).status_code == 302
    assert LanguageModel.objects.get().base_url == served.base_url


def test_a_superuser_allows_a_model_on_this_machine_with_one_tick(root: User) -> None:
    assert "is this machine itself" in text_of(added(root, base_url=LOCAL))
    assert not LanguageModel.objects.exists()
    assert added(root, base_url=LOCAL, allow_here="on").status_code == 302
    row = LanguageModel.objects.get()
    assert row.local_address == "localhost:11434"
    assert Entry.objects.get(action=Action.LOCAL_MODEL_ALLOWED).detail == {"address": "localhost:11434"}
    page = reverse("language-model", args=[row.pk])
    client_of(root).post(page, filled(base_url=LOCAL, allow_here="on", model="n"))
    assert Entry.objects.filter(action=Action.LOCAL_MODEL_ALLOWED).count() == 1
    assert "is this machine itself" in text_of(client_of(root).post(page, filled(base_url="http://localhost:11435/v1")))
    client_of(root).post(page, filled())
    row.refresh_from_db()
    assert row.local_address == ""


def test_others_change_such_a_model_and_allow_none(root: User, keeper: User) -> None:
    assert "Only a superuser" in text_of(added(keeper, base_url=LOCAL, allow_here="on"))
    tried = client_of(keeper).post(reverse("model-try"), filled(base_url=LOCAL, allow_here="on", check="answers"))
    assert "Only a superuser" in text_of(tried)
    added(root, base_url=LOCAL, allow_here="on")
    row = LanguageModel.objects.get()
    page = reverse("language-model", args=[row.pk])
    assert client_of(keeper).post(page, filled(base_url=LOCAL, allow_here="on", model="n")).status_code == 302
    row.refresh_from_db()
    assert (row.model, row.local_address) == ("n", "localhost:11434")


def test_the_operator_s_word_is_said_where_models_here_are_forbidden(root: User, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private", "public")
    assert "operator of this server does not allow" in text_of(added(root, base_url=LOCAL, allow_here="on"))
    settings.OUTGOING_ALLOW = ("private", "public", "local-models")
    settings.WEB_PORT = 8123
    said = text_of(added(root, base_url="http://127.0.0.1:8123/v1", allow_here="on"))
    assert "Port 8123 belongs to this server" in said
    assert not LanguageModel.objects.exists()


def test_staff_without_the_right_get_nothing(root: User) -> None:
    added(root)
    sam = client_of(staff("sam"))
    pages = [
        reverse("language-models"),
        reverse("language-model-add"),
        reverse("language-model", args=[LanguageModel.objects.get().pk]),
    ]
    assert {sam.get(page).status_code for page in pages} == {403}
    assert client_of(root).get(reverse("language-model", args=[0])).status_code == 404
