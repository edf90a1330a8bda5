"""A language model is tried before it is saved."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from agent.connections.service_keys import open_service_key, save_language_model
from agent.models import LanguageModel
from agent.providers.openai_compatible import OpenAICompatible, ServedModel
from agent.providers.presets import PRESETS
from audit.actions import Action
from audit.models import Entry
from copilot_site.lib.outgoing.addresses import parse_url
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.modelserver import Request, Step, calls, says, says_json, serving

pytestmark = pytest.mark.django_db
NUMBERS = {"context_tokens": "8000", "price_input": "0", "price_output": "0"}


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


def tried(user: User, address: str, check: str = "answers", **fields: Any) -> Any:
    given = {"name": "new", "base_url": address, "model": "m", **NUMBERS, "check": check}
    return client_of(user).post(reverse("model-try"), {**given, "is_enabled": "on", **fields})


def able(request: Request) -> Step:
    """A service that can do everything."""
    if names := [tool["function"]["name"] for tool in request.get("tools", [])]:
        return calls((names[0], {"a": 17, "b": 25}))
    if "response_format" in request:
        return says_json({"country": "France", "capital": "Paris"})
    return Step([{"reasoning_content": "Twenty."}, {"content": "1 2 3"}, {"content": " 4 5"}])


def unable(request: Request) -> Step:
    """One that refuses tools and every form, and answers in one piece."""
    return Step(status=400) if {"tools", "response_format"} & set(request) else says("no", size=9)


def works(user: User, choose: Callable[[Request], Step]) -> list[str]:
    """What the page says after each check, as the page asks for them."""
    told, check = [], "answers"
    with serving(chooses=choose) as served:
        while check:
            page = tried(user, served.base_url, check).content.decode()
            told.append(" · ".join(re.findall(r"<span>(.*?)</span>", page)))
            check = re.search(r'data-next="(\w*)"', page)[1]  # type: ignore[index]
    return [re.sub(r"\d+\.\d s", "0 s", item) for item in told]


def test_each_check_adds_what_works_to_one_line_and_nothing_is_saved(root: User) -> None:
    assert works(root, able) == [
        "First word 0 s · Streaming · Reasoning · JSON…",
        "First word 0 s · Streaming · Reasoning · JSON · Tools…",
        "First word 0 s · Streaming · Reasoning · JSON · Tools",
    ]
    assert works(root, unable)[-1] == "First word 0 s · No streaming · No reasoning · No JSON · No tools"
    assert not LanguageModel.objects.exists()
    assert [entry.detail["check"] for entry in Entry.objects.filter(action=Action.MODEL_TESTED).order_by("pk")] == [
        "answers", "json", "tools",
    ] * 2  # fmt: skip


def test_a_default_model_that_does_not_answer_is_saved_only_anyway(superuser: User) -> None:
    silent = "http://127.0.0.1:9/v1"
    given = {"base_url": silent, "allow_here": "on", "is_default": "on", "api_key": "sk-1"}
    said = added(superuser, **given)
    assert "does not answer. Nothing answers at this address" in text_of(said)
    assert 'value="sk-1"' in said.content.decode(), "not lost when it is saved anyway"
    assert not LanguageModel.objects.exists()
    assert added(superuser, **given, anyway="1").status_code == 302
    with serving(says("yes")) as served:
        row = LanguageModel.objects.get()
        changed = filled(**{**given, "base_url": served.base_url}, id=row.pk)
        assert client_of(superuser).post(reverse("language-model", args=[row.pk]), changed).status_code == 302
    assert LanguageModel.objects.get().base_url == served.base_url


def test_one_whose_thinking_has_no_beginning_is_told_what_to_switch_on_and_does_not_leak(root: User) -> None:
    """Its template begins the thinking in the prompt; once that is seen, none of it is said."""
    with serving(
        says("The user wants: ok.\n</think>\n\nok"), says("He asks again.\n</think>\n\nyes", size=3)
    ) as served:
        said = text_of(tried(root, served.base_url))
        replies = async_to_sync(reply_of)(served.base_url)
    assert "--reasoning-parser" in said
    assert "First word" in said
    assert "".join(replies) == "yes"
    with serving(says("<think>The user wants: ok.</think>ok")) as served:
        assert "--reasoning-parser" not in text_of(tried(root, served.base_url))


async def reply_of(base_url: str) -> list[str]:
    model = OpenAICompatible(ServedModel("m", base_url, "m"))
    texts = [delta.text async for delta in model.stream([{"role": "user", "content": "Again"}])]
    await model.aclose()
    return texts


def test_one_that_refuses_the_key_or_is_not_there_says_what_to_check(root: User) -> None:
    with serving(Step(status=401, body='{"error": {"message": "bad key"}}')) as served:
        assert "check the key and the name of the model" in text_of(tried(root, served.base_url, api_key="wrong"))
    assert "Nothing answers at this address" in text_of(tried(root, "http://127.0.0.1:9/v1"))
    assert "This is not an address" in text_of(tried(root, "nowhere"))


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A service that refuses everybody: its address, and the keys that came."""
    came: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(self.headers.get("Authorization", ""))
            self.send_error(401)

        def log_message(self, *_args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_stored_key_is_tried_at_its_own_address_alone(root: User) -> None:
    with listening() as (own, at_own), listening() as (other, at_other):
        row = LanguageModel(name="stored", base_url=own, model="m")
        save_language_model(None, row, key="the-secret-key")
        tried(root, own, name="stored", id=str(row.pk))
        tried(root, other, name="stored", id=str(row.pk))
    assert at_own == ["Bearer the-secret-key"]
    assert at_other
    assert "the-secret-key" not in str(at_other)
    assert LanguageModel.objects.get().base_url == own


def test_only_administrators_of_the_system_try_models() -> None:
    for person, status in ((staff("sam"), 403), (make_user("clara"), 302)):
        assert tried(person, "http://127.0.0.1:9/v1").status_code == status
    assert not Entry.objects.filter(action=Action.MODEL_TESTED).exists()


# --- the pages of language models: presets, saving, and the question whether this server may connect to itself ---
LOCAL = "http://localhost:11434/v1"


@pytest.fixture
def superuser(settings: Any) -> User:
    settings.OUTGOING_ALLOW = ("private", "public", "local-models")
    return make_user("superuser", is_superuser=True)


@pytest.fixture
def keeper(superuser: User) -> User:
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


def test_a_preset_fills_in_where_the_service_is(superuser: User) -> None:
    for preset in PRESETS:
        host, _port = parse_url(preset.base_url)
        assert (host == "localhost") is preset.is_local
        assert preset.base_url.startswith("https://") is not preset.is_local
    form = client_of(superuser).get(f"{reverse('language-model-add')}?preset={preset.key}").context["form"]
    assert (form["base_url"].value(), form["context_tokens"].value()) == (preset.base_url, preset.context_tokens)


def test_a_model_is_added_changed_and_deleted(superuser: User) -> None:
    assert added(superuser, api_key="sk-1", is_default="on", anyway="1").status_code == 302
    row = LanguageModel.objects.get()
    assert (open_service_key(row.encrypted_key, row.base_url), row.is_default, row.local_address) == ("sk-1", True, "")
    added(superuser, name="second", is_default="on", anyway="1")
    assert [item.name for item in LanguageModel.objects.filter(is_default=True)] == ["second"]
    page = reverse("language-model", args=[row.pk])
    assert "sk-1" not in client_of(superuser).get(page).content.decode()
    client_of(superuser).post(page, filled(model="n"))
    row.refresh_from_db()
    assert (row.model, open_service_key(row.encrypted_key, row.base_url)) == ("n", "sk-1")
    client_of(superuser).post(page, {"do": "delete"})
    assert [item.name for item in LanguageModel.objects.all()] == ["second"]


def test_a_superuser_allows_a_model_on_this_machine_with_one_tick(superuser: User) -> None:
    assert "is this machine itself" in text_of(added(superuser, base_url=LOCAL))
    assert not LanguageModel.objects.exists()
    assert added(superuser, base_url=LOCAL, allow_here="on").status_code == 302
    row = LanguageModel.objects.get()
    assert row.local_address == "localhost:11434"
    assert Entry.objects.get(action=Action.LOCAL_MODEL_ALLOWED).detail == {"address": "localhost:11434"}
    page = reverse("language-model", args=[row.pk])
    client_of(superuser).post(page, filled(base_url=LOCAL, allow_here="on", model="n"))
    assert Entry.objects.filter(action=Action.LOCAL_MODEL_ALLOWED).count() == 1
    assert "is this machine itself" in text_of(
        client_of(superuser).post(page, filled(base_url="http://localhost:11435/v1"))
    )
    client_of(superuser).post(page, filled())
    row.refresh_from_db()
    assert row.local_address == ""


def test_others_change_such_a_model_and_allow_none(superuser: User, keeper: User) -> None:
    assert "Only a superuser" in text_of(added(keeper, base_url=LOCAL, allow_here="on"))
    tried = client_of(keeper).post(reverse("model-try"), filled(base_url=LOCAL, allow_here="on", check="answers"))
    assert "Only a superuser" in text_of(tried)
    added(superuser, base_url=LOCAL, allow_here="on")
    row = LanguageModel.objects.get()
    page = reverse("language-model", args=[row.pk])
    assert client_of(keeper).post(page, filled(base_url=LOCAL, allow_here="on", model="n")).status_code == 302
    row.refresh_from_db()
    assert (row.model, row.local_address) == ("n", "localhost:11434")


def test_the_operator_s_word_is_said_where_models_here_are_forbidden(superuser: User, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private", "public")
    assert "operator of this server does not allow" in text_of(added(superuser, base_url=LOCAL, allow_here="on"))
    settings.OUTGOING_ALLOW = ("private", "public", "local-models")
    settings.WEB_PORT = 8123
    said = text_of(added(superuser, base_url="http://127.0.0.1:8123/v1", allow_here="on"))
    assert "Port 8123 belongs to this server" in said
    assert not LanguageModel.objects.exists()


def test_staff_without_the_right_get_nothing(superuser: User) -> None:
    added(superuser)
    sam = client_of(staff("sam"))
    pages = [
        reverse("language-models"),
        reverse("language-model-add"),
        reverse("language-model", args=[LanguageModel.objects.get().pk]),
    ]
    assert {sam.get(page).status_code for page in pages} == {403}
    assert client_of(superuser).get(reverse("language-model", args=[0])).status_code == 404
