"""Rules that hold for every address whatever the table of tests/golden/routes.txt says: what it says is in test_table.py."""

import re
from collections.abc import Callable, Collection, Iterable
from html.parser import HTMLParser
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Q, Value
from django.test.utils import CaptureQueriesContext

from agent.models import Citation
from audit.actions import Action, How
from audit.models import Entry, Shown
from authz.permissions import Right
from copilot_site.celery import app as celery_app
from knowledge.models import Chunk, Document, DocumentVersion, Folder, KnowledgeBase, SourceItem
from tests.factories import allow
from tests.integration.routes.addresses import Route
from tests.integration.routes.table import IDS, area, rows, with_an_id, written
from tests.integration.routes.world import World

pytestmark = pytest.mark.django_db
# open to everybody: what is shown before anybody signs in, what only leads on, and what a signature opens
OPEN = {
    "healthz", "readyz", "sign-in/", "sign-out/", "sign-in/second-factor/", "sign-in/with/<provider_id>/",
    "sign-in/with/<provider_id>/callback/", "sign-in/cancelled/", "i18n/setlang/", "admin/login/", "admin/logout/",
    "admin/jsi18n/", "api/schema/", "api/docs/", "api/", "hooks/sources/<kept_id>", "hooks/chat/<bot_id>",
    ".well-known/oauth-protected-resource", ".well-known/oauth-protected-resource/mcp",  # not there without an identity provider
}  # fmt: skip
AWAY = {302, 401, 403}  # how an address answers whoever is nobody


def test_whoever_is_nobody_gets_nothing_and_a_disabled_account_is_nobody() -> None:
    for route, got in rows().items():
        if route.path not in OPEN:
            assert got["anon"] in AWAY, route
            assert got["dead"] in AWAY, f"{route}: a disabled person is let in"


def test_rights_elsewhere_open_nothing_here_and_more_rights_never_open_less() -> None:
    for route, got in rows().items():
        assert got["none"] == got["else"], route
        if not route.path.startswith("admin/"):
            assert got["staff"] == got["none"], f"{route}: being staff is no grant"
        if got["view"] < 400:
            assert got["down"] < 400 or route.path.startswith(OWN), route


def test_auditors_see_rights_and_the_audit_log_and_read_no_document_and_no_answer() -> None:
    opened = {route for route, got in rows().items() if got["audit"] != got["staff"]}
    assert opened
    for route in opened:
        assert route.method == "get", f"{route}: to audit is to look"
        assert route.path.startswith(AUDITED), f"{route}: to audit is no grant, and not to oversee"


AUDITED = ("admin/rights/", "admin/audit/", "admin/shown/", "api/v1/rights/", "api/v1/explain", "api/v1/audit/")
# One person's: nobody else's rights reach it.
OWN = ("chat/", "tokens/", "data/", "api/v1/sessions", "api/v1/tokens", "api/v1/knowledge-chat/", "api/v1/agent-chat/")


VARYING = {"Date", "Set-Cookie", "X-Request-ID", "X-Correlation-ID"}


def answer_to(world: World, role: str, route: Route, replace: dict[str, Any]) -> tuple[Any, list[str]]:
    """Status, headers and body, without what differs between two answers to one request; and the shapes of the statements."""
    values = {name: world.value(route, name) for name in route.names} | replace
    address = world.address(route, replace)
    with transaction.atomic():
        with CaptureQueriesContext(connection, ) as queries:  # fmt: skip
            answer: Any = world.send(world.clients[role], route, address)
        transaction.set_rollback(True)
    body = re.sub(
        r'(name="csrfmiddlewaretoken" value="|class="error-id">[^<]*<code>)[^"<]*', r"\1", answer.content.decode()
    )
    for value in values.values():
        # a 4 is not part of 404, nor an 8 of utf-8
        body = re.sub(rf"(?<![\w-]){re.escape(str(value))}(?!\d)", "ID", body)
    headers = {name: value for name, value in answer.headers.items() if name not in VARYING}
    return (answer.status_code, headers, body), [shape(query["sql"]) for query in queries]


def shape(sql: str) -> str:
    """A statement without its values."""
    return re.sub(r"'(?:[^']|'')*'(::\w+)?|\"s\d+_x\d+\"|\b\d+\b", "?", sql)


def nonexistent(value: Any) -> Any:
    """An id of the same length that no row has."""
    return uuid4() if isinstance(value, UUID) else int("9" * len(str(value)))


