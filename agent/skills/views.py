"""The files that scripts made, for whoever asked."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from agent.skills.files import made_file
from authz.pages import signed_in
from authz.principal import Principal


@require_GET
@signed_in
def download(_request: HttpRequest, principal: Principal, session_id: UUID, file_id: UUID) -> HttpResponseBase:
    """As an attachment of no type: no browser shows what a script wrote."""
    found = made_file(principal, session_id, file_id)
    header = content_disposition_header(as_attachment=True, filename=found.name) or "attachment"
    return HttpResponse(
        bytes(found.content), content_type="application/octet-stream", headers={"Content-Disposition": header}
    )
