"""Pages of past answers: a list without the questions, and the audited replay of one answer."""

from uuid import UUID

from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.conversations.sessions import cited_documents
from agent.models import QuestionSet
from agent.oversight.answer_filter import AnswerFilter
from agent.oversight.dry_run import looking
from agent.oversight.replay import answers, get_answer, replay, snapshot_id
from agent.privacy import note_view
from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page, show
from authz.principal import Principal
from authz.rights.governing import require_oversight
from authz.rights.snapshot import take_snapshot

PAGE_SIZE = 50


@require_safe
@admin_page
def answer_list(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List answers.

    `?user=` is a username, `?run=` the id of a run, as in the audit log; for the rest see AnswerFilter.
    """
    require_oversight(request.user)
    chosen = AnswerFilter(request.GET)
    page = Paginator(chosen.narrow(answers().defer("content", "sentences")), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    lines = [(row, _seconds(row.duration_ms)) for row in page.object_list]
    context = {
        "title": _("Answers that were given"),
        "page": page,
        "page_query": chosen.query,
        "lines": lines,
        "form": chosen,
    }
    return show(request, "admin/oversight/answers.html", context)


@require_safe
@admin_page
def replay_answer(request: HttpRequest, principal: Principal, message_id: UUID) -> HttpResponseBase:
    """Show the answer as it was, and the answer that the same person would get now."""
    require_oversight(request.user)
    with transaction.atomic():
        message = get_answer(message_id)
        asker = Principal.of(message.session.user)
        then_and_now = {"perm_snapshot_id": snapshot_id(message), "documents": cited_documents([message.pk])}
        if not asker.is_nobody:  # taken before writing is refused: their rights may have changed
            then_and_now["perm_snapshot_id_now"] = take_snapshot(asker)
        record(
            principal,
            Action.ANSWER_REPLAYED,
            message.session,
            run_id=str(message.pk),
            detail=then_and_now,
            on_behalf_of=asker,
        )
        noted = note_view(principal, message.session)
    with looking(principal, on_behalf_of=asker) as withheld:
        found = replay(principal, get_answer(message_id), language=get_language() or "en", withheld=withheld)
        sets = QuestionSet.objects.all()
        context = {"title": _("Replay of an answer"), "replay": found, "sets": sets, "noted": noted}
        return show(request, "admin/oversight/replay.html", context)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
