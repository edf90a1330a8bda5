"""Writes a source as PDF with an embedded subset of one font that has Latin and Chinese glyphs.

The font is WenQuanYi Micro Hei (Debian: fonts-wqy-microhei; Apache-2.0), so that a page shows the same on a machine
without a Chinese font: the library that draws the product's page images would leave the text blank there.
"""

from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib import textsplit
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    ListFlowable,
    PageBreak,
    PageTemplate,
    Spacer,
)
from reportlab.platypus import Paragraph as Text
from reportlab.platypus import Table as Grid

from demo.build.source import Block, Heading, Items, Paragraph, SourceFile, SourceTable

FONT = "MicroHei"
INK, ACCENT, LINE, SHADE = HexColor("#1f2a30"), HexColor("#1b6f6a"), HexColor("#b7c4c6"), HexColor("#e8f1f0")
MARGIN = 22 * mm
WIDTH = A4[0] - 2 * MARGIN


def register_font(path: Path) -> None:
    """Load the font file once before the first write. Raises FileNotFoundError with the package to install."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: install Debian's fonts-wqy-microhei, or pass --font with the path of wqy-microhei.ttc"
        )
    pdfmetrics.registerFont(TTFont(FONT, str(path)))
    textsplit.ALL_CANNOT_START += "，：；！？"  # reportlab knows the other closing marks, not these
    pdfmetrics.registerFontFamily(FONT, normal=FONT, bold=FONT, italic=FONT, boldItalic=FONT)


def write_pdf(source: SourceFile, target: Path) -> None:
    """Write `source` to `target` after `register_font`. Raises ValueError for a character that the font lacks."""
    properties = source.properties
    missing = _collect_characters(source) - pdfmetrics.getFont(FONT).face.charToGlyph.keys()
    if missing:
        raise ValueError(
            f"{target.name}: the font has no glyph for {', '.join(sorted(map(chr, missing)))}; write it in other words"
        )

    def decorate(canvas: Canvas, template: BaseDocTemplate) -> None:
        canvas.setFont(FONT, 8)
        canvas.setFillColor(HexColor("#5b6b70"))
        canvas.drawString(MARGIN, 12 * mm, f"{properties.title} · {properties.version}")
        canvas.drawRightString(A4[0] - MARGIN, 12 * mm, str(template.page))

    template = BaseDocTemplate(
        str(target),
        pagesize=A4,
        invariant=1,
        title=properties.title,
        author=properties.author,
        lang=properties.language,
    )
    frame = Frame(MARGIN, 20 * mm, WIDTH, A4[1] - 40 * mm, leftPadding=0, rightPadding=0)
    template.addPageTemplates(PageTemplate(frames=[frame], onPage=decorate))
    template.build(_build_story(source))


def _collect_characters(source: SourceFile) -> set[int]:
    texts = [source.properties.title, source.properties.author, source.properties.version]
    for block in source.blocks:
        match block:
            case Heading(text=text) | Paragraph(text=text):
                texts.append(text)
            case Items(texts=items):
                texts.extend(items)
            case SourceTable(rows=rows):
                texts.extend(cell for row in rows for cell in row)
    return {ord(character) for text in texts for character in text}


def _build_story(source: SourceFile) -> list[Flowable]:
    wrap = "CJK" if source.properties.language.startswith("zh") else "LTR"
    body = ParagraphStyle("body", fontName=FONT, fontSize=10.5, leading=17, textColor=INK, spaceAfter=9, wordWrap=wrap)
    properties = source.properties
    story: list[Flowable] = [
        Text(escape(properties.title), body.clone("title", fontSize=24, leading=32, textColor=ACCENT, spaceAfter=4)),
        Text(
            escape(f"{properties.version} · {properties.date.isoformat()} · {properties.author}"),
            body.clone("byline", fontSize=9, leading=14, spaceAfter=14),
        ),
    ]
    for before, block in pairwise((None, *source.blocks)):
        drawn = _draw_block(block, body) if block is not None else []
        if isinstance(before, Heading):
            drawn = [KeepTogether([story.pop(), *drawn[:1]]), *drawn[1:]]
        elif before is not None and isinstance(block, Heading) and block.level == 1:
            story.append(PageBreak())  # a chapter starts on a page of its own
        story.extend(drawn)
    return story


def _draw_block(block: Block, body: ParagraphStyle) -> list[Flowable]:
    match block:
        case Heading(level=level, text=text):
            size = {1: 18, 2: 15, 3: 12.5}[level]
            style = body.clone(f"h{level}", fontSize=size, leading=size * 1.4, spaceBefore=12, textColor=ACCENT)
            return [Text(escape(text), style)]
        case Paragraph(text=text):
            return [Text(escape(text), body)]
        case Items(texts=texts, ordered=ordered):
            style = body.clone("item", spaceAfter=2)
            bullet = {"bulletType": "1"} if ordered else {"bulletType": "bullet", "start": "•"}
            items = [Text(escape(text), style) for text in texts]
            return [
                ListFlowable(items, bulletFontName=FONT, bulletFontSize=10.5, leftIndent=16, **bullet),
                Spacer(0, 6),
            ]
        case SourceTable(rows=rows):
            return [_build_grid(rows, body), Spacer(0, 10)]


def _build_grid(rows: tuple[tuple[str, ...], ...], body: ParagraphStyle) -> Grid:
    cell = body.clone("cell", fontSize=9.5, leading=14, spaceAfter=0)
    longest = [
        max(8, *(sum(1 if c.isascii() else 2 for c in row[column]) for row in rows)) for column in range(len(rows[0]))
    ]
    weights = [min(length, 44) for length in longest]
    widths = [WIDTH * weight / sum(weights) for weight in weights]
    commands = [
        ("GRID", (0, 0), (-1, -1), 0.6, LINE),
        ("BACKGROUND", (0, 0), (-1, 0), SHADE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ]
    return Grid([[Text(escape(text), cell) for text in row] for row in rows], widths, repeatRows=1, style=commands)
