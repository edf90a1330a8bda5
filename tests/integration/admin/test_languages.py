"""The admin speaks the reader's language, down to the words of its scripts and of the packages it shows."""

import json
import re
from pathlib import Path
from types import ModuleType

import django.contrib.admin
import django.contrib.auth
import polib
import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from django.utils import translation

from authz.units import create_unit
from tests.factories import make_base, make_document, make_folder, make_user

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


def test_scripts_address_people_in_the_same_way_and_we_say_otherwise_what_django_says(client: Client) -> None:
    ours = {
        entry.msgid
        for path in Path().glob("locale/zh_Hans/LC_MESSAGES/djangojs.po")
        for entry in polib.pofile(str(path))
    }
    theirs = SCRIPTS.parents[2] / "locale" / "zh_Hans" / "LC_MESSAGES" / "djangojs.po"
    assert json.dumps("你")[1:-1] not in client.get(reverse("admin:jsi18n")).content.decode()
    assert ours <= {entry.msgid for entry in polib.pofile(str(theirs))}, "Django does not say it any more"


def test_a_filter_is_called_as_what_it_filters_by(client: Client) -> None:
    for name in ("Rules", "Prices"):  # of one there is nothing to choose
        make_document(make_folder(make_base(name), "Updates"), "a.md")
    page = client.get(reverse("admin:knowledge_document_changelist")).content.decode()
    assert "以 知识库" in page
    assert "knowledge base" not in page


def test_what_is_hidden_for_readers_of_screens_alone_is_translated(client: Client) -> None:
    person = make_user("reader")
    person.groups.add(create_unit(None, name="Sales").group)
    page = client.get(reverse("person", args=[person.pk])).content.decode()
    hidden = re.findall(r'visually-hidden[^>]*>\s*([^<]+?)\s*<|<th[^>]*class="[^"]*hidden[^"]*"[^>]*>([^<]+)<', page)
    said = {first or second for first, second in hidden}
    assert said
    assert not {words for words in said if re.fullmatch(r"[A-Za-z ]+", words)}


def test_a_membership_is_told_by_what_it_is_in(client: Client) -> None:
    person = make_user("reader")
    person.groups.add(create_unit(None, name="Sales").group)
    page = client.get(reverse("person", args=[person.pk])).content.decode()
    assert "<td>部门</td>" in page


def test_two_lists_to_choose_from_are_called_by_what_is_in_them(client: Client) -> None:
    """The script puts the name into its sentences: “all available …”, “choose all …”."""
    page = client.get(reverse("admin:agent_agentprofile_add")).content.decode()
    assert set(re.findall(r'data-field-name="([^"]*)"', page)) == {"组", "知识库"}
