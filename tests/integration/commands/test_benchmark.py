"""`manage.py benchmark`: numbers beside a peer's and the machine, nothing left behind, and one sentence for a wrong word."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from audit.models import Entry
from authz.permissions import Right
from knowledge.models import KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = {
    "leave": "# Annual leave\n\nEmployees have thirty days of annual leave.",
    "travel": "# Flights\n\nFlights are booked in economy class by the office.",
    "security": "# Passwords\n\nA password has at least twelve characters.",
}


@pytest.fixture
def base() -> KnowledgeBase:
    base = make_base("Handbook")
    for name, text in PAGES.items():
        make_document(make_folder(base, name), f"{name}.md", text, ingested=True)
    allow(make_user("anna"), base)
    return base


@pytest.mark.usefixtures("base")
def test_a_search_is_measured_beside_plain_pgvector_and_leaves_nothing(tmp_path: Path) -> None:
    people, entries = User.objects.count(), Entry.objects.count()
    report, out = tmp_path / "search.json", StringIO()
    words = ["--kb", "Handbook", "--as", "anna", "--questions", "2", "--json", str(report)]
    call_command("benchmark", "search", *words, stdout=out)
    found = json.loads(report.read_text())
    assert {"processor", "cores", "memory_gb", "busy"} <= found["machine"].keys()
    rows = {row["name"]: row for row in found["rows"]}
    for who in ("all", "1%"):
        for number in ("p50", "p95"):
            assert rows[f"sees {who}, {number}"]["ours"] > 0
            assert rows[f"sees {who}, {number}"]["peer"] > 0
    assert rows["disk of 10,000 passages"]["ours"] > rows["disk of 10,000 passages"]["peer"] > 0
    facts = found["facts"]
    assert (facts["passages seen by who sees all"], facts["passages seen by who sees 1%"]) == (3, 1)
    assert facts["questions with 3 results, sees all"] == facts["questions with 1 results, sees 1%"] == "7 of 7"
    assert "ours/peer" in out.getvalue()
    assert found["peer"] in out.getvalue()

    assert (User.objects.count(), Entry.objects.count()) == (people, entries)


def test_a_wrong_word_is_one_sentence_and_makes_nothing() -> None:
    anna = make_user("anna")
    for name in ("Handbook", "Empty"):
        allow(anna, make_base(name), *Right)
    for words, said in (
        (["search", "--kb", "Nowhere", "--as", "anna"], "There is no knowledge base “Nowhere” that anna may see"),
        (["search", "--kb", "Empty", "--as", "anna"], "has no passages that you may see"),
        (["sorting"], "invalid choice: 'sorting'"),
    ):
        with pytest.raises(CommandError, match=said) as refused:
            call_command("benchmark", *words)
        assert "\n" not in str(refused.value)
    assert KnowledgeBase.unscoped.count() == 2
