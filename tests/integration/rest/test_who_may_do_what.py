"""Every route of the API against every kind of caller, in one table."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.db.models import Q
from django.urls import URLPattern, URLResolver, reverse

from agent.models import Message, Role
from authz.permissions import Right
from copilot_site import api
from knowledge.models import Document, DocumentVersion, Folder, KnowledgeBase
from tests.factories import allow
from tests.integration.rest.world import ROLES, Answer, World


class Case(NamedTuple):
    """One row of the table. about: whose id is in the path, as `param`. statuses: one for each of ROLES. query: behind the path."""

    method: str
    route: str
    statuses: str
    about: str = ""
    body: Callable[[World], dict[str, Any]] | None = None
    form: bool = False
    param: str = "pk"
    query: Callable[[World], str] | None = None


def answer_id(world: World) -> str:
    """An answer in the session."""
    row, _made = Message.objects.get_or_create(session=world.session, role=Role.ASSISTANT, content="Yes.")
    return str(row.pk)


def upload(_world: World) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("new.md", b"# New\n\nText.")}


# roles:                          anon nob els view down add  chan mana all  super
TABLE = [
    Case("get", "knowledge-bases",    "401 200 200 200 200 200 200 200 200 200"),
    Case("post", "knowledge-bases",   "401 403 403 403 403 403 403 403 403 201", body=lambda w: {"name": "New"}),
    Case("get", "knowledge-base",     "401 404 404 200 200 200 200 200 200 404", "knowledge-base"),
    Case("get", "folders",            "401 200 200 200 200 200 200 200 200 200"),
    Case("post", "folders",           "401 404 404 403 403 201 403 403 201 404",
         body=lambda w: {"parent": str(w.folder.pk), "name": "New"}),
    Case("get", "folder",             "401 404 404 200 200 200 200 200 200 404", "folder"),
    Case("delete", "folder",          "401 404 404 403 403 403 204 403 204 404", "empty"),
    Case("post", "folder-rename",     "401 404 404 403 403 403 200 403 200 404", "folder", lambda w: {"name": "New"}),
    Case("post", "folder-move",       "401 404 404 403 403 403 403 403 200 404", "empty",
         lambda w: {"parent": str(w.folder.pk)}),
    Case("post", "folder-documents",  "401 404 404 403 403 201 403 403 201 404", "folder", upload, form=True),
    Case("get", "documents",          "401 200 200 200 200 200 200 200 200 200"),
    Case("get", "document",           "401 404 404 200 200 200 200 200 200 404", "document"),
    Case("delete", "document",        "401 404 404 403 403 403 204 403 204 404", "document"),
    Case("get", "document-status",    "401 404 404 200 200 200 200 200 200 404", "document"),
    Case("get", "document-versions",  "401 404 404 200 200 200 200 200 200 404", "document"),
    Case("get", "document-chunks",    "401 404 404 200 200 200 200 200 200 404", "document"),
    Case("get", "document-download",  "401 404 404 403 200 403 403 403 200 404", "document"),
    Case("post", "document-retry",    "401 404 404 403 403 403 202 403 202 404", "document"),
    Case("post", "knowledge-search",  "401 200 200 200 200 200 200 200 200 200", body=lambda w: {"query": "rules"}),
    Case("get", "sessions",           "401 200 200 200 200 200 200 200 200 200"),
    Case("post", "sessions",          "401 201 201 201 201 201 201 201 201 201"),
    Case("get", "session",            "401 404 404 404 404 404 404 404 200 404", "session"),
    Case("delete", "session",         "401 404 404 404 404 404 404 404 204 404", "session"),
    Case("get", "messages",           "401 404 404 404 404 404 404 404 200 404", "session"),
    Case("post", "messages",          "401 404 404 404 404 404 404 404 201 404", "session",
         lambda w: {"query": "What are the rules?"}),
    Case("post", "knowledge-chat",    "401 404 404 404 404 404 404 404 200 404", "session",
         lambda w: {"query": "What are the rules?"}, param="session_id"),
    Case("post", "agent-chat",        "401 404 404 404 404 404 404 404 200 404", "session",
         lambda w: {"query": "What are the rules?"}, param="session_id"),
    Case("get", "continue-stream",    "401 404 404 404 404 404 404 404 200 404", "session", param="session_id",
         query=lambda w: f"?message_id={answer_id(w)}"),
    Case("post", "stop-session",      "401 404 404 404 404 404 404 404 200 404", "session",
         lambda w: {"message_id": answer_id(w)}, param="session_id"),
    Case("get", "tokens",             "401 200 200 200 200 200 200 200 200 200"),
    Case("post", "tokens",            "401 201 201 201 201 201 201 201 201 201", body=lambda w: {"name": "new"}),
    Case("delete", "token",           "401 404 404 404 404 404 404 404 204 404", "token"),
    Case("get", "audit-entries",      "401 403 403 403 403 403 403 403 403 200"),
    Case("get", "audit-export",       "401 403 403 403 403 403 403 403 403 200"),
    Case("get", "audit-verifier",     "401 403 403 403 403 403 403 403 403 200"),
    Case("get", "explain",            "401 400 400 400 400 400 400 400 400 400"),
    Case("get", "agent-tools",        "401 200 200 200 200 200 200 200 200 200"),
    Case("get", "agent-config",       "401 200 200 200 200 200 200 200 200 200"),
    Case("get", "schema",             "200 200 200 200 200 200 200 200 200 200"),
    Case("get", "docs",               "200 200 200 200 200 200 200 200 200 200"),
]  # fmt: skip
# results of data sources: tests/integration/business/test_results.py
RESULTS = {("get", "query-csv"), ("post", "query-again"), ("post", "query-correction")}
ABOUT_A_ROW = [case for case in TABLE if case.about]


def name_of(case: Case) -> str:
    return f"{case.method} {case.route}"


def call(world: World, case: Case, role: str, pk: UUID | int | None = None) -> Answer:
    """The answer to one role; pk: instead of the row that the case is about."""
    row = pk if pk is not None else world.ids().get(case.about)
    path = reverse(f"api:{case.route}", kwargs={case.param: row} if case.about else {})
    path += case.query(world) if case.query else ""
    body = case.body(world) if case.body else None
    send = getattr(world.client(role), case.method)
    answer = send(path, body, format="multipart" if case.form else "json") if body is not None else send(path)
    if answer.streaming:
        list(answer)  # reading to the end closes the file
    return answer


def status_of_each_role(world: World, case: Case) -> dict[str, int]:
    """What each role gets; nobody sees what an earlier one changed."""
    found = {}
    for role in ROLES:
        with transaction.atomic():
            found[role] = call(world, case, role).status_code
            transaction.set_rollback(True)
    return found


def expected(case: Case) -> dict[str, int]:
    return dict(zip(ROLES, map(int, case.statuses.split()), strict=True))


@pytest.mark.parametrize("case", TABLE, ids=name_of)
def test_each_role_gets_the_status_of_the_table(world: World, case: Case) -> None:
    assert status_of_each_role(world, case) == expected(case)


def routes(patterns: Sequence[object]) -> Iterator[tuple[str, str]]:
    """(method, route name) of everything the API answers."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns)
        elif isinstance(pattern, URLPattern) and pattern.name:
            view = getattr(pattern.callback, "view_class")  # noqa: B009 - as_view() puts it there
            yield from (
                (name, pattern.name) for name in ("get", "post", "put", "patch", "delete") if hasattr(view, name)
            )


