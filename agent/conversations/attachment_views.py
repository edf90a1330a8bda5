"""Files of a conversation on its page: attached, followed while they are processed, removed, filed into a folder."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agent.conversations.attachments import (
    attach_to_conversation,
    copy_attachment_to_folder,
    get_attachment,
    list_unsent_attachments,
    remove_from_draft_question,
)
from agent.conversations.forms import AttachForm, FileIntoForm
from agent.conversations.presentation.attachments import ReadingProgress
from agent.conversations.sessions import get_session
from agent.models import Session
from authz.pages import require_sign_in
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.http.forms import validate_form
from knowledge.documents.places import find_fillable_folders

MAX_FOLDERS = 50  # offered at once; words find the others
MAX_CHARACTERS = 200


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def attachments(request: HttpRequest, principal: Principal, session_id: UUID) -> HttpResponseBase:
    """Show the files not yet asked about, and those that `id` names, as chips; POST attaches one (`file`)."""
    session = get_session(principal, session_id)
    if request.method != "POST":
        return _render_attachment_chips(request, principal, session, also=request.GET.getlist("id"))
    file = validate_form(AttachForm(request.POST, request.FILES))["file"]
    made = str(attach_to_conversation(principal, session_id, filename=file.name or "", file=file).document.pk)
    return _render_attachment_chips(request, principal, session, also=[*request.POST.getlist("id"), made], id=made)


@require_POST
@require_sign_in
def remove(request: HttpRequest, principal: Principal, session_id: UUID, document_id: UUID) -> HttpResponseBase:
    remove_from_draft_question(principal, session_id, document_id)
    return _render_attachment_chips(
        request, principal, get_session(principal, session_id), also=request.POST.getlist("id")
    )


def _render_attachment_chips(
    request: HttpRequest, principal: Principal, session: Session, *, also: Sequence[str], **made: str
) -> JsonResponse:
    found = list_unsent_attachments(principal, session, also=also)
    html = render_to_string("agent/_attachments.html", {"attachments": found, "session_id": session.pk}, request)
    is_reading = any(item.reading is ReadingProgress.GOES_ON for item in found)
    return JsonResponse({"html": html, "is_reading": is_reading, **made}, status=201 if made else 200)


@require_safe
@require_sign_in
def where_to_file(request: HttpRequest, principal: Principal, session_id: UUID, document_id: UUID) -> HttpResponseBase:
    """Show the folders that a file can be filed into; `?q=`: filter by name."""
    words = request.GET.get("q", "").strip()[:MAX_CHARACTERS]
    document = get_attachment(principal, session_id, document_id)
    context = {
        "session": get_session(principal, session_id),
        "document": document,
        "words": words,
        "folders": find_fillable_folders(principal, words, most=MAX_FOLDERS),
        "most": MAX_FOLDERS,
    }
    return render(request, "agent/file_into.html", context)


@require_POST
@require_sign_in
def file_it(request: HttpRequest, principal: Principal, session_id: UUID, document_id: UUID) -> HttpResponseBase:
    """Add a copy to the folder and redirect to it."""
    folder_id = validate_form(FileIntoForm(request.POST))["folder"]
    try:
        upload = copy_attachment_to_folder(principal, session_id, document_id, folder_id=folder_id)
    except InvalidInput as problem:
        messages.error(request, str(problem))
        return redirect(reverse("attachment-where", args=[session_id, document_id]))
    messages.success(request, _("“%(name)s” is filed.") % {"name": upload.document.filename})
    return redirect("folder", upload.document.folder_id)
