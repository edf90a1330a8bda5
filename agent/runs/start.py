"""From a question to a run: validated, admitted, given its model, stored, launched.

A fair queue decides how many runs a process works on at once, and which is next, before the first step of a run. Its
parties are people, and for each person all of their API tokens together: asking more, or through more tokens, gives no
advantage. A run with a language model mostly waits for it, one without keeps a processor busy, so each kind has a queue
of its own. The queues are per process; several processes have several, and share only the connections to the database.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import cache
from uuid import UUID, uuid4, uuid5
from weakref import finalize

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent import texts
from agent.conversations.attachments import list_replaced_attachments, validate_question_attachments
from agent.conversations.branches import find_parent_message
from agent.conversations.sessions import get_session, make_session_title
from agent.events import Event
from agent.models import AgentProfile, Message, MessageRole, Session, ToolApproval
from agent.profile_choice import find_requested_profile
from agent.profiles.asked_in import require_tables
from agent.profiles.kept_scope import convert_scope_to_json, read_stored_scope, read_stored_tables
from agent.profiles.settings import Options
from agent.providers.base import ModelMisconfigured
from agent.providers.configured import connect, find_served_model
from agent.providers.metered import Metered
from agent.run_state.outside import AllowedCall
from agent.run_state.run import Attached, Run
from agent.run_state.threads import has_waiting_thread, run_front_call
from agent.runs.leases import hold_lease
from agent.runs.run import iterate_run_events, launch_run
from agent.usage import UsedUp, cut_to_remaining_budget
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from business.sources.table_choice import NO_DOCUMENTS
from copilot_site.lib.errors import InvalidInput, TooMany, Unavailable
from copilot_site.lib.load.fair_queue import FairQueue, QueueFull, Ticket
from knowledge.retrieval.search import Scope
from knowledge.text.normalise import normalise_text

MAX_RUNS = max(os.cpu_count() or 1, 2)  # at work without a model: each keeps a core busy
MAX_RUNS_PER_PARTY = 2  # of one person, and of all of their API tokens together: one is read while the next is answered
MAX_WAITING_RUNS = 200  # some minutes of work; later questions are refused and asked again by the page
QUESTION_LENGTH = 4_000  # characters: about four pages; what is longer is a document


async def start_run(
    principal: Principal,
    session_id: UUID,
    question: str,
    *,
    scope: Scope,
    language: str,
    options: Options,
    allowed_call: AllowedCall | None = None,
) -> Run:
    """Store the question and launch its run, which continues even if the asker leaves. Raises the errors of `prepare_run`."""
    more = {"allowed_call": allowed_call} if allowed_call else {}

    async def started() -> Run:
        run = await run_front_call(
            prepare_run, principal, session_id, question, scope=scope, language=language, options=options, **more
        )
        if not has_waiting_thread():  # else this loop ends before the run: its follower launches it
            launch_run(run)
        return run

    return await asyncio.shield(asyncio.create_task(started()))


async def ask_question(
    principal: Principal,
    *,
    session_id: UUID,
    question: str,
    scope: Scope | None = None,
    language: str = "en",
    options: Options | None = None,
) -> AsyncIterator[Event]:
    """Answer one question in a conversation of this person, yielding events with gapless `seq`.

    The last is Complete or Error.

    language: of our own words (refusals, errors), `en` or `zh-hans`. options: profile, model, title. The question is
    audited before the first event, and the stored answer before the last one. Raises NotFound (not their conversation,
    no such profile) and InvalidInput (no question, too long, no such model) before anything is stored.
    """
    run = await sync_to_async(prepare_run)(
        principal, session_id, question, scope=scope or Scope(), language=language, options=options or Options()
    )
    try:
        async with (
            hold_lease(run.message_id, _ignore_stop_request),
            aclosing(iterate_run_events(run, alone=True)) as events,
        ):
            seq = 0
            async for event in events:
                yield event.placed(seq, run.session_id, run.message_id)
                seq += 1
    finally:
        if run.ticket:
            run.ticket.leave()


def prepare_run(
    principal: Principal,
    session_id: UUID,
    question: str,
    *,
    scope: Scope,
    language: str,
    options: Options,
    allowed_call: AllowedCall | None = None,
) -> Run:
    """Store the question and make the run, which holds a place or waits for one until it is over.

    allowed_call: the call approved for this earlier question; the approval is stored in the conversation instead of the
    question. Raises NotFound, InvalidInput, Unavailable, before anything is stored.
    """
    session = get_session(principal, session_id)
    run = Run(
        session_id=session.pk,
        message_id=session.pk,
        # the run continues after a sign-out; its readers end
        principal=principal.signed_in(None).in_conversation(session.pk),
        question=check_question(question),
        scope=Scope(),
        language=language,
        profile=find_requested_profile(principal, options),
        follows=find_parent_message(session, follows=options.follows, instead_of=options.instead_of),
        keeps_title=options.disable_title,
        is_wide=options.is_wide,
        asked_as=options.asked_as,
        allowed_call=allowed_call,
        goes_on=allowed_call is not None,
    )
    run.attached = Attached(_resolve_attachments(principal, session, options))
    _limit_scope(run, scope, options)
    assign_model(run)
    run.ticket = admit_run(principal, has_model=run.model is not None)
    finalize(run, run.ticket.leave)  # a run never launched, because its asker left, gives its place back
    try:
        run.message_id = _store_question(run, session, options.channel)
    except BaseException:
        run.ticket.leave()
        raise
    return run


def _limit_scope(run: Run, scope: Scope, options: Options) -> None:
    """Limit the run to the documents, tables, or both that the person chose, if any.

    The question's own files, or those of the question it replaces, take precedence. Raises InvalidInput (files with a
    scope), NotFound and PermissionDenied (tables).
    """
    if options.attachments and (scope != Scope() or options.tables):
        raise InvalidInput(_("Ask about attached files or in chosen places, not both: remove one of them."))
    if run.attached.asked_with:
        return
    require_tables(run.principal, options.tables)
    run.chosen = convert_scope_to_json(scope, options.tables)
    run.tables = options.tables if run.chosen else None
    run.scope = NO_DOCUMENTS if run.asks_tables_alone else scope


def _resolve_attachments(principal: Principal, session: Session, options: Options) -> list[UUID]:
    """Return the files of the question: its own, else those of the question it replaces."""
    if options.attachments or options.instead_of is None:
        return validate_question_attachments(principal, session, options.attachments)
    return list_replaced_attachments(session, options.instead_of)


def check_question(question: str) -> str:
    """Return the question for storage. Raises InvalidInput for an empty one, and for one that is too long."""
    asked = normalise_text(question).strip()
    if not asked:
        raise InvalidInput(_("The question is empty."))
    if len(asked) > QUESTION_LENGTH:
        raise InvalidInput(
            _("A question has at most %(most)s characters; this one has %(count)s. Upload long texts as documents.")
            % {"most": QUESTION_LENGTH, "count": len(asked)}
        )
    return asked


def find_answer_id(principal: Principal, session_id: UUID, asked_as: UUID) -> UUID | None:
    """Return the answer, finished or not, to the question with this client id in a conversation of theirs.

    Raises NotFound.
    """
    answer_id = _make_answer_id(get_session(principal, session_id).pk, asked_as)
    return answer_id if Message.objects.filter(pk=answer_id).exists() else None


def _make_answer_id(session_id: UUID, asked_as: UUID | None) -> UUID:
    """Return the id of the answer to a client's question, unique to its conversation."""
    return uuid5(session_id, str(asked_as)) if asked_as else uuid4()


