"""Stored messages as a person may see them; rights are read once for all of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from agent.conversations.made_files import list_visible_made_files
from agent.conversations.presentation.attachments import Attachment, find_visible_attachments
from agent.conversations.presentation.message import (
    ShownCitation,
    ShownMessage,
    ShownPage,
    ShownQuery,
    ShownSentence,
    ShownToolCall,
    ShownVerified,
)
from agent.events import StopReason
from agent.models import (
    Citation,
    MadeFile,
    Message,
    MessageRole,
    QueryCitation,
    ToolApproval,
    VerifiedCitation,
    WebCitation,
)
from agent.passages.excerpts import build_excerpt
from agent.run_state.cited_answer import join_sentences
from agent.run_state.outside import AskedOutside
from agent.run_state.state import ExploreForm
from agent.run_state.verified_match import make_verified_source
from agent.tool_names import EXECUTE_SKILL_SCRIPT
from authz.principal import Principal
from business.explore.fields import ExploreFields, explore_url, select_expressible_parts
from business.results.shown_query import QueryShown
from business.results.visibility import Queried, visible_queries
from knowledge.selectors import ShownPassage, list_visible_passages
from knowledge.services.access_requests import AccessOffer, find_requestable_folders


@dataclass(frozen=True)
class _Seen:
    """The visible sources of some messages. queries: primary keys of citations of results; still_visible: results."""

    passages: Mapping[UUID, ShownPassage]
    queries: Collection[int]
    still_visible: Collection[Queried]
    verified: Mapping[UUID, Sequence[ShownVerified]]
    offers: Mapping[UUID, AccessOffer]
    files: Collection[MadeFile]
    approvals: Mapping[UUID, ToolApproval]
    attachments: Mapping[UUID, Attachment]


def show_visible_messages(principal: Principal, rows: Iterable[Message]) -> list[ShownMessage]:
    """Return the messages in their order, under today's rights; prefetch their citations and queries."""
    found = list(rows)
    principal = conversation_reader_of(principal, found)
    wanted = {citation.chunk_id for row in found for citation in row.citations.all()}
    wanted |= {
        pk for row in found for pk in _yield_allowed_passage_ids(row)
    }  # one query, so that all rights are of one moment
    wanted |= {pk for row in found for pk in _read_completion_sources(row)[0]}
    results = {query.pk: cited_source_of(query) for row in found for query in row.queries.all()}
    verified = _load_verified_citations(found)
    still_visible = visible_queries(
        principal,
        {
            *results.values(),
            *(one for row in found for one in _read_completion_sources(row)[1]),
            *(make_verified_source(each.answer_id) for shown in verified.values() for each in shown),
        },
    )
    asking = [row.pk for row in found if row.state.get("plan", {}).get("approval")]
    seen = _Seen(
        {passage.chunk_id: passage for passage in list_visible_passages(principal, wanted)},
        {pk for pk, queried in results.items() if queried in still_visible},
        still_visible,
        verified,
        find_requestable_folders(principal, {pk for row in found for pk in _read_offered_folder_ids(row)}),
        list_visible_made_files(principal, [row.pk for row in found if _has_run_scripts(row)]),
        _find_pending_approvals(principal, asking) if asking else {},
        find_visible_attachments(principal, found),
    )
    return [_build_shown_message(row, seen) for row in found]


def conversation_reader_of(principal: Principal, rows: Sequence[Message]) -> Principal:
    """Return the principal as a reader in the messages' conversation, whose files only its owner can see."""
    conversations = {row.session_id for row in rows}
    return principal.in_conversation(conversations.pop() if len(conversations) == 1 else None)


def cited_source_of(row: QueryCitation) -> Queried:
    """Return the source of a cited result, for its visibility check."""
    result = _parse_query_result(row)
    return Queried(source=row.source, reach=result.reach if result else ())


def _find_pending_approvals(principal: Principal, message_ids: Sequence[UUID]) -> dict[UUID, ToolApproval]:
    """Return the call that waits for the person's approval, by answer."""
    rows = ToolApproval.objects.filter(user_id=principal.user_id, message_id__in=message_ids)
    return {row.message_id: row for row in rows}


def _read_offered_folder_ids(row: Message) -> list[UUID]:
    return [UUID(pk) for pk in row.state.get("offers", ())]


