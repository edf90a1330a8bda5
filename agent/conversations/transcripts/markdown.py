"""A conversation as Markdown: footnotes in the notation that GitHub, Pandoc and Obsidian read."""

from django.utils.translation import gettext as _

from agent.conversations.transcripts.transcript import Footnote, Span, Transcript, TranscriptTable, Turn
from copilot_site.lib.text.markdown_text import escaped_markdown, markdown_address

MEDIA_TYPE = "text/markdown"


def as_markdown(transcript: Transcript) -> bytes:
    parts = [f"# {escaped_markdown(transcript.title)}", f"*{transcript.made}*"]
    for turn in transcript.turns:
        parts += _turn(turn)
    if transcript.footnotes:
        parts += ["---", "\n".join(_footnote(note) for note in transcript.footnotes)]
    return ("\n\n".join(parts) + "\n").encode()


def _turn(turn: Turn) -> list[str]:
    question = " ".join(escaped_markdown(turn.question).split()) or _("Question")
    parts = [f"## {question}"]
    parts += [" ".join(_span(span) for span in paragraph) for paragraph in turn.paragraphs]
    parts += [_table(table) for table in turn.tables]
    return parts + [f"> {escaped_markdown(' '.join(remark.split()))}" for remark in turn.remarks]


def _span(span: Span) -> str:
    return escaped_markdown(" ".join(span.text.split())) + "".join(f"[^{number}]" for number in span.notes)


def _table(table: TranscriptTable) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    return "\n".join(
        f"| {' | '.join(cell if cell == '---' else escaped_markdown(' '.join(cell.split())) for cell in line)} |"
        for line in lines
    )


def _footnote(note: Footnote) -> str:
    address = markdown_address(note.address)
    return f"[^{note.number}]: {escaped_markdown(' '.join(note.text.split()))}" + (f" <{address}>" if address else "")
