"""The evaluation commands on a small set whose right numbers are known."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import Grant, denials_on, give, grants_on
from evals.corpus import hidden, load_corpus, load_dataset
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.retrieval.search import Scope, search
from tests.factories import make_user, prepare_embedder

pytestmark = pytest.mark.django_db

CORPUS = [
    {"id": "leave", "lang": "en", "title": "Leave", "text": "Employees have thirty days of annual leave."},
    {"id": "travel", "lang": "en", "title": "Travel", "text": "Flights are booked in economy class by the office."},
    {"id": "假期", "lang": "zh", "title": "假期", "text": "员工每年有三十天年假。"},
    {"id": "empty", "lang": "en", "title": "Empty", "text": ""},
]
QUERIES: list[dict[str, Any]] = [
    {
        "id": "q1",
        "lang": "en",
        "kind": "fact",
        "text": "How many days of annual leave do employees have?",
        "answers": ["thirty"],
    },
    {"id": "q2", "lang": "en", "kind": "fact", "text": "In which class are flights booked?", "answers": ["economy"]},
    {"id": "q3", "lang": "zh", "kind": "fact", "text": "员工每年有几天年假？", "answers": ["三十天"]},
    {"id": "q4", "lang": "en", "kind": "fact", "text": "Who founded Rome?", "answers": [], "answerable": False},
]
QRELS = [("q1", "leave"), ("q1", "假期"), ("q2", "travel"), ("q3", "假期")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in CORPUS))
    (folder / "queries.dev.jsonl").write_text("\n".join(json.dumps(row) for row in QUERIES))
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{document}\t1" for query, document in QRELS)]
    (folder / "qrels.dev.tsv").write_text("\n".join(lines) + "\n")
    prepare_embedder()
    make_user("eva")
    return folder


def report(command: str, folder: Path, *words: str) -> dict[str, Any]:
    out = folder / "report.json"
    call_command(command, str(folder), "--as", "eva", "--json", str(out), *words)
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_retrieval_is_reported_stage_by_stage_within_the_language_searched(folder: Path) -> None:
    found = report("evaluate_retrieval", folder)
    assert (found["dataset"], found["split"], found["queries"]) == ("tiny", "dev", 3)
    assert list(found["stages"]) == ["dense", "lexical", "fused", "reranked"]
    perfect = {"recall_at_1": 1, "recall_at_5": 1, "recall_at_10": 1, "precision_at_5": 0.2, "precision_at_10": 0.1}
    perfect |= {"map_at_10": 1, "mrr_at_10": 1, "ndcg_at_10": 1}
    assert found["stages"]["reranked"] == {
        "all": perfect,
        "groups": {"en/fact": {"n": 2, **perfect}, "zh/fact": {"n": 1, **perfect}},
    }
    assert 0 < found["latency_ms"]["p50"] <= found["latency_ms"]["p95"]
    assert report("evaluate_retrieval", folder, "--every", "3")["queries"] == 1, "q1 and q4, which has no answer"
    assert Document.unscoped.count() == 3, "all but the empty one, once"
    assert [base.name for base in KnowledgeBase.unscoped.all()] == ["evaluation tiny"]
    with pytest.raises(CommandError, match="a whole number from 1"):
        report("evaluate_retrieval", folder, "--every", "0")


def test_answers_are_reported_and_nothing_is_left_of_what_was_hidden(folder: Path) -> None:
    found = report("evaluate_answers", folder)
    assert found["queries"] == 3, "what nothing answers is not asked"
    for name in ("document_first", "passage_first", "highlighted_first"):
        assert found[name] == 1, name
    found = report("evaluate_answers", folder, "--hide-relevant")
    assert (found["queries"], found["document_in_three"], found["passage_in_three"]) == (3, 0, 0)
    assert [grants_on(base) for base in KnowledgeBase.unscoped.all()] == [[Grant("eva", False, Right.VIEW)]]
    folders = Folder.unscoped.all()
    assert [(grants_on(row), denials_on(row)) for row in folders] == [([], [])] * folders.count()


def test_what_is_hidden_is_not_found_whoever_granted_it(folder: Path) -> None:
    report("evaluate_retrieval", folder)
    staff = Group.objects.create(name="staff")
    User.objects.get(username="eva").groups.add(staff)
    give(None, [Right.VIEW], KnowledgeBase.unscoped.get(), to=staff)
    reader = Principal.named("eva")
    corpus = load_corpus(load_dataset(folder), reader, name="evaluation tiny")

    def found() -> set[str]:
        hits = search(reader, "annual leave and flights", scope=Scope(language="en")).hits
        return {corpus.external_ids[hit.passage.document_id] for hit in hits}

    assert found() == {"leave", "travel"}
    with hidden(corpus, reader, ["leave"]):
        assert found() == {"travel"}
    assert found() == {"leave", "travel"}


def test_a_line_that_is_no_json_is_named_and_nothing_is_imported(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text(json.dumps(CORPUS[0]) + "\n{broken\n")
    with pytest.raises(CommandError, match=r"corpus\.jsonl, line 2: Invalid JSON"):
        report("evaluate_retrieval", folder)
    assert not KnowledgeBase.unscoped.exists()
