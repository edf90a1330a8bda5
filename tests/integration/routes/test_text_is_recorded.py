"""Whoever is shown the text of a document, at whichever address, has an entry of it in the audit log."""

from html.parser import HTMLParser
from typing import Any

import pytest
from django.db import transaction

from agent.models import Citation
from audit.actions import Action, How
from audit.models import Entry, Shown
from tests.integration.routes.addresses import Route
from tests.integration.routes.table import rows
from tests.integration.routes.world import World

pytestmark = pytest.mark.django_db
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
    """What a page, or an answer of the API, says: without markup, its spaces as one."""
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
