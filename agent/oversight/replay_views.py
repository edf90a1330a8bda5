"""Pages of past answers: a list without the questions, and the audited replay of one answer."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django import forms
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.conversations.sessions import list_cited_document_ids
from agent.models import Message, QuestionSet
from agent.oversight.dry_run import open_read_only_review
from agent.oversight.replay import build_replay, get_answer, list_all_answers, snapshot_id_of
from agent.oversight.statistics import ENDING_WORDS, ENDINGS, SLOW_MS, first_day_of_period, list_answers_since
from agent.privacy import record_conversation_view
from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import require_oversight
from authz.rights.snapshot import take_snapshot

PAGE_SIZE = 50


ANY = ("", gettext_lazy("all"))


def _list_ending_choices() -> list[tuple[str, Any]]:
    return [ANY, *((name, capfirst(str(word))) for name, word in ENDING_WORDS.items())]


class AnswerFilter(forms.Form):
    """An invalid value filters nothing, except an invalid run id, which matches no answer."""

    user = forms.CharField(label=gettext_lazy("Person"), required=False)
    run = forms.CharField(label=gettext_lazy("Run"), required=False)
    day = forms.DateField(
        label=gettext_lazy("Day"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    days = forms.IntegerField(required=False, min_value=1, max_value=366, widget=forms.HiddenInput)
    ending = forms.ChoiceField(label=gettext_lazy("How it ended"), required=False, choices=_list_ending_choices)
    slow = forms.BooleanField(label=gettext_lazy("slow ones only"), required=False)

    def narrow(self, rows: QuerySet[Message]) -> QuerySet[Message]:
        given = self._read_filters()
        if user := given.get("user"):
            rows = rows.filter(session__user__username=user)
        if run := given.get("run"):
            rows = rows.filter(pk__in=_parse_uuids(run))
        if day := given.get("day"):
            rows = rows.filter(created_at__date=day)
        if days := given.get("days"):
            rows = rows.filter(pk__in=list_answers_since(first_day_of_period(days)).order_by().values("pk"))
        if ending := given.get("ending"):
            rows = rows.filter(ENDINGS[ending])
        return rows.filter(duration_ms__gte=SLOW_MS) if given.get("slow") else rows

    @property
    def query(self) -> str:
        """Return the query string for links within this list."""
        given = {name: "on" if value is True else value for name, value in self._read_filters().items() if value}
        return f"&{urlencode(given)}" if given else ""

    def _read_filters(self) -> dict[str, Any]:
        self.is_valid()
        return self.cleaned_data


def _parse_uuids(text: str) -> list[UUID]:
    """Return a list with the id; empty for an invalid one, which matches nothing."""
    with suppress(ValueError):
        return [UUID(text)]
    return []


@require_safe
@admin_page
def answer_list(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List answers.

    `?user=` is a username, `?run=` the id of a run, as in the audit log; for the rest see AnswerFilter.
    """
    require_oversight(request.user)
    chosen = AnswerFilter(request.GET)
    page = Paginator(chosen.narrow(list_all_answers().defer("content", "sentences")), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    lines = [(row, _convert_to_seconds(row.duration_ms)) for row in page.object_list]
    context = {
        "title": _("Answers that were given"),
        "page": page,
        "page_query": chosen.query,
        "lines": lines,
        "form": chosen,
    }
    return render_admin_page(request, "admin/oversight/answers.html", context)


@require_safe
@admin_page
def replay_answer(request: HttpRequest, principal: Principal, message_id: UUID) -> HttpResponseBase:
    """Show the answer as it was, and the answer that the same person would get now."""
    require_oversight(request.user)
    with transaction.atomic():
        message = get_answer(message_id)
        asker = Principal.of(message.session.user)
        then_and_now = {"perm_snapshot_id": snapshot_id_of(message), "documents": list_cited_document_ids([message.pk])}
        if not asker.is_nobody:  # taken before writing is refused: their rights may have changed
            then_and_now["perm_snapshot_id_now"] = take_snapshot(asker)
        record_action(
            principal,
            Action.ANSWER_REPLAYED,
            message.session,
            run_id=str(message.pk),
            detail=then_and_now,
            on_behalf_of=asker,
        )
        noted = record_conversation_view(principal, message.session)
    with open_read_only_review(principal, on_behalf_of=asker) as withheld:
        found = build_replay(principal, get_answer(message_id), language=get_language() or "en", withheld=withheld)
        sets = QuestionSet.objects.all()
        context = {"title": _("Replay of an answer"), "replay": found, "sets": sets, "noted": noted}
        return render_admin_page(request, "admin/oversight/replay.html", context)


def _convert_to_seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
