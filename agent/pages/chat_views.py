"""The chat page. The answer itself comes over the socket; these views show stored messages."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import close_old_connections, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agent.conversations.attachments import list_unsent_attachments
from agent.conversations.branches import MessageTree
from agent.conversations.feedback import list_shared_ratings, rate_answer, read_shared_questions, record_source_opened
from agent.conversations.first_page import build_start_page
from agent.conversations.forms import AboutForm, FeedbackForm
from agent.conversations.presentation.details import build_answer_details
from agent.conversations.presentation.message import ShownMessage
from agent.conversations.presentation.steps import summarise_steps
from agent.conversations.sessions import (
    MAX_LABEL,
    create_session,
    delete_session,
    get_answer,
    get_session,
    list_session_labels,
    read_messages,
    search_sessions,
)
from agent.models import MessageRole, Session
from agent.oversight.gaps import USUAL_DAYS, list_gaps_for_keeper, record_questions_read
from agent.palette.places import list_scope_places
from agent.privacy import mark_views_seen, visible_views
from agent.profile_choice import list_assistants
from agent.profiles.kept_scope import read_stored_scope, read_stored_tables
from agent.runs.report import build_run_report
from agent.runs.start import QUESTION_LENGTH, continue_approved_run
from agent.tools.approvals import decide_approval
from authz.pages import require_sign_in
from authz.principal import Principal
from authz.rights.governing import may_oversee
from business.sources.grants import managed_sources
from copilot_site.lib.http.forms import validate_form
from knowledge.library import describe_accepted_files, is_place_manager
from knowledge.services.attachments import are_attachments_allowed

PAGE_SIZE = 50  # conversations or questions
MAX_VIEWS = 3  # of a conversation that are shown, the latest


def build_message_address(session_id: UUID, message_id: UUID) -> str:
    """Return the address of a message, on its branch."""
    return f"{reverse('conversation-at', args=[session_id, message_id])}#m-{message_id}"


Suggest = Callable[[Principal], Sequence[str]]


@require_safe
@require_sign_in
def chat(
    request: HttpRequest,
    principal: Principal,
    session_id: UUID | None = None,
    message_id: UUID | None = None,
    suggest: Suggest | None = None,
) -> HttpResponseBase:
    """Show a conversation, or the start page of a new one. message_id: show its branch.

    suggest: suggested questions for the start page.
    """
    session = get_session(principal, session_id) if session_id else None
    shown = load_conversation_branch(principal, session, through=message_id) if session else []
    if session:
        mark_views_seen(principal, session)
    language = get_language() or "en"
    suggested = suggest(principal) if suggest and not shown else ()
    context = {
        "shown": shown,
        **_build_menu_context(principal, session, shown),
        "first": None if shown else build_start_page(principal, request.user, language, suggested=suggested),
        "attachments": list_unsent_attachments(principal, session) if session else (),
        "accepted": describe_accepted_files() if are_attachments_allowed() else None,
        "views": visible_views(principal).filter(session=session)[:MAX_VIEWS] if session else (),
        "places": list_scope_places(principal, read_stored_scope(session.scope), read_stored_tables(session.scope))
        if session
        else (),
        "question_length": QUESTION_LENGTH,
        "assistants": list_assistants(principal, language),
        **_build_message_context(principal),
    }
    return render(request, "agent/chat.html", context)


@require_safe
@require_sign_in
def conversations(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List the person's conversations.

    `?q=`: with these words in title or questions; `?label=`: with this label; `?archived=1`: archived ones.
    """
    words = request.GET.get("q", "").strip()[:QUESTION_LENGTH]
    label, is_archived = request.GET.get("label", "").strip()[:MAX_LABEL], request.GET.get("archived") == "1"
    found = search_sessions(principal, words, label=label, is_archived=is_archived)
    chosen = {"q": words, "label": label, "archived": "1" if is_archived else ""}
    context = {
        "page": Paginator(found, PAGE_SIZE).get_page(request.GET.get("page")),
        "words": words,
        "label": label,
        "labels": list_session_labels(principal),
        "is_archived": is_archived,
        "chosen": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "agent/conversations.html", context)


