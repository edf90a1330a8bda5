"""The content of an exported conversation in any format: questions, answers, tables, and one list of footnotes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agent.conversations.presentation.message import (
    ShownCitation,
    ShownMessage,
    ShownPage,
    ShownQuery,
    ShownSentence,
    ShownVerified,
)
from agent.models import MessageRole

AddressOf = Callable[[ShownCitation], str]
"""A cited passage → where its document is read."""


@dataclass(frozen=True)
class TranscriptSpan:
    """A piece of an answer. notes: its footnotes."""

    text: str
    notes: tuple[int, ...] = ()


@dataclass(frozen=True)
class TranscriptTable:
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TranscriptTurn:
    """A question and its answer. paragraphs: each of spans.

    remarks: notes on the answer, such as that a sentence is hidden.
    """

    question: str
    paragraphs: tuple[tuple[TranscriptSpan, ...], ...]
    tables: tuple[TranscriptTable, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Footnote:
    """A source. address: of its document, or of a web page; "" for a query."""

    number: int
    text: str
    address: str = ""


@dataclass
class ConversationTranscript:
    title: str
    made_at: datetime
    turns: list[TranscriptTurn] = field(default_factory=list)
    footnotes: list[Footnote] = field(default_factory=list)

    @property
    def made(self) -> str:
        """Return when it was made, and whose rights it shows."""
        day = date_format(localtime(self.made_at), "DATETIME_FORMAT")
        return _("Exported on %(day)s, with the sources that the exporter can read.") % {"day": day}


def build_transcript(
    title: str, messages: Sequence[ShownMessage], address_of: AddressOf, made_at: datetime
) -> ConversationTranscript:
    """Return the transcript of messages in order, as their reader may see them; each answer has its own footnotes."""
    transcript = ConversationTranscript(title or _("Conversation"), made_at)
    questions = {message.id: message for message in messages if message.role == MessageRole.USER}
    for answer in messages:
        if answer.role == MessageRole.ASSISTANT and answer.is_complete:
            asked = questions.get(answer.parent_id) if answer.parent_id else None
            transcript.turns.append(_build_turn(asked, answer, transcript.footnotes, address_of))
    return transcript


def _build_turn(
    asked: ShownMessage | None, answer: ShownMessage, footnotes: list[Footnote], address_of: AddressOf
) -> TranscriptTurn:
    numbers: dict[int, int] = {}
    sources = [(citation.number, _describe_citation(citation), address_of(citation)) for citation in answer.citations]
    sources += [(query.number, _describe_query(query), "") for query in answer.queries]
    sources += [(item.number, _describe_verified_answer(item), "") for item in answer.verified]
    sources += [(page.number, _describe_web_page(page), page.url) for page in answer.pages]
    for number, text, address in sources:
        numbers[number] = len(footnotes) + 1
        footnotes.append(Footnote(numbers[number], text, address))
    return TranscriptTurn(
        question=asked.content if asked else "",
        paragraphs=tuple(_yield_paragraphs(answer, numbers)),
        tables=tuple(_yield_tables(answer)),
        remarks=tuple(_yield_remarks(answer)),
    )


def _yield_paragraphs(answer: ShownMessage, numbers: dict[int, int]) -> Iterator[tuple[TranscriptSpan, ...]]:
    if not answer.sentences:
        yield from ((TranscriptSpan(line),) for line in answer.content.splitlines() if line.strip())
        return
    spans: list[TranscriptSpan] = []
    for sentence in answer.sentences:
        if sentence.is_masked:
            continue
        if spans and "\n" in sentence.gap:
            yield tuple(spans)
            spans = []
        notes = tuple(numbers[number] for number in sentence.citations if number in numbers)
        number = sentence.gap.strip().strip("-")  # of a step
        spans.append(TranscriptSpan(f"{number} {_add_check_remarks(sentence)}".strip(), notes))
    if spans:
        yield tuple(spans)


def _add_check_remarks(sentence: ShownSentence) -> str:
    """Return a sentence, with a remark where it is from outside or was not checked."""
    marks = [] if sentence.is_checked else [_("(not checked against the source)")]
    marks += [_("(from outside)")] if sentence.is_outside else []
    return " ".join([sentence.text, *marks])


def _yield_tables(answer: ShownMessage) -> Iterator[TranscriptTable]:
    for query in answer.queries:
        if query.result and query.result.table.rows:
            table = query.result.table
            header = tuple(table.labels or table.columns)
            rows = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in table.rows)
            yield TranscriptTable(header, rows)


def _yield_remarks(answer: ShownMessage) -> Iterator[str]:
    if answer.kind:
        yield _("Excerpts from your documents, not verified")
    if hidden := answer.masked_count:
        yield ngettext(
            "One sentence is hidden: you cannot open its source.",
            "%(count)d sentences are hidden: you cannot open their sources.",
            hidden,
        ) % {"count": hidden}
    yield from answer.notice.splitlines()


def _describe_citation(citation: ShownCitation) -> str:
    parts = [citation.passage.title, *citation.passage.heading_path]
    if citation.page:
        parts.append(_("page %(page)s") % {"page": citation.page})
    return " › ".join(parts)


def _describe_web_page(page: ShownPage) -> str:
    read = _("read %(at)s") % {"at": date_format(localtime(page.read_at), "SHORT_DATETIME_FORMAT")}
    return f"{page.title} {_('(from outside)')} · {read}"


def _describe_verified_answer(each: ShownVerified) -> str:
    values = {"name": each.by, "day": each.verified_on.isoformat(), "question": each.question}
    return _("Verified by %(name)s on %(day)s: %(question)s") % values


def _describe_query(query: ShownQuery) -> str:
    message = _("Data source %(name)s") % {"name": query.source}
    return f"{message}: {query.result.meaning.headline}" if query.result else message


def strip_forbidden_characters(text: str) -> str:
    """Strip the characters that XML 1.0 forbids.

    These are control characters except tab and line ends, surrogates, and non-characters.
    """
    return "".join(item for item in text if item in "\t\n\r" or (item >= " " and not _is_forbidden_in_xml(ord(item))))


def _is_forbidden_in_xml(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF)
