"""The evaluation commands on a small set whose right numbers are known."""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import Grant, grant_rights, list_denials, list_grants
from evals.corpus import hidden, load_corpus, load_dataset
from evals.management.commands.evaluate_parsing import Score, expected_of, ours
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.parsers.base import load_parsers
from knowledge.retrieval.search import Scope, search
from tests.factories import allow, make_base, make_document, make_user, prepare_embedder
from tests.random_tables import make_tables

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
    assert [list_grants(base) for base in KnowledgeBase.unscoped.all()] == [[Grant("eva", False, Right.VIEW)]]
    folders = Folder.unscoped.all()
    assert [(list_grants(row), list_denials(row)) for row in folders] == [([], [])] * folders.count()


def test_what_is_hidden_is_not_found_whoever_granted_it(folder: Path) -> None:
    report("evaluate_retrieval", folder)
    staff = Group.objects.create(name="staff")
    User.objects.get(username="eva").groups.add(staff)
    grant_rights(None, [Right.VIEW], KnowledgeBase.unscoped.get(), to=staff)
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


# --- `evaluate_intents`, `evaluate_graph` and `evaluate_claims` on files of a few lines whose right counts are
# known ---
LEAVE = "# Annual leave\n\nEmployees have thirty days of annual leave in each calendar year."
TRAVEL = "# Flights\n\nFlights are booked in economy class by the office."
CLAIM = {
    "id": "c1", "kind": "document", "lang": "en", "question": "How many days of leave?",
    "evidence": ["Employees have thirty days of annual leave."],
}  # fmt: skip


def measured(command: str, folder: Path, rows: list[dict[str, Any]], *words: str) -> tuple[dict[str, Any], str]:
    file, report, out = folder / "rows.jsonl", folder / "report.json", StringIO()
    file.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    call_command(command, str(file), *words, "--json", str(report), stdout=out)
    found: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return found, out.getvalue()


def make_reader() -> None:
    base = make_base("Handbook")
    for name, text in (("leave.md", LEAVE), ("travel.md", TRAVEL)):
        make_document(base, name, text, ingested=True)
    allow(make_user("eva"), base)


def test_intents_are_counted_by_way_and_language(tmp_path: Path) -> None:
    make_reader()
    rows = [
        {"id": "1", "lang": "en", "as": "eva", "ask": "Hello!", "way": "smalltalk"},
        {"id": "2", "lang": "en", "as": "eva", "ask": "Hello there!", "way": "document"},
    ]
    found, printed = measured("evaluate_intents", tmp_path, rows)
    assert (found["n"], found["way_right"], found["right"]) == (2, 1, 1)
    assert list(found["groups"]) == ["document/en", "smalltalk/en"]
    assert "2: Hello there! → smalltalk (document), declined" in printed


def test_questions_over_two_documents_are_asked_with_and_without_the_graph(tmp_path: Path) -> None:
    make_reader()
    rows = [{"id": "1", "query": "annual leave and flights", "documents": ["leave.md", "travel.md"]}]
    found, printed = measured("evaluate_graph", tmp_path, rows, "--as", "eva")
    assert found["search"]["both"] == 1.0
    assert {"both", "recall", "ms_p50", "answered_by_graph"} <= found["graph"].keys()
    assert "1 questions, first 8 passages" in printed


def test_claims_are_judged_as_people_did_where_the_judge_is_scripted(tmp_path: Path) -> None:
    rows = [
        CLAIM | {"sentence": "There are thirty days of annual leave.", "supported": True},
        CLAIM | {"id": "c2", "sentence": "There are forty days of annual leave.", "supported": False},
    ]
    found, printed = measured("evaluate_claims", tmp_path, rows, "--judge", "scripted")
    assert found["right"] == {"n": 1, "kept": 1, "marked": 0, "dropped": 0}
    assert found["wrong"] == {"n": 1, "kept": 0, "marked": 0, "dropped": 1}
    assert printed.splitlines()[-1].startswith("all ")


def test_a_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"rows\.jsonl, line 1: lang: Field required"):
        measured("evaluate_intents", tmp_path, [{"id": "1"}])


# --- `evaluate_parsing`: the figures of a case made by hand, of a wrong reference, and of tables made at random ---