@require_safe
@require_sign_in
def kept_questions(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List questions for the keeper of documents: those that found nothing, and those shared with them."""
    page = Paginator(list_shared_ratings(principal), PAGE_SIZE).get_page(request.GET.get("page"))
    missing = list_gaps_for_keeper(principal, USUAL_DAYS)[:PAGE_SIZE]
    record_questions_read(principal, missing, **{"as": "keeper"})
    context = {"page": page, "questions": read_shared_questions(principal, list(page.object_list)), "missing": missing}
    return render(request, "agent/kept_questions.html", context)


@require_POST
@require_sign_in
def begin(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show a new conversation, created with its first question; or its page, to begin with a document or a folder."""
    about = validate_form(AboutForm(request.POST))
    session = create_session(principal, **about)
    if any(about.values()):
        return redirect("conversation", session.pk)
    return JsonResponse({"id": str(session.pk), "url": reverse("conversation", args=[session.pk])}, status=201)


@require_safe
@require_sign_in
def message(request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID) -> HttpResponseBase:
    """Return an answer as HTML with its question, to replace the typed and streamed text, and the updated menu."""
    session = get_session(principal, session_id)
    turn = load_conversation_turn(principal, session, message_id)
    context = {"turn": turn, **_build_menu_context(principal, session, turn), **_build_message_context(principal)}
    return render(request, "agent/_turn.html", context)


def _build_message_context(principal: Principal) -> dict[str, object]:
    """Return context for message templates: sources that this person corrects, and whether they can verify answers."""
    return {
        "corrects": SimpleLazyObject(lambda: managed_sources(principal)),
        "verifies": SimpleLazyObject(lambda: is_place_manager(principal)),
    }


def _build_menu_context(
    principal: Principal, session: Session | None, shown: Sequence[ShownMessage]
) -> dict[str, object]:
    """Return the context of a conversation's menu; its last answer is the one shared and exported."""
    return {
        "session": session,
        "last": next(
            (item for item in reversed(shown) if item.role == MessageRole.ASSISTANT and item.is_complete), None
        ),
        "labels": list_session_labels(principal) if session else (),
        "shares": session.shares.order_by("-created_at") if session else (),
    }


@require_safe
@require_sign_in
def run(request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID) -> HttpResponseBase:
    """Show how one of their answers was made; technical figures only for those who may oversee."""
    session = get_session(principal, session_id)
    answer = get_answer(session, message_id)
    context = {
        "session": session,
        "report": build_run_report(principal.in_conversation(session.pk), answer),
        "steps": summarise_steps(answer.state),
        "sees_figures": may_oversee(request.user),
    }
    return render(request, "agent/run.html", context)


@require_POST
@require_sign_in
def feedback(request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID) -> HttpResponseBase:
    """Store the person's feedback on an answer, and redirect to it."""
    given = validate_form(FeedbackForm(request.POST))
    rate_answer(principal, session_id=session_id, message_id=message_id, **given)
    return redirect(build_message_address(session_id, message_id))


@require_POST
@require_sign_in
def opened(_request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID) -> HttpResponseBase:
    """Store that a source below the first was opened, which tells those who tune the search."""
    record_source_opened(principal, session_id=session_id, message_id=message_id)
    return HttpResponse(status=204)


@require_POST
@require_sign_in
def delete(request: HttpRequest, principal: Principal, session_id: UUID) -> HttpResponseBase:
    delete_session(principal, session_id)
    messages.success(request, _("The conversation is deleted."))
    return redirect("chat")


@require_POST
@require_sign_in
def approval(request: HttpRequest, principal: Principal, approval_id: UUID) -> HttpResponseBase:
    """Approve the call and continue with the question, or reject it.

    Redirect to the conversation, which shows the answer as it comes.
    """
    is_allowed = request.POST.get("decision") == "allow"
    row = decide_approval(principal, approval_id, is_allowed=is_allowed)
    if is_allowed:
        if not connection.in_atomic_block:
            close_old_connections()
        async_to_sync(continue_approved_run)(principal, row)
    return redirect(f"{reverse('conversation', args=[row.message.session_id])}#m-{row.message_id}")


def load_conversation_branch(
    principal: Principal, session: Session, *, through: UUID | None = None
) -> list[ShownMessage]:
    """Return one branch of the conversation in order, under today's rights, audited as `read_messages` does.

    The branch is the most recent one through the given message. Raises NotFound.
    """
    tree = MessageTree.of(session.pk)
    return _prepare_messages(principal, session, tree, tree.path(through))


def load_conversation_turn(principal: Principal, session: Session, message_id: UUID) -> list[ShownMessage]:
    """Return a message after its parent. Raises NotFound."""
    tree = MessageTree.of(session.pk)
    return _prepare_messages(principal, session, tree, tree.up_to(message_id)[-2:])


def _prepare_messages(
    principal: Principal, session: Session, tree: MessageTree, ids: Sequence[UUID]
) -> list[ShownMessage]:
    rows = list(session.messages.filter(pk__in=ids).prefetch_related("citations", "queries", "pages"))
    shown = read_messages(principal, session, rows)
    beside = build_answer_details(principal, shown, rows)
    return [replace(item, around=beside.get(item.id), branches=tree.branches(item.id)) for item in shown]
