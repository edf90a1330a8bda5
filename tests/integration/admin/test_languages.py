"""The admin speaks the reader's language, down to the words of its scripts and of the packages it shows."""

import json
import re
from pathlib import Path

import django.contrib.admin
import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse

from tests.factories import make_user

pytestmark = pytest.mark.django_db

SCRIPTS = Path(django.contrib.admin.__file__).parent / "static" / "admin" / "js"
SAID = re.compile(r"gettext\(\s*'((?:[^'\\]|\\.)*)'")


@pytest.fixture
def client() -> Client:
    client = Client(headers={"Accept-Language": "zh-hans"})
    client.force_login(make_user("root", is_superuser=True))
    return client


@pytest.mark.parametrize("script", ["SelectFilter2.js", "actions.js"])
def test_every_word_of_a_script_has_its_translation(client: Client, script: str) -> None:
    """The picker of members says words that the Chinese catalogue of Django does not have."""
    said = {words.replace("\\'", "'") for words in SAID.findall((SCRIPTS / script).read_text(encoding="utf-8"))}
    catalogue = client.get(reverse("admin:jsi18n")).content.decode()
    assert said
    assert {words for words in said if f"{json.dumps(words)}: " not in catalogue} == set()


def test_second_factors_are_named_in_our_words(client: Client) -> None:
    """A package names its model by the class, which no catalogue translates."""
    root = make_user("other", is_superuser=True)
    Authenticator.objects.create(user=root, type=Authenticator.Type.TOTP, data={})
    page = client.get(reverse("admin:mfa_authenticator_changelist")).content.decode()
    assert "other" in page
    assert not re.search(r"authenticator(?! app)|TOTP", re.sub(r"<[^>]+>", " ", page), re.IGNORECASE)
    row = reverse("admin:mfa_authenticator_change", args=[Authenticator.objects.get().pk])
    assert client.get(row).status_code == 200