def compared(world: World, role: str, route: Route, names: Collection[str] = IDS) -> int:
    """Ask for a hidden row and for one that is not there: return the one status of both answers, which are the same."""
    gone = {name: nonexistent(world.value(route, name)) for name in route.names if name in names}
    forbidden, by = answer_to(world, role, route, {})
    absent, by_then = answer_to(world, role, route, gone)
    assert forbidden == absent, route
    assert by == by_then, f"{route}: a clock could tell the two apart"
    return int(forbidden[0])


def few() -> list[Route]:
    """Return the first address that names a row, of each area and method."""
    return list({(area(route), route.method): route for route in reversed(list(with_an_id()))}.values())


@pytest.mark.parametrize(
    ("chosen", "role"),
    [(few, "none"), (with_an_id, "none"), (with_an_id, "else"), (with_an_id, "staff")],
    ids=["few-none", "every-none", "every-else", "every-staff"],
)
def test_missing_and_forbidden_are_the_same_bytes_by_the_same_statements(
    world: World, chosen: Callable[[], Iterable[Route]], role: str
) -> None:
    statuses = {route: compared(world, role, route) for route in chosen()}
    assert statuses == dict.fromkeys(statuses, 404)
    assert len(statuses) >= 30


@pytest.mark.parametrize(
    ("chosen", "method", "roles"),
    [(few, "head", ["none"])] + [(with_an_id, method, ["none", "staff"]) for method in ("head", "options", "trace")],
    ids=["few-head", "every-head", "every-options", "every-trace"],
)
def test_methods_that_no_view_names_tell_missing_and_forbidden_no_more_apart(
    world: World, chosen: Callable[[], Iterable[Route]], method: str, roles: list[str]
) -> None:
    for path in sorted({route.path for route in chosen()}):
        for role in roles:
            assert compared(world, role, Route(method, path)) < 500, path


def looked_at() -> dict[Route, dict[str, int]]:
    """Return the addresses that answer GET and begin nothing."""
    return {route: got for route, got in rows().items() if route.method == "get" and route.path not in NO_LOOK}


def few_looked_at() -> list[Route]:
    """Return one address of each first part of a path and of each answer to a superuser."""
    first = {(route.path.split("/")[0], got["root"]): route for route, got in reversed(looked_at().items())}
    return list(first.values())


@pytest.mark.parametrize("chosen", [few_looked_at, looked_at], ids=["few", "every"])
def test_head_is_answered_with_the_status_of_get(world: World, chosen: Callable[[], Iterable[Route]]) -> None:
    """A monitor or the preview of a link asks with HEAD, and takes anything but the page's own status for a fault."""
    answers = {(role, route): asked(world, role, route) for route in chosen() for role in HEAD_ROLES}
    assert answers == {(role, route): rows()[route][role] for role, route in answers}
    assert len(answers) >= 40


HEAD_ROLES = ("anon", "root")
# What a GET begins or spends, a sign-in elsewhere and the code that comes back from it; and Django's own page, which sends on who is
# signed in for a GET alone.
NO_LOOK = {
    "sign-in/with/<provider_id>/",
    "sign-in/with/<provider_id>/callback/",
    "admin/mcp-services/callback/",
    "admin/login/",
}


def asked(world: World, role: str, route: Route) -> int:
    with transaction.atomic():
        answer = world.send(world.clients[role], Route("head", route.path))
        transaction.set_rollback(True)
    return answer.status_code


def test_in_the_administration_missing_and_forbidden_are_the_same_bytes_by_the_same_statements(world: World) -> None:
    """Places that somebody who may enter the administration does not manage."""
    named = {"place_id", "base_id"}
    chosen = [route for route in rows() if route.path.startswith("admin/rights/") and named & set(route.names)]
    assert {compared(world, "staff", route, named) for route in chosen} == {404}
    assert len(chosen) >= 4


def test_the_table_turns_red_when_the_guard_is_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in (KnowledgeBase, Folder, Document, DocumentVersion, Chunk, SourceItem):
        monkeypatch.setattr(model, "reach", classmethod(lambda cls, principal, right: Q(Value(True))))
    guarded = [route for route in few() if route.path.startswith(PLACES) and not route.path.startswith(OTHERWISE)]
    assert len(guarded) >= 10
    for route in guarded:
        with transaction.atomic():
            assert world.send(world.clients["none"], route).status_code != 404, route
            transaction.set_rollback(True)


