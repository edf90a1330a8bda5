"""A conversation as PDF, in a font that every PDF reader has for Chinese and Latin letters, so that none is shipped."""

from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from django.utils.translation import gettext as _

from agent.conversations.transcripts.transcript import (
    ConversationTranscript,
    TranscriptSpan,
    TranscriptTable,
    strip_forbidden_characters,
)

MEDIA_TYPE = "application/pdf"
FONT = "STSong-Light"  # of Adobe's Asian fonts, which are named in a file and not part of it
MARGIN = 56  # points
MAX_COLUMNS = 24  # of a table: each is 20 points wide then, 12 of them its padding
INK, SOFT, LINE = "#1c2422", "#55625e", "#b9b4aa"


def render_pdf(transcript: ConversationTranscript) -> bytes:
    from reportlab.lib.pagesizes import A4  # 15 MB that most processes never need
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    pdfmetrics.registerFont(UnicodeCIDFont(FONT))
    style = _make_styles()
    story: list[Any] = [
        Paragraph(_escape_text(transcript.title), style["title"]),
        Paragraph(_escape_text(transcript.made), style["soft"]),
    ]
    for turn in transcript.turns:
        story.append(Paragraph(_escape_text(turn.question) or _("Question"), style["question"]))
        story += [Paragraph(" ".join(map(_render_span, paragraph)), style["text"]) for paragraph in turn.paragraphs]
        for table in turn.tables:
            story += _render_table(table, style["cell"], A4[0] - 2 * MARGIN)
        story += [Paragraph(_escape_text(remark), style["soft"]) for remark in turn.remarks]
    if transcript.footnotes:
        story.append(Paragraph(_("Sources"), style["question"]))
        lines = (f"[{note.number}] {note.text} {note.address}".strip() for note in transcript.footnotes)
        story += [Paragraph(_escape_text(line), style["soft"]) for line in lines]
    written = BytesIO()
    SimpleDocTemplate(
        written,
        pagesize=A4,
        margin=MARGIN,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        title=strip_forbidden_characters(transcript.title),
    ).build(story)
    return written.getvalue()


def _make_styles() -> dict[str, Any]:
    from reportlab.lib.styles import ParagraphStyle

    def style(name: str, size: int, **more: Any) -> Any:
        return ParagraphStyle(name, fontName=FONT, fontSize=size, leading=size * 1.55, wordWrap="CJK", **more)

    return {
        "title": style("title", 18, textColor=INK, spaceAfter=4),
        "question": style("question", 13, textColor=INK, spaceBefore=16, spaceAfter=6),
        "text": style("text", 10, textColor=INK, spaceAfter=6),
        "soft": style("soft", 8, textColor=SOFT, spaceAfter=3),
        "cell": style("cell", 8, textColor=INK),
    }


def _render_span(span: TranscriptSpan) -> str:
    return _escape_text(span.text) + "".join(f"<super>[{number}]</super>" for number in span.notes)


def _render_table(table: TranscriptTable, style: Any, width: float) -> list[Any]:
    """Render a table; one with too many columns as a line for each row."""
    from reportlab.platypus import Paragraph
    from reportlab.platypus import Table as Grid

    if len(table.header) > MAX_COLUMNS:
        pairs = [zip(table.header, row, strict=False) for row in table.rows]
        return [Paragraph(_escape_text("; ".join(f"{name}: {cell}" for name, cell in row)), style) for row in pairs]
    rows = [[Paragraph(_escape_text(cell), style) for cell in row] for row in (table.header, *table.rows)]
    columns = max(1, len(table.header))
    lines = [("LINEBELOW", (0, 0), (-1, -1), 0.5, LINE), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    return [Grid(rows, colWidths=[width / columns] * columns, style=lines, repeatRows=1, splitInRow=1)]


def _escape_text(words: str) -> str:
    """Escape text, so that nothing in it is markup."""
    return escape(strip_forbidden_characters(words))