def test_every_route_has_a_row_in_the_table() -> None:
    assert {(case.method, case.route) for case in TABLE} | RESULTS == set(routes(api.urlpatterns))


@pytest.mark.parametrize("case", ABOUT_A_ROW, ids=name_of)
def test_missing_and_forbidden_are_the_same_bytes(world: World, case: Case) -> None:
    missing = 2**31 if case.about == "token" else uuid4()
    forbidden, absent = call(world, case, "nobody"), call(world, case, "nobody", missing)
    assert forbidden.status_code == absent.status_code == 404
    assert forbidden.content == absent.content
    assert forbidden.headers["Content-Type"] == absent.headers["Content-Type"] == "application/problem+json"


def test_missing_and_forbidden_parents_are_the_same_bytes(world: World) -> None:
    client = world.client("nobody")
    answers = {
        client.post("/api/v1/folders", {"parent": str(parent), "name": "New"}, format="json").content
        for parent in (world.folder.pk, uuid4())
    }
    assert len(answers) == 1


@pytest.mark.parametrize("case", [case for case in ABOUT_A_ROW if case.about in {"folder", "document"}], ids=name_of)
def test_the_table_turns_red_when_the_guard_is_off(world: World, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in (KnowledgeBase, Folder, Document, DocumentVersion):
        monkeypatch.setattr(model, "reach", classmethod(lambda cls, principal, right: Q()))
    assert call(world, case, "nobody").status_code != expected(case)["nobody"]


def test_a_right_without_view_opens_nothing(world: World) -> None:
    allow(world.people["nobody"], world.folder, *(right for right in Right if right is not Right.VIEW))
    for case in ABOUT_A_ROW:
        assert call(world, case, "nobody").status_code == 404, name_of(case)
