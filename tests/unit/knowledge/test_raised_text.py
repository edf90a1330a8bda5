"""A raised 6 stays apart from the 10 before it, in every format, and a fraction from the number before it."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsers.base import ParseLimits, load_parsers, parsers
from knowledge.parsers.raised import format_subscript, format_superscript
from tests.hidden_samples import saved

HTML = b"""<p>10<sup>6</sup> l of H<sub>2</sub>O, 1\xc2\xbd cups, <b>2</b>0</p>
<table><tr><th>a</th><th>b</th></tr><tr><td>10<sup><a href="#n">6</a></sup></td><td><b>2</b>0</td></tr></table>"""
MARKDOWN = "10<sup>6</sup> l of H<sub>2</sub>O, 1½ cups\n\n| a | b |\n|---|---|\n| 10<sup>6</sup> | 20 |\n\n<p>5<sup>2</sup></p>\n"
TABLE = "| a | b |\n| --- | --- |\n| 10⁶ | 20 |"


def word() -> bytes:
    document = Document()
    paragraph = document.add_paragraph("10")
    paragraph.add_run("6").font.superscript = True
    paragraph.add_run(" l of H")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run("O, 1½ cups")
    return saved(document.save)


def slides() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for text, baseline in (("10", 0), ("6", 30_000), (" l of H", 0), ("2", -25_000), ("O, 1½ cups", 0)):
        run = paragraph.add_run()
        run.text = text
        run.font._rPr.set("baseline", str(baseline))
    return saved(presentation.save)


def page() -> bytes:
    kept = BytesIO()
    canvas = Canvas(kept)
    line = canvas.beginText(50, 700)
    for text, size, rise in (
        ("10", 12, 0),
        ("6", 7, 4),
        (" l of H", 12, 0),
        ("2", 7, -2),
        ("O, 1½ cups, 10", 12, 0),
        ("6", 7, 0),
    ):
        line.setFont("Helvetica", size)
        line.setRise(rise)
        line.textOut(text)
    canvas.drawText(line)
    canvas.save()
    return kept.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "expected"),
    [
        ("html", lambda: HTML, ["10⁶ l of H₂O, 1½ cups, 20", TABLE]),
        ("markdown", MARKDOWN.encode, ["10⁶ l of H₂O, 1½ cups", TABLE, "5²"]),
        ("docx", word, ["10⁶ l of H₂O, 1½ cups"]),
        ("pptx", slides, ["- 10⁶ l of H₂O, 1½ cups"]),
        ("pdf", page, ["10⁶ l of H₂O, 1½ cups, 106"]),  # the last one only is small
    ],
)
def test_numbers_are_those_of_the_file(
    name: str, make: Callable[[], bytes], expected: list[str], tmp_path: Path
) -> None:
    load_parsers()
    file = tmp_path / name
    file.write_bytes(make())
    assert [block.text for block in parsers.get(name).parse(file, ParseLimits()).blocks] == expected


def test_what_has_no_raised_character_is_set_off() -> None:
    for text, up, down in (
        ("-6", "⁻⁶", "₋₆"),
        ("n+1", "ⁿ⁺¹", "ₙ₊₁"),
        ("k/q", "^(k/q)", "_(k/q)"),
        ("th", "th", "ₜₕ"),  # 20th
        ("[3]", "[3]", "[3]"),
        (" ", " ", " "),
    ):
        assert (format_superscript(text), format_subscript(text)) == (up, down)
