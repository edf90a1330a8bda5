"""`evaluate_parsing`: the figures of a case made by hand, of a wrong reference, and of tables made at random."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evals.management.commands.evaluate_parsing import Score, expected_of, ours
from knowledge.parsers.base import load
from tests.random_tables import make_tables

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
    load()
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
