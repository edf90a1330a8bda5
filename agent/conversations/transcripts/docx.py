"""A conversation as a Word document."""

from io import BytesIO
from typing import Any

from django.utils.translation import gettext as _

from agent.conversations.transcripts.transcript import (
    ConversationTranscript,
    TranscriptTable,
    strip_forbidden_characters,
)

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def render_docx(transcript: ConversationTranscript) -> bytes:
    from docx import Document  # 20 MB that most processes never need

    document = Document()
    document.core_properties.title = strip_forbidden_characters(transcript.title)[:255]
    document.core_properties.author = ""
    document.add_heading(strip_forbidden_characters(transcript.title), 0)
    document.add_paragraph().add_run(transcript.made).italic = True
    for turn in transcript.turns:
        document.add_heading(strip_forbidden_characters(turn.question) or _("Question"), 1)
        for paragraph in turn.paragraphs:
            line = document.add_paragraph()
            for span in paragraph:
                line.add_run(strip_forbidden_characters(span.text))
                for number in span.notes:
                    line.add_run(f"[{number}]").font.superscript = True
                line.add_run(" ")
        for table in turn.tables:
            _add_table(document, table)
        for remark in turn.remarks:
            document.add_paragraph().add_run(strip_forbidden_characters(remark)).italic = True
    if transcript.footnotes:
        document.add_heading(_("Sources"), 1)
        for note in transcript.footnotes:
            document.add_paragraph(strip_forbidden_characters(f"[{note.number}] {note.text} {note.address}".strip()))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _add_table(document: Any, table: TranscriptTable) -> None:
    grid = document.add_table(rows=1, cols=max(1, len(table.header)), style="Light Grid")
    for cell, text in zip(grid.rows[0].cells, table.header, strict=False):
        cell.text = strip_forbidden_characters(text)
    for row in table.rows:
        for cell, text in zip(grid.add_row().cells, row, strict=False):
            cell.text = strip_forbidden_characters(text)
