"""Every page of the site × anonymous, no grant, a grant elsewhere, a grant. A page that is missing here is a red test."""

import re
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.urls import get_resolver, reverse

from agent.business.urls import urlpatterns as data_sources
from agent.oversight.urls import urlpatterns as oversight
from authz.grants import take_back
from authz.permissions import Right
from knowledge.governance.urls import urlpatterns as governance
from knowledge.models import Document, Folder
from tests.integration.pages.house import SENTENCE, House, chunk_with, client_of, plain, source_url

# name of the address → path for a document, folder, … of the house that the reader may view
PROTECTED: dict[str, Callable[[House], str]] = {
    "base": lambda house: reverse("base", args=[house.base.pk]),
    "folder": lambda house: reverse("folder", args=[house.folder.pk]),
    "folder-progress": lambda house: reverse("folder-progress", args=[house.folder.pk]),
    "document": lambda house: reverse("document", args=[house.document.pk]),
    "document-progress": lambda house: reverse("document-progress", args=[house.document.pk]),
    "page-image": lambda house: reverse("page-image", args=[house.pdf.pk, 1, 1]),
    "source": lambda house: source_url(chunk_with(house.document, SENTENCE), SENTENCE),
    "conversation": lambda house: reverse("conversation", args=[house.session.pk]),
    "run": lambda house: reverse("run", args=[house.session.pk, house.session.messages.latest("created_at").pk]),
    "message": lambda house: reverse("message", args=[house.session.pk, house.session.messages.last().pk]),  # type: ignore[union-attr]
}
# what changes something or hands out the original: needs more than to view
ACTIONS: dict[str, Callable[[House], str]] = {
    "folder-upload": lambda house: reverse("folder-upload", args=[house.folder.pk]),
    "folder-new": lambda house: reverse("folder-new", args=[house.folder.pk]),
    "folder-rename": lambda house: reverse("folder-rename", args=[house.below.pk]),
    "folder-move": lambda house: reverse("folder-move", args=[house.below.pk]),
    "folder-delete": lambda house: reverse("folder-delete", args=[house.below.pk]),
    "document-retry": lambda house: reverse("document-retry", args=[house.document.pk]),
    "document-delete": lambda house: reverse("document-delete", args=[house.document.pk]),
    "document-download": lambda house: reverse("document-download", args=[house.document.pk]),
}
MINE = {"conversation", "message", "run"}  # the person's own words stay; what they quoted is masked
OWN = {"chat", "library", "tokens", "token-revoke", "conversation-new", "conversation-delete"}  # about the person only
OPEN = {"healthz", "readyz", "login", "logout", "set_language"}
# for managers and auditors: in the table of tests/integration/routes
GOVERNED = {page.name for page in (*data_sources, *oversight, *governance)}
RESULTS = {
    "query-table",
    "query-run-again",
    "query-correct",
}  # of data sources: tests/integration/business/test_results.py
SIGN_IN = (
    "account_",
    "mfa_",
    "openid_",
    "socialaccount_",
)  # names of allauth: in the table of tests/integration/routes

pages = pytest.mark.parametrize("page", PROTECTED)
actions = pytest.mark.parametrize("action", ACTIONS)


def test_every_address_stands_in_one_table() -> None:
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    ours = {name for name in names if "api" not in name and not name.startswith("schema")}
    ours -= {name for name in ours if name.startswith(SIGN_IN)}
    assert ours - OPEN - GOVERNED - RESULTS <= PROTECTED.keys() | ACTIONS.keys() | OWN


@pages
def test_a_person_with_a_grant_sees_the_page(house: House, page: str) -> None:
    answer = client_of(house.reader).get(PROTECTED[page](house), follow=True)
    assert answer.status_code == 200


@pages
@pytest.mark.parametrize("who", ["stranger", "elsewhere"])
def test_without_a_grant_here_the_page_is_not_found(house: House, page: str, who: str) -> None:
    assert client_of(getattr(house, who)).get(PROTECTED[page](house)).status_code == 404


