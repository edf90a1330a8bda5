"""`manage.py benchmark forbidden` and `rights`: they measure, and leave nothing behind."""

import json
import random
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from audit.models import Entry
from evals.forbidden_benchmark import ROUTES, Pairs
from knowledge.models import KnowledgeBase


@pytest.mark.django_db(transaction=True)
def test_every_address_is_measured_beside_one_that_is_not_there(tmp_path: Path) -> None:
    before = (User.objects.count(), Entry.objects.count(), KnowledgeBase.unscoped.count())
    report, out = tmp_path / "forbidden.json", StringIO()
    call_command("benchmark", "forbidden", "--pairs", "2", "--json", str(report), stdout=out)
    found = json.loads(report.read_text())
    rows = {row["name"]: row for row in found["rows"]}
    for name in ROUTES:
        assert min(rows[f"{name}, p50"]["ours"], rows[f"{name}, p50"]["peer"]) > 0
        assert (
            rows[f"{name}, difference, not below"]["ours"]
            <= rows[f"{name}, difference, median"]["ours"]
            <= rows[f"{name}, difference, not above"]["ours"]
        )
    assert {"told apart by a clock", "control told apart"} <= found["facts"].keys()
    assert "told apart by a clock" in out.getvalue()
    assert (User.objects.count(), Entry.objects.count(), KnowledgeBase.unscoped.count()) == before


@pytest.mark.parametrize(("shift", "is_apart"), [(0.0, False), (0.5, True)])
def test_an_interval_leaves_out_zero_only_where_there_is_a_difference(shift: float, *, is_apart: bool) -> None:
    """Times as they are: most are short, some are very long; the same in each run."""
    chance = random.Random(7)
    ours, missing = ([chance.expovariate(1.0) + chance.choice([0, 0, 0, 30]) for _pair in range(400)] for _side in "ab")
    middle, low, high = Pairs([took + shift for took in ours], missing).interval(0.995)
    assert low <= middle <= high
    assert (not low <= 0 <= high) == is_apart


@pytest.mark.django_db(transaction=True)
def test_visible_folders_are_measured_beside_a_statement_without_rights(tmp_path: Path) -> None:
    before = (User.objects.count(), KnowledgeBase.unscoped.count())
    report = tmp_path / "rights.json"
    words = ["--folders", "120", "--groups", "3", "--runs", "2", "--json", str(report)]
    call_command("benchmark", "rights", *words, stdout=StringIO())
    found = json.loads(report.read_text())
    rows = {row["name"]: row for row in found["rows"]}
    assert min(rows["visible folders, p50"]["ours"], rows["visible folders, p50"]["peer"]) > 0
    assert rows["visible folders before 499, p95"]["ours"] > 0
    assert 0 <= found["facts"]["visible folders before 499"] <= found["facts"]["visible folders"] < 120
    assert (User.objects.count(), KnowledgeBase.unscoped.count()) == before
