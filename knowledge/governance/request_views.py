"""Requests for access: made from a refusal, decided by whoever manages the folder, followed by the requester."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from authz.models import RequestState
from authz.pages import require_sign_in
from authz.principal import Principal
from copilot_site.lib.http.forms import show_problem_as_message, validate_form
from knowledge.governance.changes import compute_end_of_day
from knowledge.models import Folder
from knowledge.selectors import discoverable_folders
from knowledge.services.access_requests import (
    find_nameable_folders,
    grant_request,
    list_own_requests,
    list_requestable_folders,
    list_requests_to_decide,
    list_waiting_requests,
    mark_decisions_read,
    refuse_request,
    request_access,
)

PAGE_SIZE = 50


@require_safe
@require_sign_in
def access_requests(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the requests that this person decides about."""
    page = Paginator(list_requests_to_decide(principal), PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "knowledge/decide_requests.html", {"page": page})


class DecisionForm(forms.Form):
    """until: the last day of what is granted."""

    decision = forms.CharField(required=False)
    until = forms.DateField(
        required=False, error_messages={"invalid": gettext_lazy("Give the last day as a date like 2027-12-31.")}
    )
    answer = forms.CharField(required=False)


@require_POST
@require_sign_in
def decide(request: HttpRequest, principal: Principal, request_id: int) -> HttpResponseBase:
    with show_problem_as_message(request):
        given = validate_form(DecisionForm(request.POST))
        answer = given["answer"]
        if given["decision"] == "grant":
            until = given["until"]
            grant_request(
                principal, request_id=request_id, ends_at=compute_end_of_day(until) if until else None, answer=answer
            )
            messages.success(request, _("Granted. It takes effect now."))
        else:
            refuse_request(principal, request_id=request_id, answer=answer)
            messages.success(request, _("Refused. The person who asked sees your answer."))
    return redirect("access-requests")


@require_safe
@require_sign_in
def my_requests(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the person's requests and their state; `?folder=` opens the form for a folder that can be requested now."""
    asked = list_own_requests(principal)
    named, folders = find_nameable_folders(principal), {asking.folder_id for asking in asked}
    visible = set(Folder.objects.visible_to(principal).filter(pk__in=folders).values_list("pk", flat=True))
    context = {
        "asked": [(item, item.folder_id in named, item.folder_id in visible) for item in asked],
        "folder": _find_requested_folder(request, principal),
        "askable": list_requestable_folders(principal),
        "waiting": list_waiting_requests(principal).count(),
    }
    mark_decisions_read(principal)
    return render(request, "knowledge/requests.html", context)


class ReasonForm(forms.Form):
    reason = forms.CharField(required=False)


@require_POST
@require_sign_in
def ask_for_access(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponseBase:
    with show_problem_as_message(request):
        request_access(principal, folder_id=folder_id, **validate_form(ReasonForm(request.POST)))
        messages.success(request, _("Your request was sent to the folder's managers. Their answer appears here."))
    return redirect("my-requests")


def _find_requested_folder(request: HttpRequest, principal: Principal) -> Folder | None:
    waiting = list_own_requests(principal).filter(state=RequestState.OPEN).values("folder")
    try:
        folders = discoverable_folders(principal).exclude(pk__in=waiting)
        return folders.filter(pk=UUID(request.GET.get("folder", ""))).first()
    except ValueError:
        return None
