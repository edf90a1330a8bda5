"""The admin speaks the reader's language, down to the words of its scripts and of the packages it shows."""

import json
import re
from pathlib import Path
from types import ModuleType

import django.contrib.admin
import django.contrib.auth
import polib
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from authz.people.units import create_unit
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


@pytest.mark.parametrize("package", [django.contrib.admin, django.contrib.auth])
def test_people_are_addressed_in_one_way(package: ModuleType) -> None:
    """Ours say 您; of Django's own texts, such as what it asks of a password, none says 你 on the same page."""
    catalogue = Path(str(package.__file__)).parent / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    said = [entry for entry in polib.pofile(str(catalogue)) if "你" in str(entry.msgstr or entry.msgstr_plural)]
    assert said
    with translation.override("zh-hans"):
        spoken = {
            translation.ngettext(e.msgid, e.msgid_plural, 2) if e.msgid_plural else translation.gettext(e.msgid)
            for e in said
        }
    assert not {words for words in spoken if "你" in words}


def test_what_is_hidden_for_readers_of_screens_alone_is_translated(client: Client) -> None:
    person = make_user("reader")
    person.groups.add(create_unit(None, name="Sales").group)
    page = client.get(reverse("person", args=[person.pk])).content.decode()
    hidden = re.findall(r'visually-hidden[^>]*>\s*([^<]+?)\s*<|<th[^>]*class="[^"]*hidden[^"]*"[^>]*>([^<]+)<', page)
    said = {first or second for first, second in hidden}
    assert said
    assert not {words for words in said if re.fullmatch(r"[A-Za-z ]+", words)}
