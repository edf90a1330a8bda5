"""Errors of the API as RFC 9457 problem details (`application/problem+json`)."""

from http import HTTPStatus
from typing import Any

from django.utils.encoding import force_str
from django.utils.translation import gettext as _
from rest_framework.exceptions import (
    APIException,
    ErrorDetail,
    MethodNotAllowed,
    NotAcceptable,
    NotAuthenticated,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from copilot_site.lib.errors import CopilotError, Unavailable, find_http_status, translate_error

CODES = {
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.FORBIDDEN: "permission_denied",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.BAD_REQUEST: "invalid",
    HTTPStatus.INSUFFICIENT_STORAGE: "storage_full",
    HTTPStatus.TOO_MANY_REQUESTS: "too_many",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
}


def build_problem(
    status: int, detail: str, *, code: str | None = None, errors: list[dict[str, str]] | None = None
) -> Response:
    """Return a problem document.

    detail: one sentence for people. code: one word for programs. errors: one entry per wrong field.
    """
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if code:
        body["code"] = code
    if errors:
        body["errors"] = errors
    return Response(body, status=status, content_type="application/problem+json")


def problem_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Handle exceptions of the API (EXCEPTION_HANDLER). None for unknown errors: bugs, which become a logged 500."""
    error = translate_error(error)
    if isinstance(error, CopilotError):
        return _convert_product_error(error)
    plain = exception_handler(error, context)
    if plain is None:
        return None
    if isinstance(error, ValidationError):
        errors = list(_flatten_errors(error.detail))
        answer = build_problem(plain.status_code, _format_first_error(errors[0]), code="invalid", errors=errors)
    else:
        detail = error.detail if isinstance(error, APIException) else HTTPStatus(plain.status_code).phrase
        code = detail.code if isinstance(detail, ErrorDetail) else None
        answer = build_problem(plain.status_code, _suggest_correction(error, context) or force_str(detail), code=code)
    for name in ("WWW-Authenticate", "Retry-After"):
        if name in plain:
            answer[name] = plain[name]
    return answer


def _suggest_correction(error: Exception, context: dict[str, Any]) -> str:
    """Return the sentence for requests that DRF refuses before a view; "" for other errors, which have their own."""
    view = context["view"]
    if isinstance(error, NotAuthenticated):
        return _("You are not signed in. Send a token from your tokens page as “Authorization: Bearer …”.")
    if isinstance(error, UnsupportedMediaType):
        read = ", ".join(parser.media_type for parser in view.parser_classes)
        sent = context["request"].content_type or "-"
        return _("“%(sent)s” is not accepted here. Send %(read)s.") % {"sent": sent, "read": read}
    if isinstance(error, NotAcceptable):
        given = ", ".join(renderer.media_type for renderer in view.renderer_classes)
        return _("This address returns %(given)s. Ask for that in Accept, or for nothing.") % {"given": given}
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(name for name in view.allowed_methods if name not in {"HEAD", "OPTIONS"})
        return _("%(method)s is not allowed here. Use %(allowed)s.") % {
            "method": context["request"].method,
            "allowed": allowed,
        }
    return ""


def _convert_product_error(error: CopilotError) -> Response | None:
    """Return the answer for an error of the product; its text is already the sentence."""
    status = find_http_status(error)
    if status is None:
        return None
    answer = build_problem(status, str(error), code=CODES[status])
    if isinstance(error, Unavailable):
        answer["Retry-After"] = str(error.retry_after_s)
    return answer


def _format_first_error(error: dict[str, str]) -> str:
    """Return the first invalid field and its error; errors of the whole input have no field."""
    named = error["field"] not in {"", api_settings.NON_FIELD_ERRORS_KEY}
    return f"{error['field']}: {error['detail']}" if named else error["detail"]


def _flatten_errors(detail: Any, field: str = "") -> Any:
    """Yield every message of a nested ValidationError as {"field": dotted path, "detail": sentence, "code": word}."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _flatten_errors(inner, f"{field}.{name}" if field else str(name))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _flatten_errors(inner, field)
    else:
        yield {"field": field, "detail": force_str(detail), "code": getattr(detail, "code", "invalid")}
