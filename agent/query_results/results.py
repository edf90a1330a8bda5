"""Later uses of an answer's result: download, run again, correct; each under the rights of that moment."""

from dataclasses import dataclass
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agent.conversations.branches import MessageTree
from agent.conversations.sessions import get_message, get_session
from agent.events import StopReason
from agent.evidence.items import hash_text
from agent.models import Message, MessageRole, Session
from agent.run_state.cited_answer import CitedQuery
from agent.runs.persistence import make_query_citation
from agent.verified_answers.services import verify_statement
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.snapshot import take_snapshot
from business.logical_query.query import Inexpressible
from business.logical_query.titles import describe_with_title
from business.logical_query.wording import QueryWording
from business.pipeline import describe_free_statement
from business.presentation.query import build_query_shown
from business.presentation.report import build_export_name, build_export_rows
from business.results.shown_query import QueryShown
from business.sources.services import OpenSource, open_source
from business.statements.run_query import QueryResult, run_query
from copilot_site.lib.errors import NotFound
from knowledge.text.language import detect_language

PROVIDER = "database"


@dataclass(frozen=True)
class ResultPlace:
    """The place of a result: the number of its citation in an answer."""

    session_id: UUID
    message_id: UUID
    number: int


def find_cited_result(principal: Principal, place: ResultPlace) -> tuple[str, QueryShown]:
    """Return the source's name and the result, under today's rights.

    Raises NotFound, alike for missing and no longer theirs.
    """
    message = get_message(principal, get_session(principal, place.session_id), place.message_id)
    for query in message.queries:
        if query.number == place.number and query.result is not None:
            return query.source, query.result
    raise NotFound(_("There is no such result, or you can no longer see it."))


def export_result(principal: Principal, place: ResultPlace) -> tuple[list[tuple[object, ...]], str]:
    """Return the kept rows below their column names, and a file name that says when rows are missing. Audited.

    Raises NotFound.
    """
    source, result = find_cited_result(principal, place)
    table = result.table
    record_action(
        principal,
        Action.RESULT_EXPORTED,
        run_id=str(place.message_id),
        detail={"source": source, "query_id": result.query_id, "rows": len(table.rows), "total": table.total},
    )
    return build_export_rows(result), build_export_name(source, result)


def rerun_statement(principal: Principal, place: ResultPlace) -> UUID:
    """Run the same statement now and return the id of the new answer message.

    Raises NotFound, SqlRefused, SourceUnavailable.
    """
    principal = principal.in_conversation(place.session_id)
    source, kept = find_cited_result(principal, place)
    opened = open_source(principal, source)
    result = async_to_sync(run_query)(principal, opened, kept.statement, run_id=str(place.message_id))
    fresh = _make_query_shown(
        opened, result, kept, statement=kept.statement, meaning=_describe_statement(opened, kept), is_same=True
    )
    notice = gettext_noop("The same query, run again with your current rights.")
    return _store_new_answer(principal, place, source, fresh, notice=notice)


def correct_statement(principal: Principal, place: ResultPlace, *, sql: str) -> UUID:
    """Run another statement for the same question and store it as the verified answer; return the new answer's id.

    Raises NotFound, PermissionDenied unless the person manages the source, SqlRefused, SourceUnavailable.
    """
    principal = principal.in_conversation(place.session_id)
    source, kept = find_cited_result(principal, place)
    opened = open_source(principal, source)
    result = async_to_sync(verify_statement)(principal, opened, question=kept.question, sql=sql)
    fresh = _make_query_shown(
        opened,
        result,
        kept,
        statement=sql.strip(),
        meaning=describe_free_statement(opened, sql, detect_language(kept.question) or "en"),
    )
    notice = gettext_noop("Verified by you. From now on this query answers the question for everyone who can run it.")
    return _store_new_answer(principal, place, source, fresh, notice=notice)


def _describe_statement(opened: OpenSource, kept: QueryShown) -> QueryWording:
    """Return what a kept statement says, for the days for which it was made."""
    language = detect_language(kept.question) or "en"
    if kept.logical_query is None or kept.asked_on is None:
        return describe_free_statement(opened, kept.statement, language)
    try:
        return describe_with_title(
            kept.logical_query, opened.catalog, language, kept.asked_on, sql=kept.statement, now=opened.today
        )
    except Inexpressible:  # the layer has changed
        return describe_free_statement(opened, kept.statement, language)


def _make_query_shown(
    opened: OpenSource,
    result: QueryResult,
    kept: QueryShown,
    *,
    statement: str,
    meaning: QueryWording,
    is_same: bool = False,
) -> QueryShown:
    return build_query_shown(
        result,
        opened,
        question=kept.question,
        statement=statement,
        meaning=meaning,
        language=detect_language(kept.question) or "en",
        logical_query=kept.logical_query if is_same else None,
        asked_on=kept.asked_on if is_same else None,
    )


@transaction.atomic
def _store_new_answer(principal: Principal, place: ResultPlace, source: str, fresh: QueryShown, *, notice: str) -> UUID:
    """Store the question again with its new answer, and audit it.

    notice: in English; it is shown in the page's language.
    """
    session = Session.objects.select_for_update().get(pk=place.session_id)
    last = MessageTree.of(session.pk).path(place.message_id)[-1]
    question = Message.objects.create(session=session, parent_id=last, role=MessageRole.USER, content=fresh.question)
    text = fresh.meaning.text
    answer = Message.objects.create(
        session=session,
        parent=question,
        role=MessageRole.ASSISTANT,
        content=f"{text}[1]",
        sentences=[{"text": text, "citations": [1]}],
        stop_reason=StopReason.OK,
        provider=PROVIDER,
        notice=notice,
        duration_ms=fresh.table.elapsed_ms,
    )
    cited = CitedQuery(1, fresh.evidence_id, source, source, hash_text(text), fresh)
    make_query_citation(answer.pk, cited, take_snapshot(principal)).save()
    session.save(update_fields=["updated_at"])
    record_action(
        principal,
        Action.QUESTION_ANSWERED,
        session,
        reason=StopReason.OK,
        run_id=str(answer.pk),
        detail={"evidence": [fresh.evidence_id], "cited": [fresh.evidence_id]},
    )
    return answer.pk
