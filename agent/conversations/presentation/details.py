"""The details shown around an answer: its sources as chips, cards and groups, and its steps."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from agent.conversations.presentation.highlights import highlight_question_words
from agent.conversations.presentation.message import (
    AnswerDetails,
    CitedPassage,
    ReadBesides,
    ShownCitation,
    ShownMessage,
)
from agent.conversations.presentation.similar_titles import find_similar_titles
from agent.conversations.presentation.steps import format_seconds, summarise_steps
from agent.conversations.presentation.visibility import conversation_reader_of
from agent.events import StopReason
from agent.models import Message
from agent.passages.answer import NAME
from agent.providers.configured import FROM_SETTINGS
from agent.run_state.verified_match import PROVIDER as VERIFIED
from authz.principal import Principal
from knowledge.documents.places import DocumentLocation, find_document_places

CHIP_LENGTH = 28  # characters of a title; a card has all of it
MAX_READ = 20  # documents listed as read besides

Places = Mapping[UUID, DocumentLocation]


def build_answer_details(
    principal: Principal, shown: Iterable[ShownMessage], rows: Iterable[Message]
) -> dict[UUID, AnswerDetails]:
    """Return the details around each answer by message, under today's rights. shown, rows: the same messages."""
    rows = list(rows)
    principal = conversation_reader_of(principal, rows)
    pairs = [(message, row) for message, row in zip(shown, rows, strict=True) if message.is_answer]
    documents = {passage.document_id for message, _row in pairs for passage in message.read}
    documents |= {citation.passage.document_id for message, _row in pairs for citation in message.citations}
    places = find_document_places(principal, documents)
    details = {message.id: _build_details(message, row, places) for message, row in pairs}
    for message, row in pairs:
        if message.stop_reason == StopReason.NO_EVIDENCE:
            details[message.id] = replace(
                details[message.id], close_titles=find_similar_titles(principal, _read_question(row))
            )
    return details


def _read_question(row: Message) -> str:
    """Return the question as the run worked on it."""
    return str(row.state.get("input", {}).get("normalized_query", ""))


def _build_details(message: ShownMessage, row: Message, places: Places) -> AnswerDetails:
    sources = tuple(_yield_cited_passages(message, _read_question(row), places))
    return AnswerDetails(
        sources,
        tuple(_yield_uncited_documents(message, places))[:MAX_READ],
        summarise_steps(row.state),
        "" if row.duration_ms is None else format_seconds(row.duration_ms),
        find_ending_template(message),
        describe_answer_origin(message),
        disagreements=tuple(_yield_disagreeing_pairs(sources, row)),
    )


def _yield_disagreeing_pairs(
    sources: Iterable[CitedPassage], row: Message
) -> Iterator[tuple[CitedPassage, CitedPassage]]:
    """Yield the contradicting pairs of which the person may see both, with their places."""
    by_number = {source.citation.number: source for source in sources if source.place}
    for pair in (row.state.get("output") or {}).get("disagreements", ()):
        if all(number in by_number for number in pair):
            first = sorted((by_number[number] for number in pair), key=_approval_sort_key, reverse=True)
            yield first[0], first[1]


def _approval_sort_key(source: CitedPassage) -> tuple[bool, datetime]:
    """Return the sort key: approved before unapproved, newer before older."""
    assert source.place is not None
    return not source.citation.passage.is_unapproved, source.place.changed_at


def _yield_cited_passages(message: ShownMessage, asked: str, places: Places) -> Iterator[CitedPassage]:
    documents = {citation.passage.document_id: citation.passage.title for citation in message.citations}
    titles = Counter(documents.values())
    for citation in message.citations:
        place = places.get(citation.passage.document_id)
        label = _shorten_title(citation.passage.title)
        if titles[citation.passage.title] > 1 and place is not None:
            label = f"{label} · {_find_distinguishing_label(citation, message, places)}"
        yield CitedPassage(citation, label, place, highlight_question_words(citation.snippet, asked))


def _find_distinguishing_label(citation: ShownCitation, message: ShownMessage, places: Places) -> str:
    """Return what distinguishes a document from others with its title: its folder, else its file, else its date."""
    mine = places[citation.passage.document_id]
    others = [
        places[other.passage.document_id]
        for other in message.citations
        if other.passage.title == citation.passage.title
        and other.passage.document_id != citation.passage.document_id
        and other.passage.document_id in places
    ]
    if mine.path[-1] not in {other.path[-1] for other in others}:
        return _shorten_title(mine.path[-1])
    if mine.filename not in {other.filename for other in others}:
        return _shorten_title(mine.filename)
    return f"{mine.changed_at:%Y-%m-%d}"


def _yield_uncited_documents(message: ShownMessage, places: Places) -> Iterator[ReadBesides]:
    cited = {citation.passage.document_id for citation in message.citations}
    counts = Counter(passage.document_id for passage in message.read)
    first = {passage.document_id: passage for passage in reversed(message.read)}
    for document_id in counts:
        if document_id not in cited:
            yield ReadBesides(first[document_id], places.get(document_id), counts[document_id])


def _shorten_title(title: str) -> str:
    return title if len(title) <= CHIP_LENGTH else f"{title[: CHIP_LENGTH - 1].rstrip()}…"


ENDINGS: Final[Mapping[str, str]] = {
    StopReason.NEED_CLARIFY: "asked-back",
    StopReason.TOOL_ERROR: "failed",
    StopReason.NO_EVIDENCE: "nothing",
    StopReason.PERMISSION_DENIED: "nothing",
    StopReason.BUDGET_EXHAUSTED: "nothing",
    StopReason.REFUSED: "nothing",
}


def find_ending_template(message: ShownMessage) -> str:
    """Return the name of the template part that shows it: `said` for an answer."""
    if message.kind and message.is_complete and message.stop_reason == StopReason.OK:
        return "passages"
    return ENDINGS.get(message.stop_reason, "said") if message.is_complete else "unfinished"


def describe_answer_origin(message: ShownMessage) -> str:
    """Return one line on how it was made; "" where there is nothing to say, as for a refusal."""
    ending = find_ending_template(message)
    if ending == "passages" and message.citations:
        return _("Excerpts from your documents")
    if ending != "said" or not any(not sentence.is_masked for sentence in message.sentences):
        return ""
    if message.stop_reason == StopReason.CANCELLED:
        return _("Stopped before it was complete")
    return _describe_author(message)


def _describe_author(message: ShownMessage) -> str:
    if message.provider in {"database", NAME}:
        return _describe_modelless_origin(message)
    if message.provider in {VERIFIED, "calculate"}:
        is_verified = message.provider == VERIFIED
        return _("Verified by a colleague, no language model") if is_verified else _("Calculated, not looked up")
    if not message.provider:
        return ""
    if message.provider == FROM_SETTINGS:  # a name that nobody gave it
        if message.unchecked_count:
            return _("Written by a language model; marked sentences were not checked against their source")
        return _("Written by a language model, each sentence checked against its source")
    if message.unchecked_count:
        text = _("Written by the model %(name)s; marked sentences were not checked against their source")
    else:
        text = _("Written by the model %(name)s, each sentence checked against its source")
    return text % {"name": message.provider}


def _describe_modelless_origin(message: ShownMessage) -> str:
    if message.citations and message.queries:
        return _("Quoted from your documents and counted by the database, no language model")
    if message.queries:
        return _("Calculated by the database, no language model")
    return _("Quoted from your documents, no language model") if message.citations else ""
