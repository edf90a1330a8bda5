"""The files that scripts made, for whoever asked."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from agent.skills.files import made_file
from agent.skills.models import MadeFile
from authz.pages import signed_in
from authz.principal import Principal


@require_GET
@signed_in
def download(_request: HttpRequest, principal: Principal, session_id: UUID, file_id: UUID) -> HttpResponseBase:
    return as_attachment(made_file(principal, session_id, file_id))


def as_attachment(file: MadeFile) -> HttpResponse:
    """Of no type: no browser shows what a script wrote."""
    header = content_disposition_header(as_attachment=True, filename=file.name) or "attachment"
    return HttpResponse(
        bytes(file.content), content_type="application/octet-stream", headers={"Content-Disposition": header}
    )
