"""`get_document_info` and `list_knowledge_chunks` over the API: as the specification has them, under the reader's rights."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from audit.actions import Action
from audit.models import Entry
from tests.factories import allow, make_base, make_document, make_user

pytestmark = pytest.mark.django_db
INFO, CHUNKS = "/api/v1/agent-tools/get_document_info", "/api/v1/agent-tools/list_knowledge_chunks"


@pytest.fixture
def reader() -> User:
    return make_user("reader")


def posted(by: User, address: str, body: Any) -> tuple[int, dict[str, Any]]:
    page = Client()
    page.force_login(by)
    answer = page.post(address, body, "application/json")
    return answer.status_code, answer.json()


def test_a_reader_reads_what_is_theirs_and_nothing_else(reader: User) -> None:
    base = make_base()
    allow(reader, base)
    mine, hidden = make_document(base, "mine.md", ingested=True), make_document(make_base(), "board.md", ingested=True)
    status, told = posted(reader, INFO, {"knowledge_ids": [str(mine.pk), str(hidden.pk), str(uuid4())]})
    assert (status, [card["knowledge_id"] for card in told["documents"]]) == (200, [str(mine.pk)])
    assert {item["error"] for item in told["errors"]} == {"there is no such document, or it is not accessible"}
    assert len(told["errors"]) == 2
    card = told["documents"][0]
    assert (card["file_name"], card["parse_status"], card["metadata"]["knowledge_base"]) == (
        "mine.md",
        "completed",
        base.name,
    )
    _status, few = posted(reader, INFO, {"knowledge_ids": [str(mine.pk)], "fields": ["title"]})
    assert set(few["documents"][0]) == {"knowledge_id", "title"}
    status, page = posted(reader, CHUNKS, {"knowledge_id": str(mine.pk), "limit": 1, "offset": 0})
    assert (status, page["total_chunks"], page["fetched_chunks"], page["page"]) == (200, card["chunk_count"], 1, 1)
    around = posted(reader, CHUNKS, {"chunk_id": page["chunks"][0]["chunk_id"], "neighbours": 1})[1]
    assert page["chunks"][0]["chunk_id"] in [chunk["chunk_id"] for chunk in around["chunks"]]
    actions = Entry.objects.filter(actor_name="reader").values_list("action", flat=True)
    assert {Action.TOOL_CALLED, Action.EVIDENCE_SHOWN} <= set(actions)
    assert posted(reader, CHUNKS, {"knowledge_id": str(hidden.pk)})[0] == 404


UNUSABLE: list[tuple[str, Any]] = [
    (INFO, {}), (INFO, {"knowledge_ids": []}), (INFO, {"knowledge_ids": ["x"] * 11}), (INFO, [1]), (INFO, "x"),
    (INFO, {"knowledge_ids": ["x"], "fields": ["password"]}), (CHUNKS, {}), (CHUNKS, {"knowledge_id": "x", "as": "root"}),
]  # fmt: skip


def test_what_cannot_be_used_is_said(reader: User) -> None:
    for address, body in UNUSABLE:
        status, problem = posted(reader, address, body)
        assert (status, bool(problem["detail"])) == (400, True), body