def _yield_allowed_passage_ids(row: Message) -> Iterator[UUID]:
    """Yield the passages that an answer could use, in the order found."""
    for item in row.state.get("evidence_items", ()):
        if item["authz"]["result"] == "allow" and item["source"].get("chunk_id"):
            yield UUID(item["source"]["chunk_id"])


def _build_shown_message(row: Message, seen: _Seen) -> ShownMessage:
    citations = [citation for citation in row.citations.all() if citation.chunk_id in seen.passages]
    queries = [query for query in row.queries.all() if query.pk in seen.queries]
    pages = tuple(_make_shown_page(page) for page in row.pages.all())
    verified = tuple(
        v for v in seen.verified.get(row.pk, ()) if make_verified_source(v.answer_id) in seen.still_visible
    )
    outside = {page.number for page in pages}  # public: every reader of the answer may see them
    numbers = {element.number for element in citations} | {element.number for element in queries} | outside
    numbers |= {element.number for element in verified}
    texts = {entry["text"] for entry in row.sentences} if _read_output(row).get("kind") else set()
    shown = {c.number: _make_shown_citation(c, seen.passages[c.chunk_id], texts) for c in citations}
    sentences = _build_shown_sentences(row, numbers, outside)
    may_say = _may_show_completed_question(row, seen)
    return ShownMessage(
        id=row.pk,
        session_id=row.session_id,
        role=row.role,
        created_at=row.created_at,
        content=_select_visible_content(row, sentences),
        stop_reason=row.stop_reason,
        provider=row.provider,
        is_complete=row.is_complete,
        kind=_read_output(row).get("kind", ""),
        confidence=(row.state.get("draft") or {}).get("confidence"),
        is_declined=_read_output(row).get("is_declined", False),
        sentences=sentences,
        citations=tuple(shown.values()),
        queries=tuple(ShownQuery(q.number, q.evidence_id, q.source, q.title, _parse_query_result(q)) for q in queries),
        pages=pages,
        verified=verified,
        asked_outside=tuple(AskedOutside.model_validate(one) for one in _read_web_exchanges(row).get("asked", ())),
        notice="\n".join(_(line) for line in row.notice.splitlines() if line),
        understood=_read_completed_question(row) if may_say else "",
        readings=tuple(row.state.get("plan", {}).get("clarifying_questions", ())) if may_say else (),
        explore=_build_explore_address(row),
        offers=tuple(seen.offers[pk] for pk in _read_offered_folder_ids(row) if pk in seen.offers),
        files=tuple(file for file in seen.files if file.message_id == row.pk),
        approval=seen.approvals.get(row.pk),
        tool_calls=tuple(_make_shown_tool_call(step) for step in row.state.get("trace_steps", ()) if step.get("tool")),
        read=tuple(seen.passages[pk] for pk in dict.fromkeys(_yield_allowed_passage_ids(row)) if pk in seen.passages),
        duration_ms=row.duration_ms,
        rating=row.rating,
        fault=row.fault,
        comment=row.comment,
        is_shown_to_keepers=row.is_shown_to_keepers,
        parent_id=row.parent_id,
        attachments=tuple(seen.attachments[UUID(pk)] for pk in row.attachments if UUID(pk) in seen.attachments),
        hidden_attachments=sum(UUID(pk) not in seen.attachments for pk in row.attachments),
    )


def _build_shown_sentences(row: Message, seen: Collection[int], outside: Collection[int]) -> tuple[ShownSentence, ...]:
    """Return the sentences with hidden ones masked; for passages, our own words above nothing are dropped."""
    sentences = tuple(_make_shown_sentence(*placed, seen, outside) for placed in enumerate(row.sentences))
    if _read_output(row).get("kind") and not any(sentence.citations for sentence in sentences):
        return tuple(sentence for sentence in sentences if sentence.is_masked)
    return sentences


def _select_visible_content(row: Message, sentences: Collection[ShownSentence]) -> str:
    if not sentences or row.role != MessageRole.ASSISTANT:
        return row.content
    return join_sentences((sentence.gap, sentence.text) for sentence in sentences if not sentence.is_masked)


