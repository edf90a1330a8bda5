"""`manage.py benchmark load`: people are counted, answered and gone afterwards, with and without a flood."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from agent.models import Message, Session
from authz.models import ApiToken
from evals import load_benchmark
from knowledge.models import Document
from tests.factories import allow, make_base, make_document, make_user

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "# Annual leave\n\nEmployees have thirty days of annual leave in each calendar year."


def measured(tmp_path: Path, *words: str) -> tuple[dict[str, dict[str, float]], dict[str, object]]:
    report = tmp_path / "load.json"
    common = ["--kb", "Handbook", "--as", "anna", "--people", "3", "--seconds", "2", "--think", "0.2"]
    call_command("benchmark", "load", *common, *words, "--json", str(report))
    found = json.loads(report.read_text())
    return {row["name"]: row for row in found["rows"]}, found["facts"]


def test_people_are_answered_beside_one_alone_and_beside_a_flood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_benchmark, "ALONE_S", 1.0)
    base = make_base("Handbook")
    make_document(base, "leave.md", PAGE, ingested=True)
    allow(make_user("anna"), base)
    people = set(User.objects.values_list("pk", flat=True))

    rows, facts = measured(tmp_path, "--uploads", "1")
    assert rows["errors"]["ours"] == 0, facts
    assert rows["questions answered"]["ours"] == rows["questions asked"]["ours"] >= 3
    assert rows["questions answered"]["peer"] >= 1
    assert rows["first event, p95"]["ours"] > 0
    assert rows["answer, p50"]["ours"] >= rows["first event, p50"]["ours"]
    assert rows["processor an answer"]["ours"] > 0
    assert rows["uploads answered"]["ours"] >= 1
    assert Document.unscoped.count() == 1, "uploads are deleted"

    rows, facts = measured(tmp_path, "--flood", "6")
    assert rows["errors"]["ours"] == 0, facts
    assert rows["questions answered"]["ours"] == rows["questions asked"]["ours"] >= 3
    assert int(str(facts["answers of the flood"])) >= 6, "each of the six was answered once at least"

    assert set(User.objects.values_list("pk", flat=True)) == people
    assert not any(model.objects.exists() for model in (Session, Message, ApiToken))