@pytest.mark.parametrize("chosen", [few, with_an_id], ids=["few", "every"])
def test_a_right_without_view_opens_nothing(world: World, chosen: Callable[[], Iterable[Route]]) -> None:
    allow(world.people["none"], world.folder, *(right for right in Right if right is not Right.VIEW))
    for route in chosen():
        if not route.path.startswith("admin/"):
            assert world.send(world.clients["none"], route).status_code == 404, route


# The trash asks for rights on the places where documents were, verified answers for those of all they stand on: tests of their own.
OTHERWISE = ("library/trash/", "library/verified/")
# Addresses of bases, folders, documents and passages: what rights on places open.
PLACES = (
    "library/", "documents/", "sources/", "api/v1/knowledge-bases/", "api/v1/folders/", "api/v1/documents/",
)  # fmt: skip


@pytest.mark.urls("tests.integration.routes.extra")
def test_an_address_that_answers_missing_and_forbidden_differently_is_caught(world: World) -> None:
    route = Route("get", "backdoor/<document_id>/")
    forbidden, by = answer_to(world, "none", route, {})
    absent, by_then = answer_to(world, "none", route, {"document_id": uuid4()})
    assert forbidden != absent
    assert by != by_then


def test_every_task_stands_in_the_table_and_takes_ids_only() -> None:
    celery_app.loader.import_default_modules()
    ours = {name: task for name, task in celery_app.tasks.items() if not name.startswith("celery.")}
    listed = {text.split()[1] for text in written().splitlines() if text.startswith("TASK")}
    assert set(ours) == listed, "a task acts for nobody: say in the table what it is handed"
    for name, task in ours.items():
        kinds = set(task.run.__annotations__.values()) - {None, type(None)}
        assert kinds <= {str, int}, f"{name} takes more than ids"
    assert list(celery_app.conf.accept_content) == ["json"], "a message must not be code"


# Whoever is shown the text of a document has an entry of it in the audit log.
OF_THE_TEXT = "desired pods"  # stands in the document and in the answer that quotes it; in no question and in no title
CHUNKS = Route("get", "api/v1/documents/<pk>/chunks")
MESSAGE = Route("get", "chat/<session_id>/messages/<message_id>/")
STREAM = Route("get", "api/v1/sessions/continue-stream/<session_id>")


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def words(body: bytes) -> str:
    """Return the text of a page or an API response, without markup and with single spaces."""
    parser = _Words()
    parser.feed(body.decode(errors="replace"))
    return " ".join("".join(parser.said).split())


@pytest.mark.parametrize(("role", "below"), [("view", 300), ("view", 600), ("root", 600)])
def test_whoever_is_shown_text_has_an_entry(world: World, role: str, below: int) -> None:
    """And a line on the auditor's page "Who was shown this", which is made of such entries."""
    Citation.objects.update(evidence_id=f"doc:{world.document.pk}:chunk_0000:0a1b2c3d")  # as an answer stores it
    shown = set()
    for route in (route for route, got in rows().items() if got[role] < below):
        with transaction.atomic():
            before = Entry.objects.count()
            answer: Any = world.send(world.clients[role], route)
            if OF_THE_TEXT in words(world.body_of(answer)):
                shown.add(route)
                made = list(Entry.objects.order_by("id").values_list("pk", flat=True)[before:])
                lines = Shown.objects.filter(entry_id__in=made).exclude(how=How.READ)
                assert lines.exists(), f"{route}: {role} read it, unrecorded"
            transaction.set_rollback(True)
    assert role == "root" or shown >= {CHUNKS, MESSAGE, STREAM}


def test_passages_that_are_listed_are_named_in_one_entry(world: World) -> None:
    answer: Any = world.send(world.clients["view"], CHUNKS)
    entry = Entry.objects.filter(action=Action.DOCUMENT_OPENED, target_id=str(world.document.pk)).get()
    assert entry.detail == {"version": 1, "chunks": [row["id"] for row in answer.json()["results"]]}
    assert entry.detail["chunks"]
    world.send(world.clients["view"], CHUNKS, f"{world.address(CHUNKS)}?offset=1000")
    assert Entry.objects.filter(action=Action.DOCUMENT_OPENED).count() == 1, "nothing was shown"


@pytest.mark.parametrize("route", [MESSAGE, STREAM])
def test_an_answer_that_is_read_again_is_recorded_with_its_evidence(world: World, route: Route) -> None:
    world.send(world.clients["view"], route)
    entry = Entry.objects.filter(action=Action.CONVERSATION_READ).get()
    assert (entry.actor_id, entry.target_id) == (world.reader.pk, str(world.session.pk))
    assert entry.detail == {"evidence": ["e1"]}