@transaction.atomic
def _store_question(run: Run, session: Session, channel: str) -> UUID:
    """Store the question and its pending answer, and return the answer's id."""
    with override(run.language):
        content = str(texts.ALLOWED) if run.allowed_call else run.question
    question = Message(
        session=session,
        parent_id=run.follows,
        role=MessageRole.USER,
        content=content,
        attachments=[str(pk) for pk in run.attached.asked_with],
    )
    answer_id = _make_answer_id(session.pk, run.asked_as)
    answer = Message(id=answer_id, session=session, parent=question, role=MessageRole.ASSISTANT, is_complete=False)
    Message.objects.bulk_create([question, answer])
    changed: dict[str, object] = {}
    if (session.profile_id, session.scope) != (run.profile.id, run.chosen):
        changed = {"profile": run.profile.id, "scope": run.chosen}
    if not session.title and not run.keeps_title:
        run.title = make_session_title(run.question)
        changed["title"] = run.title  # a running conversation is in the list at once
    if changed:
        Session.objects.filter(pk=session.pk).update(updated_at=timezone.now(), **changed)
    detail: dict[str, object] = {"characters": len(run.question)}
    detail |= {"channel": channel} if channel else {}
    detail |= {"audience": len(run.principal.audience)} if run.principal.audience else {}
    record_action(run.principal, Action.QUESTION_ASKED, session, run_id=str(answer.pk), detail=detail)
    return answer.pk