PAGE = """<h1>Curing</h1><p>Cure for 1½ hours at 10<sup>12</sup> ohm, then pay €1,234.50 or 7.5%.</p>
<table><thead><tr><th rowspan=2>Ramp</th><th colspan=2>Load</th></tr><tr><th>static</th><th>moving</th></tr></thead>
<tr><td>LB-1</td><td>9 t</td><td>6 t</td></tr></table>"""
TEXT = """# Curing

Cure for 1½ hours at 10¹² ohm, then pay €1,234.50 or 7.5%.

| Ramp | Load › static | Load › moving |
| --- | --- | --- |
| LB-1 | 9 t | 6 t |
"""
EXPECTED: list[dict[str, Any]] = [
    {"source": "curing.html", "cell": "9 t", "row": ["LB-1"], "column": ["Load", "static"]},
    {"source": "curing.html", "cell": "6 t", "row": ["LB-1"], "column": ["Load", "moving"]},
    {"source": "curing.html", "part": "formulas", "text": "=B2*2"},
]
BEST = {"numbers_unchanged": 1.0, "headers_right": 1.0, "token_f1": 1.0, "unreported_losses": 1, "files": 1}


def made(folder: Path, text: str = TEXT, expected: list[dict[str, Any]] = EXPECTED) -> Path:
    (folder / "curing.html").write_text(PAGE, "utf-8")
    (folder / "curing.md").write_text(text, "utf-8")
    (folder / "pairs.json").write_text(json.dumps([{"source": "curing.html", "groundtruth": "curing.md"}]))
    (folder / "expected.json").write_text(json.dumps(expected))
    return folder


def figures(folder: Path) -> dict[str, Any]:
    """Ours alone."""
    load_parsers()
    score = Score()
    for source, known in expected_of(folder).items():
        score.add(known, ours(folder / source))
    return score.figures


@pytest.mark.needs("markitdown")
def test_a_case_made_by_hand_beside_the_peer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("evaluate_parsing", str(made(tmp_path)), "--json", str(tmp_path / "out.json"))
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["ours"] == BEST
    assert list(found) == ["ours", "markitdown"]
    assert all(set(item) == set(BEST) for item in found.values())
    assert found["markitdown"]["headers_right"] == 0.0, "Markdown has one row of names"
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["numbers_unchanged", *found]


def test_what_is_wrong_lowers_the_figure_that_says_so(tmp_path: Path) -> None:
    assert figures(made(tmp_path)) == BEST
    assert figures(made(tmp_path, TEXT.replace("1½", "1¼")))["numbers_unchanged"] == round(8 / 9, 4)
    other = [dict(EXPECTED[0], column=["Load", "moving"]), dict(EXPECTED[1], row=["LB-2"])]
    assert figures(made(tmp_path, expected=other)) == BEST | {"headers_right": 0.0, "unreported_losses": 0}
    assert figures(made(tmp_path, TEXT.replace("hours", "days")))["token_f1"] < 1


def test_tables_made_at_random_are_the_same_again_and_read_as_they_are(tmp_path: Path) -> None:
    first, again = (tmp_path / name for name in ("first", "again"))
    for folder in (first, again):
        folder.mkdir()
        (folder / "expected.json").write_text(json.dumps(make_tables(folder, seed=7, count=8)))
    assert (first / "expected.json").read_text() == (again / "expected.json").read_text()
    found = figures(first)
    assert found["numbers_unchanged"] == 1.0
    assert found["headers_right"] >= 0.98
    assert found["unreported_losses"] == 0


def test_what_it_lacks_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="holds neither pairs"):
        call_command("evaluate_parsing", str(tmp_path))
    (tmp_path / "expected.json").write_text(json.dumps(EXPECTED))
    with pytest.raises(CommandError, match="has no file curing"):
        call_command("evaluate_parsing", str(tmp_path))
    (tmp_path / "curing.html").write_text(PAGE)
    monkeypatch.setitem(sys.modules, "markitdown", None)
    with pytest.raises(CommandError, match="markitdown is not installed; pip install -r requirements"):
        call_command("evaluate_parsing", str(tmp_path))
