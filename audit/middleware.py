"""Record requests by signed-in people that were refused, on any page or address."""

from http import HTTPStatus

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from audit.actions import Action, Outcome
from audit.record import UserActor, record_action

REFUSED = {HTTPStatus.FORBIDDEN: "forbidden", HTTPStatus.NOT_FOUND: "missing or hidden"}


class RecordRefusals(MiddlewareMixin):
    """Record 403 and 404, after the roll-back of what was refused. Missing and hidden are one answer, and one entry."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        reason = REFUSED.get(HTTPStatus(response.status_code)) if response.status_code in REFUSED else None
        match = request.resolver_match
        user = getattr(request, "user", None)
        if reason and match and isinstance(user, User):
            asked = {
                name: str(value)[:64]
                for name, value in match.kwargs.items()
                if name.endswith(("id", "pk", "version", "page"))
            }
            detail = {
                "route": match.view_name,
                "method": request.method,
                "status": response.status_code,
                "asked": asked,
            }
            record_action(UserActor(user), Action.ACCESS_DENIED, outcome=Outcome.DENY, reason=reason, detail=detail)
        return response
