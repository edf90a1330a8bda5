"""Actions on a result on the chat page: download it, run it again, correct it."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agent.query_results.results import (
    ResultPlace,
    correct_statement,
    export_result,
    find_cited_result,
    rerun_statement,
)
from authz.pages import require_sign_in
from authz.principal import Principal
from business.sources.grants import require_manager
from business.sources.services import open_source
from copilot_site.lib.errors import CopilotError, NotFound
from copilot_site.lib.text.spreadsheets import CsvDownload

SQL_LENGTH = 8_000


class Correction(forms.Form):
    sql = forms.CharField(
        label=gettext_lazy("SQL"),
        max_length=SQL_LENGTH,
        widget=forms.Textarea(
            attrs={"rows": 12, "spellcheck": "false", "autocapitalize": "off", "aria-describedby": "sql-error sql-help"}
        ),
        help_text=gettext_lazy(
            "One SELECT over the tables below. Rows of other units are filtered out; at most 50 rows are shown."
        ),
    )


@require_safe
@require_sign_in
def download(
    _request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID, number: int
) -> HttpResponseBase:
    """Return the kept rows as CSV."""
    rows, filename = export_result(principal, ResultPlace(session_id, message_id, number))
    return CsvDownload(rows, filename=filename)


@require_POST
@require_sign_in
def again(request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID, number: int) -> HttpResponse:
    """Run the same query and redirect to the conversation, at the new answer or with the error."""
    try:
        answer_id = rerun_statement(principal, ResultPlace(session_id, message_id, number))
    except NotFound:
        raise
    except CopilotError as error:
        messages.error(request, str(error))
        return redirect("conversation", session_id)
    return _redirect_to_answer(session_id, answer_id)


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def correction(
    request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID, number: int
) -> HttpResponse:
    """Show the query in a form; a statement that passes guard and sandbox becomes the verified answer to its question."""
    place = ResultPlace(session_id, message_id, number)
    source, kept = find_cited_result(principal, place)
    opened = open_source(principal, source)
    require_manager(principal, opened.source)
    form = Correction(request.POST if request.method == "POST" else None, initial={"sql": kept.statement})
    if form.is_valid():
        try:
            return _redirect_to_answer(session_id, correct_statement(principal, place, sql=form.cleaned_data["sql"]))
        except NotFound:
            raise
        except CopilotError as error:
            form.add_error("sql", str(error))
    context = {
        "form": form,
        "session_id": session_id,
        "message_id": message_id,
        "question": kept.question,
        "source": source,
        "models": opened.layer.semantic_models,
        "title": _("Correct the answer"),
    }
    return render(request, "agent/correct.html", context, status=400 if form.errors else 200)


def _redirect_to_answer(session_id: UUID, answer_id: UUID) -> HttpResponse:
    return redirect(f"{reverse('conversation-at', args=[session_id, answer_id])}#m-{answer_id}")
