"""Actions on a conversation: name, organise, share and export it, download its files."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from agent.conversations.forms import OrganiseForm
from agent.conversations.presentation.message import ShownCitation
from agent.conversations.sessions import download_made_file, get_session, list_branch_messages, update_session
from agent.conversations.sharing import end_share, read_share, share_conversation
from agent.conversations.transcripts.export import export_conversation
from agent.privacy import load_privacy_settings
from authz.pages import require_sign_in
from authz.principal import Principal
from copilot_site.lib.http.forms import validate_form
from copilot_site.lib.storage.files import DownloadResponse


@require_safe
@require_sign_in
def who_sees(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """Show who can see conversations, and for how long they are kept."""
    context = {"settings": load_privacy_settings(), "attachment_days": settings.ATTACHMENT_DAYS}
    return render(request, "agent/who_sees.html", context)


@require_POST
@require_sign_in
def change(request: HttpRequest, principal: Principal, session_id: UUID) -> HttpResponseBase:
    """Change name, label, pin and archive as given, and redirect back."""
    form = OrganiseForm(request.POST)
    given = {name: value for name, value in validate_form(form).items() if name in request.POST}
    update_session(principal, session_id, **given)
    if given.get("is_archived"):
        messages.success(request, _("The conversation is in the archive. “All conversations, and search” leads there."))
    elif "is_archived" in given:
        messages.success(request, _("The conversation is out of the archive."))
    if given.get("label"):
        messages.success(request, _("The conversation is filed under “%(label)s”.") % {"label": given["label"].strip()})
    return redirect(_find_safe_return_url(request) or reverse("conversation", args=[session_id]))


@require_POST
@require_sign_in
def share_it(_request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID) -> HttpResponseBase:
    shared = share_conversation(principal, session_id, message_id)
    return redirect("shared", shared.pk)


@require_POST
@require_sign_in
def unshare(request: HttpRequest, principal: Principal, session_id: UUID, share_id: UUID) -> HttpResponseBase:
    end_share(principal, session_id, share_id)
    messages.success(request, _("Nobody else can read the conversation now."))
    return redirect("conversation", session_id)


@require_safe
@require_sign_in
def shared(request: HttpRequest, principal: Principal, share_id: UUID) -> HttpResponseBase:
    """Show a shared conversation, as this person may read it now."""
    found, shown = read_share(principal, share_id)
    context = {
        "share": found,
        "shown": shown,
        "is_own": found.session.user_id == principal.user_id,
        "address": request.build_absolute_uri(),
        "is_shared": True,
    }
    return render(request, "agent/shared.html", context)


@require_safe
@require_sign_in
def export_it(
    request: HttpRequest, principal: Principal, session_id: UUID, message_id: UUID, form: str
) -> HttpResponseBase:
    """Return the branch of a message as a file."""
    session = get_session(principal, session_id)
    shown = list_branch_messages(principal, session, through=message_id)
    body, media_type = export_conversation(principal, session, shown, form, address_of=_make_address_builder(request))
    name = slugify(session.title, allow_unicode=True)[:60] or "conversation"
    disposition = f"attachment; filename=\"conversation.{form}\"; filename*=UTF-8''{quote(name)}.{form}"
    return HttpResponse(body, content_type=media_type, headers={"Content-Disposition": disposition})


def _make_address_builder(request: HttpRequest) -> Callable[[ShownCitation], str]:
    def address_of(citation: ShownCitation) -> str:
        return request.build_absolute_uri(reverse("document", args=[citation.passage.document_id]))

    return address_of


def _find_safe_return_url(request: HttpRequest) -> str:
    """Return the page that the form names, where it is on this site."""
    asked: Any = request.POST.get("next", "")
    return asked if url_has_allowed_host_and_scheme(asked, allowed_hosts=None) else ""


@require_safe
@require_sign_in
def file_download(_request: HttpRequest, principal: Principal, session_id: UUID, file_id: UUID) -> HttpResponseBase:
    """Return a script's file as a download, never displayed by the browser."""
    found = download_made_file(principal, session_id, file_id)
    return DownloadResponse(bytes(found.content), found.name)
