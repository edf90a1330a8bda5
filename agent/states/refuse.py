from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db.models import Count
from django.utils.translation import override

from agent import texts
from agent.budget import HARD
from agent.data_coverage import explain_unread_question
from agent.events import Answer, Event, StopReason
from agent.revocation import format_unreadable_notice
from agent.run_state.cited_answer import Output
from agent.run_state.run import Goto, Run
from agent.run_state.state import Route, State, Validation
from authz.permissions import Right
from authz.rights.holders import find_people_with_right
from knowledge.models import KnowledgeBase
from knowledge.retrieval.plan import is_scope_empty, select_documents
from knowledge.selectors import match_discoverable_folders

BASES_NAMED = 3
KEEPERS_NAMED = 3


async def refuse(run: Run) -> AsyncIterator[Event | Goto]:
    """Say that nothing was found, and where.

    The words are the same whether a document is missing or not theirs; only a folder whose name may be told is named.
    """
    run.stop_reason, text = await sync_to_async(_choose_refusal)(run)
    if run.stop_reason is not StopReason.REFUSED:
        denied = run.stop_reason is StopReason.PERMISSION_DENIED
        run.state.plan.validation = Validation(ok=False, reason="permission_denied" if denied else "no_evidence")
    for notice in run.fresh_notices():
        yield notice
    run.state.output = Output(final_answer=text, stop_reason=run.stop_reason)
    yield Answer(content=text, done=True)
    yield Goto(State.DONE)


def _choose_refusal(run: Run) -> tuple[StopReason, str]:
    with override(run.language):
        if run.state.plan.route is Route.REFUSE:
            return StopReason.REFUSED, str(texts.NOT_HELPED_WITH)
        found = run.state.plan.validation
        if found is not None and found.reason == "permission_denied":  # all of it was readable when it was found
            return StopReason.PERMISSION_DENIED, format_unreadable_notice(run.language)
        if not run.asks_tables_alone and is_scope_empty(run.principal, run.scope):
            return StopReason.NO_EVIDENCE, str(texts.NOTHING_IN_SCOPE)
        nothing = _format_nothing_found(run)
        if not run.asks_tables_alone and (folders := offer_folders(run)):
            return StopReason.PERMISSION_DENIED, f"{nothing}\n{folders}"
        if run.spent.stopped_by in HARD:
            return StopReason.BUDGET_EXHAUSTED, f"{nothing}\n{texts.LIMIT_CAME_FIRST}"
        return StopReason.NO_EVIDENCE, _build_refusal_text(run)


def _build_refusal_text(run: Run) -> str:
    """Return the refusal: for business data, the notice has the reason and the form is offered; else what was searched."""
    explain_unread_question(run)
    if run.asks_tables_alone:
        return str(texts.NOT_IN_TABLES)
    if run.state.plan.explore is not None:
        return str(texts.NEITHER_DATA_NOR_DOCUMENTS)
    return "\n".join([_format_nothing_found(run), *_describe_search(run)])


def _format_nothing_found(run: Run) -> str:
    return texts.NOTHING_FOUND % {"count": select_documents(run.principal, run.scope).count()}


def offer_folders(run: Run) -> str:
    """Offer folders that may hold the answer and may be named; return a sentence about them in the run's language, "" for none."""
    folders = match_discoverable_folders(run.principal, run.state.input.normalized_query)
    run.offered = [folder.pk for folder in folders]
    names = str(texts.COMMA).join(f"“{folder}”" for folder in folders)
    return str(texts.ASKABLE_FOLDERS) % {"names": names} if names else ""


def _describe_search(run: Run) -> list[str]:
    """Return sentences about what was searched, and what to do next."""
    documents = select_documents(run.principal, run.scope)
    counted = documents.values_list("knowledge_base_id").annotate(n=Count("pk")).order_by("-n", "knowledge_base_id")
    counts = dict(counted.values_list("knowledge_base_id", "n"))
    if not counts:
        return [str(texts.OTHER_WORDS)]
    bases = KnowledgeBase.objects.visible_to(run.principal).in_bulk(list(counts)[:BASES_NAMED])
    named = [bases[pk].name for pk in counts if pk in bases]
    names = str(texts.COMMA).join(named)
    if len(counts) > len(named):
        names = str(texts.AND_OTHERS) % {"names": names}
    keepers: dict[str, None] = {}
    for base in bases.values():
        keepers |= dict.fromkeys(
            user.get_full_name() or user.username
            for user in find_people_with_right(Right.MANAGE, base)
            if user.pk != run.principal.user_id
        )
    whom = str(texts.WHOM_TO_ASK) % {"names": str(texts.COMMA).join(list(keepers)[:KEEPERS_NAMED])}
    return [str(texts.SEARCHED) % {"bases": names}, whom if keepers else str(texts.OTHER_WORDS)]
