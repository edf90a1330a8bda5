"""The ways to hide a sentence on a page of a PDF."""

from collections.abc import Callable, Iterator
from io import BytesIO

from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsers.hidden import HiddenReason as Why
from tests.hidden_samples import Sample


def invisible(canvas: Canvas, text: str) -> None:
    canvas.saveState()
    lines = canvas.beginText(50, 500)
    lines.setTextRenderMode(3)
    lines.textLine(text)
    canvas.drawText(lines)
    canvas.restoreState()


def _white_ink(canvas: Canvas, text: str) -> None:
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(50, 500, text)


def _black_box(canvas: Canvas, text: str) -> None:
    canvas.rect(40, 480, 400, 50, fill=1)
    canvas.drawString(50, 500, text)


def _beside_the_page(canvas: Canvas, text: str) -> None:
    canvas.drawString(700, 500, text)


def _beside_the_crop_box(canvas: Canvas, text: str) -> None:
    canvas.setCropBox((0, 300, 600, 800))
    canvas.drawString(50, 100, text)


def _no_opacity(canvas: Canvas, text: str) -> None:
    canvas.setFillAlpha(0)
    canvas.drawString(50, 500, text)


def _one_point(canvas: Canvas, text: str) -> None:
    canvas.setFont("STSong-Light", 0.8)
    canvas.drawString(50, 500, text)


def _over_a_logo(canvas: Canvas, text: str) -> None:
    canvas.drawImage(ImageReader(Image.new("RGB", (90, 9), "gray")), 40, 480, 400, 50)
    invisible(canvas, text)


def _cut_off(canvas: Canvas, text: str) -> None:
    canvas.saveState()
    hole = canvas.beginPath()
    hole.rect(300, 10, 5, 5)
    canvas.clipPath(hole, stroke=0, fill=0)
    canvas.drawString(50, 500, text)
    canvas.restoreState()


def _squeezed(canvas: Canvas, text: str) -> None:
    canvas.saveState()
    canvas.translate(50, 500)
    canvas.scale(0.01, 1)
    canvas.drawString(0, 0, text)
    canvas.restoreState()


def _faint(canvas: Canvas, text: str) -> None:
    canvas.setFillAlpha(0.07)
    canvas.drawString(50, 500, text)


def _in_a_clear_form(canvas: Canvas, text: str) -> None:
    canvas.beginForm("clear")
    canvas.setFont("STSong-Light", 12)
    canvas.drawString(50, 500, text)
    canvas.endForm()
    canvas.setFillAlpha(0)
    canvas.doForm("clear")


def _in_a_small_form(canvas: Canvas, text: str) -> None:
    canvas.beginForm("small", 0, 0, 5, 5)
    canvas.setFont("STSong-Light", 12)
    canvas.drawString(50, 500, text)
    canvas.endForm()
    canvas.doForm("small")


def _after_a_dark_spot(canvas: Canvas, text: str) -> None:
    canvas.rect(45, 495, 12, 20, fill=1)
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(50, 500, f"I {text}")


def pdf(draw: Callable[[Canvas], None]) -> bytes:
    """One page of 600 × 800 points."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    file = BytesIO()
    canvas = Canvas(file, pagesize=(600, 800))
    canvas.setFont("STSong-Light", 12)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def pdfs(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for hide, why in (
        (invisible, Why.INVISIBLE),
        (_white_ink, Why.COLOUR),
        (_black_box, Why.COLOUR),
        (_beside_the_page, Why.OUTSIDE),
        (_beside_the_crop_box, Why.OUTSIDE),
        (_no_opacity, Why.INVISIBLE),
        (_one_point, Why.TOO_SMALL),
        (_over_a_logo, Why.INVISIBLE),
        (_cut_off, Why.OUTSIDE),
        (_squeezed, Why.TOO_SMALL),
        (_faint, Why.COLOUR),
        (_in_a_clear_form, Why.INVISIBLE),
        (_in_a_small_form, Why.OUTSIDE),
        (_after_a_dark_spot, Why.COLOUR),
    ):

        def draw(canvas: Canvas, hide: Callable[[Canvas, str], None] = hide) -> None:
            canvas.drawString(50, 700, seen)
            hide(canvas, unseen)

        name = hide.__name__.removeprefix("_")
        yield Sample(f"pdf_{name}", language, "a.pdf", pdf(draw), why)
