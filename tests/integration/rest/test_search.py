"""`POST /api/v1/knowledge-search`: passages with how they came to their place, out of what the caller may read."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from audit.actions import Action
from audit.models import Entry
from authz.models import PermissionSnapshot
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.retrieval import engine as engine_module
from knowledge.services.folders import find_root_folder
from tests.factories import PASSAGE, allow, make_base, make_document, make_folder, make_user
from tests.integration.rest.world import Answer, signed_in
from tests.sharing import share_world

pytestmark = pytest.mark.django_db

TRAVEL = "# Travel\n\nTaxis are refunded up to 300 yuan a day; keep the receipt."
PAY = "# Pay\n\nThe bonus of a department head is two monthly salaries."


class Shelf:
    """HR holds `pay.md`; Ops, beside it, holds `update.md` and, in Trips below it, `travel.md`. The reader may read Ops."""

    def __init__(self) -> None:
        self.base = make_base()
        self.hr, self.ops = make_folder(self.base, "HR"), make_folder(self.base, "Ops")
        self.trips = make_folder(self.ops, "Trips")
        self.pay = make_document(self.hr, "pay.md", PAY, ingested=True)
        self.update = make_document(self.ops, "update.md", PASSAGE, language="zh", ingested=True)
        self.travel = make_document(self.trips, "travel.md", TRAVEL, language="en", ingested=True)
        self.reader = make_user("reader")
        allow(self.reader, self.ops)

    def search(self, query: str = "bonus of a department head", **more: Any) -> Answer:
        return signed_in(self.reader).post("/api/v1/knowledge-search", {"query": query, **more}, format="json")

    def found(self, **more: Any) -> set[str]:
        answer = self.search(**more)
        assert answer.status_code == 200, answer.content
        return {hit["filename"] for hit in answer.json()["hits"]}


shared_shelf, shelf = share_world("shelf", Shelf)


def test_only_what_the_reader_may_read_at_that_moment_is_found(shelf: Shelf) -> None:
    assert shelf.found() == {"update.md", "travel.md"}
    allow(shelf.reader, shelf.hr)
    assert shelf.found() == {"update.md", "travel.md", "pay.md"}
    assert len(shelf.search(top_k=1).json()["hits"]) == 1
    revoke_rights(None, [Right.VIEW], shelf.ops, of=shelf.reader)
    assert shelf.found() == {"pay.md"}
    revoke_rights(None, [Right.VIEW], shelf.hr, of=shelf.reader)
    assert shelf.search().json() == {"hits": [], "visible": 0}


def test_a_hidden_folder_above_narrows_like_one_that_is_not_there(shelf: Shelf) -> None:
    above = find_root_folder(shelf.base).pk
    absent = shelf.search(folder_ids=[str(uuid4())]).json()
    assert shelf.search(folder_ids=[str(above)]).json() == absent == {"hits": [], "visible": 0}
    assert shelf.found(folder_ids=[str(above), str(shelf.trips.pk)]) == {"travel.md"}
    allow(shelf.reader, find_root_folder(shelf.base))
    assert shelf.found(folder_ids=[str(above)]) == {"update.md", "travel.md", "pay.md"}


def test_the_best_passage_comes_first_and_explains_itself(shelf: Shelf) -> None:
    body = shelf.search("How much of a taxi is refunded?").json()
    first = body["hits"][0]
    assert (first["knowledge_id"], first["title"], first["language"]) == (str(shelf.travel.pk), "Travel", "en")
    assert "300 yuan" in first["content"]
    assert body["visible"] == 2
    assert first["score"] == max(hit["score"] for hit in body["hits"])
    assert {"dense", "lexical", "fused", "rerank"} | {f"{n}_rank" for n in ("dense", "lexical", "fused", "rerank")} == (
        set(first["scores"])
    )
    assert first["scores"]["dense_rank"] == first["scores"]["fused_rank"] == 1
    assert sorted(hit["scores"]["fused_rank"] for hit in body["hits"]) == [1, 2]


def test_a_forbidden_scope_finds_what_a_missing_one_finds(shelf: Shelf) -> None:
    for field, forbidden in (
        ("folder_ids", shelf.hr.pk),
        ("knowledge_ids", shelf.pay.pk),
        ("knowledge_base_ids", make_base().pk),
    ):
        scopes: list[dict[str, Any]] = [{field: [str(pk)]} for pk in (forbidden, uuid4())]
        answers = [shelf.search(**scope) for scope in scopes]
        assert answers[0].content == answers[1].content
        assert answers[0].json()["hits"] == []


def test_a_search_is_recorded_without_its_words(shelf: Shelf) -> None:
    hits = shelf.search("bonus").json()["hits"]
    entry = Entry.objects.get(action=Action.SEARCHED)
    assert PermissionSnapshot.objects.get(pk=entry.detail["perm_snapshot_id"]).user_id == entry.actor_id
    assert (entry.actor_name, entry.detail["characters"]) == ("reader", 5)
    assert entry.detail["chunks"] == [hit["chunk_id"] for hit in hits]
    assert "bonus" not in str(vars(entry))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"query": ["x"]}, "query: "),
    ({"query": "\u200b"}, "The question is empty"),
    ({"query": "字" * 20_000}, "at most 4000 characters; this one has 20000"),
    ({"top_k": 51}, "top_k: "),
    ({"language": "klingon"}, "language: "),
    ({"knowledge_base_ids": ["x"]}, "knowledge_base_ids.0: "),
    ({"folder_ids": "all"}, "folder_ids: "),
    ({"knowledge_ids": [str(uuid4()) for _ in range(101)]}, "knowledge_ids: "),
    ({"knowledge_base_id": str(uuid4())}, "knowledge_base_id: "),
]


def test_a_wrong_search_is_refused_naming_the_field(shelf: Shelf) -> None:
    for body, said in WRONG:
        answer = shelf.search(**body)
        assert (answer.status_code, said in answer.json()["detail"]) == (400, True), answer.json()


def test_a_search_without_a_working_model_says_so(shelf: Shelf, settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDER_OPTIONS = settings.EMBEDDER_OPTIONS | {"cache_dir": tmp_path}
    engine_module._load_embedder.cache_clear()
    try:
        answer = shelf.search()
    finally:
        engine_module._load_embedder.cache_clear()
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert str(tmp_path) not in answer.content.decode()
