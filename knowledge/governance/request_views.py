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
from authz.pages import signed_in
from authz.principal import Principal
from copilot_site.lib.http.forms import checked, problem_shown
from knowledge.governance.changes import end_of
from knowledge.models import Folder
from knowledge.selectors import discoverable_folders
from knowledge.services.access_requests import (
    askable,
    grant_request,
    mark_decisions_read,
    named_folders,
    refuse_request,
    request_access,
    requests_for,
    requests_of,
    waiting_requests,
)

PAGE_SIZE = 50


@require_safe
@signed_in
def access_requests(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the requests that this person decides about."""
    page = Paginator(requests_for(principal), PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "knowledge/decide_requests.html", {"page": page})


class DecisionForm(forms.Form):
    """until: the last day of what is granted."""

    decision = forms.CharField(required=False)
    until = forms.DateField(
        required=False, error_messages={"invalid": gettext_lazy("Give the last day as a date like 2027-12-31.")}
    )
    answer = forms.CharField(required=False)


@require_POST
@signed_in
def decide(request: HttpRequest, principal: Principal, request_id: int) -> HttpResponseBase:
    with problem_shown(request):
        given = checked(DecisionForm(request.POST))
        answer = given["answer"]
        if given["decision"] == "grant":
            until = given["until"]
            grant_request(principal, request_id=request_id, ends_at=end_of(until) if until else None, answer=answer)
            messages.success(request, _("Granted. It takes effect now."))
        else:
            refuse_request(principal, request_id=request_id, answer=answer)
            messages.success(request, _("Refused. The person who asked sees your answer."))
    return redirect("access-requests")


@require_safe
@signed_in
def my_requests(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the person's requests and their state; `?folder=` opens the form for a folder that can be requested now."""
    asked = requests_of(principal)
    named, folders = named_folders(principal), {asking.folder_id for asking in asked}
    visible = set(Folder.objects.visible_to(principal).filter(pk__in=folders).values_list("pk", flat=True))
    context = {
        "asked": [(item, item.folder_id in named, item.folder_id in visible) for item in asked],
        "folder": _asked_folder(request, principal),
        "askable": askable(principal),
        "waiting": waiting_requests(principal).count(),
    }
    mark_decisions_read(principal)
    return render(request, "knowledge/requests.html", context)


class ReasonForm(forms.Form):
    reason = forms.CharField(required=False)


@require_POST
@signed_in
def ask_for_access(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponseBase:
    with problem_shown(request):
        request_access(principal, folder_id=folder_id, **checked(ReasonForm(request.POST)))
        messages.success(request, _("Your request was sent to the folder's managers. Their answer appears here."))
    return redirect("my-requests")


def _asked_folder(request: HttpRequest, principal: Principal) -> Folder | None:
    waiting = requests_of(principal).filter(state=RequestState.OPEN).values("folder")
    try:
        folders = discoverable_folders(principal).exclude(pk__in=waiting)
        return folders.filter(pk=UUID(request.GET.get("folder", ""))).first()
    except ValueError:
        return None