def _may_show_completed_question(row: Message, seen: _Seen) -> bool:
    """Return whether the completed question may be shown: everything read for completing it is still visible."""
    leaned_on, queried = _read_completion_sources(row)
    return leaned_on <= seen.passages.keys() and queried <= set(seen.still_visible)


def _build_explore_address(row: Message) -> str:
    """Return the address of the form for a question on data that was not understood; "" for other messages."""
    form = row.state.get("plan", {}).get("explore")
    if not form or (row.stop_reason == StopReason.OK and not _read_output(row).get("kind")):
        return ""
    query = ExploreForm.model_validate(form).query
    filled = explore_url(form["source"], ExploreFields.of(select_expressible_parts(query))) if query else ""
    return f"{filled}&live=1" if filled else explore_url(form["source"])


def _read_output(row: Message) -> Mapping[str, Any]:
    return row.state.get("output") or {}


def _has_run_scripts(row: Message) -> bool:
    return any(step.get("tool") == EXECUTE_SKILL_SCRIPT for step in row.state.get("trace_steps", ()))


def _read_web_exchanges(row: Message) -> Mapping[str, Any]:
    return (row.state.get("tools") or {}).get("web") or {}


def _make_shown_page(row: WebCitation) -> ShownPage:
    url = row.url if row.url.startswith(("https://", "http://")) else ""  # it becomes a link
    return ShownPage(row.number, row.evidence_id, url, row.title, row.snippet, row.read_at)


def _load_verified_citations(rows: Sequence[Message]) -> Mapping[UUID, Sequence[ShownVerified]]:
    """Return the cited verified answers by message, regardless of rights; one query, only for messages that found one."""
    found: defaultdict[UUID, list[ShownVerified]] = defaultdict(list)
    citing = [
        row.pk for row in rows if any(item.get("type") == "verified" for item in row.state.get("evidence_items", ()))
    ]
    if not citing:
        return found
    for one in VerifiedCitation.objects.filter(message__in=citing, answer__isnull=False).select_related("answer"):
        assert one.answer is not None  # filtered
        found[one.message_id].append(
            ShownVerified(one.number, one.evidence_id, one.answer.pk, one.answer.question, one.by, one.verified_on)
        )
    return found


def _make_shown_tool_call(step: Mapping[str, Any]) -> ShownToolCall:
    return ShownToolCall(
        name=step["tool"],
        success=step["status"] == "ok",
        duration_ms=step["timing_ms"],
        evidence_added=(step.get("out") or {}).get("evidence_added", 0),
        problem=(step.get("err") or {}).get("type", ""),
    )


def _parse_query_result(row: QueryCitation) -> QueryShown | None:
    return QueryShown.model_validate(row.result) if row.result else None


def _read_completion_sources(row: Message) -> tuple[set[UUID], set[Queried]]:
    """Return the passages and results read by the model that completed the question."""
    plan = row.state.get("plan", {})
    chunks = {UUID(pk) for pk in plan.get("leans_on", ())}
    return chunks, {Queried.model_validate_json(key) for key in plan.get("leans_on_results", ())}


def _read_completed_question(row: Message) -> str:
    asked = row.state.get("input", {})
    whole, query = asked.get("normalized_query", ""), " ".join(asked.get("query", "").split())
    return "" if whole == query else whole


def _make_shown_citation(row: Citation, passage: ShownPassage, texts: Collection[str]) -> ShownCitation:
    """Return a citation for display.

    texts: the sentences of an answer made of passages; other answers show only its place.
    """
    excerpt = build_excerpt(passage.text, row.start, row.end, passage.blocks, texts=texts) if texts else ()
    return ShownCitation(row.number, row.evidence_id, row.start, row.end, passage, row.score, excerpt)


def _make_shown_sentence(
    place: int, entry: Mapping[str, Any], seen: Collection[int], outside: Collection[int]
) -> ShownSentence:
    text, citations, slot = entry["text"], tuple(entry["citations"]), entry.get("slot", place)
    if set(citations) <= set(seen):
        checked, gap = entry.get("is_checked", True), entry.get("gap", "")
        is_outside = any(number in outside for number in citations)
        return ShownSentence(text, citations, is_checked=checked, is_outside=is_outside, gap=gap, slot=slot)
    return ShownSentence("", (), is_masked=True, slot=slot)