@pages
def test_nobody_is_sent_to_sign_in_and_back(house: House, page: str) -> None:
    path = PROTECTED[page](house)
    answer = client_of(None).get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=")
    json = client_of(None).get(path, headers={"Accept": "application/json"})
    assert json.status_code == 401


@pages
def test_the_page_is_gone_with_the_grant(house: House, page: str) -> None:
    path, client = PROTECTED[page](house), client_of(house.reader)
    take_back(None, [Right.VIEW], house.folder, of=house.reader)
    expected = 200 if page in MINE else 404
    answer = client.get(path)
    assert answer.status_code == expected
    assert SENTENCE not in plain(answer.content)


@pages
def test_missing_and_forbidden_give_the_same_page(house: House, page: str) -> None:
    path, client = PROTECTED[page](house), client_of(house.stranger)
    forbidden = client.get(path)
    missing_path = re.sub(r"[0-9a-f-]{36}", lambda _found: str(uuid4()), path)
    assert missing_path != path
    missing = client.get(missing_path)
    assert (forbidden.status_code, plain(forbidden.content)) == (missing.status_code, plain(missing.content))


@actions
def test_to_view_is_not_to_act(house: House, action: str) -> None:
    path = ACTIONS[action](house)
    before = rows()
    client = client_of(house.reader)
    answer = client.get(path) if action == "document-download" else client.post(path, _form(house))
    assert answer.status_code == 403
    assert rows() == before


@actions
@pytest.mark.parametrize("who", ["stranger", "elsewhere", None])
def test_who_may_not_view_cannot_act(house: House, action: str, who: str | None) -> None:
    path = ACTIONS[action](house)
    before = rows()
    client = client_of(getattr(house, who) if who else None)
    answer = client.get(path) if action == "document-download" else client.post(path, _form(house))
    assert answer.status_code == (404 if who else 302)
    assert rows() == before


@actions
def test_with_the_right_it_is_done(house: House, action: str) -> None:
    path = ACTIONS[action](house)
    client = client_of(house.keeper)
    answer = client.get(path) if action == "document-download" else client.post(path, _form(house))
    assert answer.status_code in {200, 201, 302}
    answer.close()


@actions
def test_actions_are_not_done_by_a_link(house: House, action: str) -> None:
    if action != "document-download":  # changes nothing
        assert client_of(house.keeper).get(ACTIONS[action](house)).status_code == 405


def test_lists_name_exactly_what_a_person_may_see(house: House) -> None:
    shown = [house.document.title, house.below.name]
    hidden = [house.hidden.title, house.sibling.name]
    for path in (reverse("base", args=[house.base.pk]), reverse("folder", args=[house.folder.pk])):
        body = plain(client_of(house.reader).get(path, follow=True).content)
        assert [name for name in shown if name not in body] == []
        assert [name for name in hidden if name in body] == []
    assert house.base.name not in plain(client_of(house.stranger).get("/library/").content)
    assert house.base.name not in plain(client_of(house.stranger).get("/").content)


@pytest.mark.parametrize("page", sorted(PROTECTED.keys() - MINE))
def test_control_with_the_filter_off_a_stranger_gets_in(
    house: House, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What these tests would see if `visible_to` filtered nothing: then the tests above are red."""
    path = PROTECTED[page](house)
    monkeypatch.setattr("authz.managers.GuardedManager.reachable_by", lambda self, *_: self.model.unscoped.all())
    assert client_of(house.stranger).get(path, follow=True).status_code == 200


def rows() -> tuple[set[object], set[object]]:
    """What an action could have added, changed or taken away."""
    folders = Folder.unscoped.values_list("pk", "name", "parent_id")
    return set(Document.unscoped.values_list("pk", flat=True)), set(folders)


def _form(house: House) -> dict[str, object]:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return {"name": "New", "parent": house.folder.pk, "file": SimpleUploadedFile("new.md", b"# New")}
