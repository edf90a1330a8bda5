"""`evaluate_intents`, `evaluate_graph` and `evaluate_claims` on files of a few lines whose right counts are known."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.factories import allow, make_base, make_document, make_user

pytestmark = pytest.mark.django_db
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
