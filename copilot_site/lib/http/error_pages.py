"""Errors a person can act on, as pages; as JSON for the scripts of our pages and for programs."""

import sys
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django.views.csrf import csrf_failure
from django.views.defaults import page_not_found

from copilot_site.lib.errors import Unavailable, find_http_status, translate_error
from copilot_site.lib.http.request_ids import ensure_request_id

PROGRAMS = ("/api/", "/v1/", "/mcp")
"""Where programs ask: what is refused there is never a page."""
OPENAI = "/v1/"  # … and in the form of OpenAI's API


class NothingIsKept(MiddlewareMixin):
    """Forbids browsers and proxies to cache answers: they may hold text that the reader may not see tomorrow. Static files are
    served before this."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store"
        return response


class ErrorPages(MiddlewareMixin):
    """Answers what a view raises with one clear sentence; other errors are bugs and stay Django's to log.

    Synchronous and innermost, so that the whole chain is one call in the request's thread. Otherwise Django would change threads twice for
    each middleware, and each change waits for a busy interpreter.
    """

    async_capable = False

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        error = translate_error(error)
        status = find_http_status(error)
        return None if status is None else _answer_error(request, status, error)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer as Django's `handler500`, for errors outside of views, such as a database lost between two middlewares."""
    error = sys.exc_info()[1]
    ours = translate_error(error) if isinstance(error, Exception) else None
    if isinstance(ours, Unavailable):
        return _answer_error(request, HTTPStatus.SERVICE_UNAVAILABLE, ours)
    sentence = _(
        "Something went wrong on our side. Try again in a moment; if it happens again, tell your administrator."
    )
    return render_bare_error(request, HTTPStatus.INTERNAL_SERVER_ERROR, sentence)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer as Django's `handler400`, for requests refused before a view, such as a foreign host name or too large a form."""
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        sentence = _("This is more than one request may carry. Send less, or in several parts.")
    else:
        status, sentence = HTTPStatus.BAD_REQUEST, _("The request is not valid.")
    if _is_for_programs(request):
        return _build_problem_document(request, status, sentence)
    context = {"sentence": sentence, "request_id": ensure_request_id(request)}
    return HttpResponse(render_to_string("400.html", context), status=status)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer as Django's `handler404`, with a problem document for programs."""
    if f"{request.path_info}/".startswith(PROGRAMS):
        return _build_problem_document(request, HTTPStatus.NOT_FOUND, _("There is no such address."))
    return page_not_found(request, exception)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer as Django's `CSRF_FAILURE_VIEW`: a script of a page whose cookies are gone is told that nobody is signed in."""
    if request.user.is_anonymous and not request.accepts("text/html"):
        return render_error_page(request, HTTPStatus.UNAUTHORIZED, _("Nobody is signed in."))
    return csrf_failure(request, reason)


def render_error_page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """Return the page (or, where HTML is not accepted, the JSON) for an error. sentence: what is wrong, for people."""
    if request.path_info.startswith(PROGRAMS):
        return _build_problem_document(request, status, sentence)
    if not request.accepts("text/html"):
        return JsonResponse({"status": status, "detail": sentence}, status=status)
    template = f"{status}.html" if status in {403, 404} else "400.html"
    return render(request, template, {"sentence": sentence}, status=status)


def render_bare_error(
    request: HttpRequest, status: int, sentence: str, *, retry_after_s: int | None = None
) -> HttpResponse:
    """Return a page, or a problem document for programs, made without the database and the user.

    retry_after_s: seconds until a retry may succeed; a requested page retries by itself.
    """
    if _is_for_programs(request):
        answer = _build_problem_document(request, status, sentence)
    else:
        template = "500.html" if retry_after_s is None else "503.html"
        context = {"sentence": sentence, "request_id": ensure_request_id(request)}
        answer = HttpResponse(render_to_string(template, context), status=status)
        if retry_after_s is not None and request.method == "GET":
            answer["Refresh"] = str(retry_after_s)
    if retry_after_s is not None:
        answer["Retry-After"] = str(retry_after_s)
    answer["Cache-Control"] = "no-store"
    return answer


def _is_for_programs(request: HttpRequest) -> bool:
    return request.path_info.startswith(PROGRAMS) or not request.accepts("text/html")


def _build_problem_document(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    code = {400: "invalid", 404: "not_found", 413: "too_large", 429: "too_many", 503: "unavailable"}.get(
        status, "failed"
    )
    if f"{request.path_info}/".startswith(OPENAI):
        return JsonResponse(build_openai_error(sentence, code), status=status)
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": sentence}
    return JsonResponse(body | {"code": code}, status=status, content_type="application/problem+json")


def build_openai_error(sentence: str, code: str) -> dict[str, Any]:
    """Return an error in OpenAI's form, with our sentence."""
    return {"error": {"message": sentence, "type": code, "code": code, "param": None}}


def _answer_error(request: HttpRequest, status: int, error: Exception) -> HttpResponse:
    if isinstance(error, Unavailable):
        return render_bare_error(request, status, str(error), retry_after_s=error.retry_after_s)
    return render_error_page(request, status, str(error))
