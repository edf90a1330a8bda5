"""Text from browsers: NUL, which no database or file name can hold, is refused before a view; invisible characters are shown."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from copilot_site.lib.http.error_pages import PROGRAMS, render_error_page

NUL = "\0"


class PlainText(MiddlewareMixin):
    """Refuses a NUL in an address, its query or a form. The API's serializers refuse it by themselves, and name the field.

    Behind the check of forged forms, which has read the form already.
    """

    def process_view(
        self, request: HttpRequest, _view: Callable[..., Any], _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        if NUL in request.path_info:
            return render_error_page(request, HTTPStatus.NOT_FOUND, _("There is no such page, or you cannot see it."))
        if request.path_info.startswith(PROGRAMS):
            return None
        if _has_nul(request.GET) or _has_nul(request.POST):
            sentence = _("The text contains a NUL character. Remove it and send it again.")
            return render_error_page(request, HTTPStatus.BAD_REQUEST, sentence)
        return None


def _has_nul(given: QueryDict) -> bool:
    return any(NUL in name or any(NUL in value for value in values) for name, values in given.lists())


def show_invisible_characters(text: str) -> str:
    """Show invisible characters by their numbers (`\\u200b`): people must see what they allow."""
    return "".join(item if item.isprintable() or item in "\n\t " else f"\\u{ord(item):04x}" for item in text)
