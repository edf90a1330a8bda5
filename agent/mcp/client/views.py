"""The person's word on a call that waits for it."""

from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import close_old_connections, connection
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from agent.mcp.client.approvals import decide, go_on
from authz.pages import signed_in
from authz.principal import Principal


@require_POST
@signed_in
def approval(request: HttpRequest, principal: Principal, approval_id: UUID) -> HttpResponseBase:
    """Allow the call, and go on with the question; or not. Back to the conversation, which shows the answer as it comes."""
    is_allowed = request.POST.get("decision") == "allow"
    row = decide(principal, approval_id, is_allowed=is_allowed)
    if is_allowed:
        if not connection.in_atomic_block:
            close_old_connections()
        async_to_sync(go_on)(principal, row)
    return redirect(f"{reverse('conversation', args=[row.message.session_id])}#m-{row.message_id}")
