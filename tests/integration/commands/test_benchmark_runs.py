"""`manage.py benchmark agent`: runs with a reader each, none of whose events is lost, and nothing left but what it says."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agent.models import LanguageModel, Message, Session
from tests.factories import allow, make_base, make_document, make_user

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "# Annual leave\n\nEmployees have thirty days of annual leave in each calendar year."


def test_runs_are_measured_beside_a_bare_loop(tmp_path: Path) -> None:
    base = make_base("Handbook")
    make_document(base, "leave.md", PAGE, ingested=True)
    allow(make_user("anna"), base)
    report = tmp_path / "runs.json"
    words = ["--kb", "Handbook", "--as", "anna", "--alone", "1", "--at-once", "3", "--pause-ms", "0"]
    words += ["--steady", "2", "--steady-first-ms", "0", "--steady-pause-ms", "0", "--memory", "2"]
    call_command("benchmark", "agent", *words, "--json", str(report))
    found = json.loads(report.read_text())
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["events lost"]["ours"] == 0
    for name in (
        "alone: whole run, p50",
        "alone: processor until a question is stored, p50",
        "burst of 3 in one instant: first event, p95",
        "steady, always 3 in flight: first event, p95",
        "steady, always 3 in flight: processor a run",
        "memory after the burst",
        "memory after 2 more runs",
    ):
        assert rows[name]["ours"] > 0, name
    assert rows["alone: processor a run"]["peer"] > 0
    assert found["facts"]["steady: runs measured"] == 2
    assert sum(count for name, count in found["facts"].items() if name.startswith("ended as ")) == 1 + 3 + 5 + 2
    assert not any(model.objects.exists() for model in (Session, Message, LanguageModel))


def test_a_base_without_passages_is_one_sentence() -> None:
    allow(make_user("anna"), make_base("Empty"))
    with pytest.raises(CommandError, match="has no passages that you may see"):
        call_command("benchmark", "agent", "--kb", "Empty", "--as", "anna")
