"""Errors a person can act on, as pages; as JSON for the scripts of our pages."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from copilot_site.lib.errors import as_ours, status_of


class NothingIsKept(MiddlewareMixin):
    """No browser and no proxy keeps an answer: it may hold text of documents that its reader may not see tomorrow. Static files are
    served before this."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store"
        return response


class ErrorPages(MiddlewareMixin):
    """Answers what a view raises with one clear sentence; other errors are bugs and stay Django's to log."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        error = as_ours(error)
        status = status_of(error)
        return None if status is None else error_page(request, status, str(error))


def error_page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """The page (or, where HTML is not accepted, the JSON) for an error. sentence: what is wrong, for people."""
    if not request.accepts("text/html"):
        return JsonResponse({"status": status, "detail": sentence}, status=status)
    template = f"{status}.html" if status in {403, 404} else "400.html"
    return render(request, template, {"sentence": sentence}, status=status)
