"""A conversation as Markdown: footnotes in the notation that GitHub, Pandoc and Obsidian read."""

from django.utils.translation import gettext as _

from agent.conversations.transcripts.transcript import (
    ConversationTranscript,
    Footnote,
    TranscriptSpan,
    TranscriptTable,
    TranscriptTurn,
)
from copilot_site.lib.text.markdown_text import escape_markdown, escape_markdown_address

MEDIA_TYPE = "text/markdown"


def render_transcript_markdown(transcript: ConversationTranscript) -> bytes:
    parts = [f"# {escape_markdown(transcript.title)}", f"*{transcript.made}*"]
    for turn in transcript.turns:
        parts += _render_turn(turn)
    if transcript.footnotes:
        parts += ["---", "\n".join(_render_footnote(note) for note in transcript.footnotes)]
    return ("\n\n".join(parts) + "\n").encode()


def _render_turn(turn: TranscriptTurn) -> list[str]:
    question = " ".join(escape_markdown(turn.question).split()) or _("Question")
    parts = [f"## {question}"]
    parts += [" ".join(_render_span(span) for span in paragraph) for paragraph in turn.paragraphs]
    parts += [_render_table(table) for table in turn.tables]
    return parts + [f"> {escape_markdown(' '.join(remark.split()))}" for remark in turn.remarks]


def _render_span(span: TranscriptSpan) -> str:
    return escape_markdown(" ".join(span.text.split())) + "".join(f"[^{number}]" for number in span.notes)


def _render_table(table: TranscriptTable) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    return "\n".join(
        f"| {' | '.join(cell if cell == '---' else escape_markdown(' '.join(cell.split())) for cell in line)} |"
        for line in lines
    )


def _render_footnote(note: Footnote) -> str:
    address = escape_markdown_address(note.address)
    return f"[^{note.number}]: {escape_markdown(' '.join(note.text.split()))}" + (f" <{address}>" if address else "")
