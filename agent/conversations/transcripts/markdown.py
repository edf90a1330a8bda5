"""A conversation as Markdown: footnotes in the notation that GitHub, Pandoc and Obsidian read."""

import re

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from agent.conversations.transcripts.transcript import Footnote, Span, Table, Transcript, Turn

MEDIA_TYPE = "text/markdown"
_IN_ADDRESS = str.maketrans({"<": "%3C", ">": "%3E"})
_LEADING = re.compile(r"^(\s*\d*)([-+=.)])")  # of a list, or what makes the line above a heading
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")


def as_markdown(told: Transcript) -> bytes:
    made = _("Exported on %(day)s, with the sources that whoever exported it may read.") % {
        "day": date_format(localtime(told.made_at), "DATETIME_FORMAT")
    }
    parts = [f"# {_plain(told.title)}", f"*{made}*"]
    for turn in told.turns:
        parts += _turn(turn)
    if told.footnotes:
        parts += ["---", "\n".join(_footnote(note) for note in told.footnotes)]
    return ("\n\n".join(parts) + "\n").encode()


def _turn(turn: Turn) -> list[str]:
    question = " ".join(_plain(turn.question).split()) or _("Question")
    parts = [f"## {question}"]
    parts += [" ".join(_span(span) for span in paragraph) for paragraph in turn.paragraphs]
    parts += [_table(table) for table in turn.tables]
    return parts + [f"> {_plain(' '.join(remark.split()))}" for remark in turn.remarks]


def _span(span: Span) -> str:
    return _plain(" ".join(span.text.split())) + "".join(f"[^{number}]" for number in span.notes)


def _table(table: Table) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    return "\n".join(
        f"| {' | '.join(cell if cell == '---' else _plain(' '.join(cell.split())) for cell in line)} |"
        for line in lines
    )


def _footnote(note: Footnote) -> str:
    address = note.address.translate(_IN_ADDRESS)
    return f"[^{note.number}]: {_plain(' '.join(note.text.split()))}" + (f" <{address}>" if address else "")


def _plain(text: str) -> str:
    """Text of others is text: nothing in it is a mark of Markdown."""
    return _LEADING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))
