"""`evaluate_recognition`: counts what was read wrongly, and says what it cannot compare."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from reportlab.pdfgen.canvas import Canvas

from tests.scans import drawn, pdf


def typed(path: Path, *lines: str) -> Path:
    canvas = Canvas(str(path))
    canvas.setFont("Helvetica", 18)
    for place, line in enumerate(lines):
        canvas.drawString(72, 700 - 40 * place, line)
    canvas.save()
    return path


def test_it_counts_the_characters_that_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clear = typed(tmp_path / "clear.pdf", "Visitors park on level two.", "A permit costs 14 euros.")
    call_command("evaluate_recognition", str(clear), "--json", str(tmp_path / "out.json"))
    report = json.loads((tmp_path / "out.json").read_text())
    assert (report["pages"], report["characters"], report["wrong_percent"]) == (1, 43, 0.0)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["wrong_percent"] == 0.0

    call_command("evaluate_recognition", str(clear), "--noise", "255", "--json", str(tmp_path / "noisy.json"))
    assert json.loads((tmp_path / "noisy.json").read_text())["wrong_percent"] > 50, "nobody reads that"


def test_it_says_what_it_cannot_compare(tmp_path: Path) -> None:
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(pdf(drawn(["Parking"])))
    with pytest.raises(CommandError, match="has text to compare with"):
        call_command("evaluate_recognition", str(scan))
    with pytest.raises(CommandError, match="is no file"):
        call_command("evaluate_recognition", str(tmp_path / "missing.pdf"))