def assign_model(run: Run) -> None:
    """Set the run's model and its judge, under one budget.

    None where none is configured, its key is lost, or a budget is used up: the person's of the day, or a unit's of the month.
    """
    try:
        served = find_served_model(run.profile.model)
    except ModelMisconfigured:
        with override(run.language):
            run.tell(str(texts.MODEL_UNUSABLE))
        return
    if served is None:
        return
    try:
        budget = cut_to_remaining_budget(run.profile.budget, run.principal.user_id)
    except UsedUp as reason:
        with override(run.language):
            run.tell(reason.sentence)
        return
    run.profile = replace(run.profile, budget=budget)
    run.model = Metered(connect(served), budget, run.spent)
    run.judge = run.model
    if run.profile.judge:
        with suppress(ModelMisconfigured, InvalidInput):  # then the writer's model judges, too
            run.judge = Metered(connect(find_served_model(run.profile.judge) or served), budget, run.spent)


@cache
def find_run_queue(*, has_model: bool) -> FairQueue:
    """Return this process's queue for runs with or without a language model.

    Nobody has more than half of the places, so that another person finds one free, or gets the next one.
    """
    places = settings.MODEL_RUNS_AT_ONCE if has_model else MAX_RUNS
    half = max(1, places // 2)
    return FairQueue(
        places=places,
        own_places=lambda _party: min(half, MAX_RUNS_PER_PARTY),
        most_waiting=MAX_WAITING_RUNS,
    )


def admit_run(principal: Principal, *, has_model: bool) -> Ticket:
    """Return a place for a run, or one in the queue; call its `leave` when the run is over.

    Raises Unavailable where the queue is full, TooMany where this person may not add more.
    """
    try:
        return find_run_queue(has_model=has_model).enter((principal.user_id, principal.scopes is not None))
    except QueueFull as full:
        raise _make_refusal(full) from full


def _make_refusal(full: QueueFull) -> Unavailable:
    values = {"seconds": full.retry_after_s}
    if full.is_own:
        return TooMany(
            _("Too many of your questions are waiting. Ask this one again in %(seconds)s s.") % values,
            retry_after_s=full.retry_after_s,
        )
    return Unavailable(
        _("Too many people are asking right now. Ask again in %(seconds)s s.") % values,
        retry_after_s=full.retry_after_s,
    )


def _ignore_stop_request() -> None:
    """Do nothing: the consumer ends such a run by leaving."""


async def continue_approved_run(principal: Principal, row: ToolApproval) -> Run:
    """Start the run that makes the approved call first and then continues with the question.

    It follows the answer that asked, on its branch. Raises the errors of `start_run`.
    """
    options = await run_front_call(_build_options, row)
    return await start_run(
        principal,
        row.message.session_id,
        row.question,
        scope=read_stored_scope(row.scope),
        language=row.language,
        options=options,
        allowed_call=AllowedCall(row.pk, row.tool, row.arguments),
    )


def _build_options(row: ToolApproval) -> Options:
    profile = AgentProfile.objects.filter(name=row.profile).first() if row.profile else None
    return Options(
        profile_id=str(profile.pk) if profile else "", follows=row.message_id, tables=read_stored_tables(row.scope)
    )
