"""Every address the site answers, read from the URLconf, with the methods each one knows."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.views import APIView

METHODS = ("get", "post", "put", "patch", "delete")
# patterns that are regular expressions, as people would write them
PLAIN = {
    "admin/^(?P<app_label>": "admin/<app_label>/",
    "admin/(?P<url>": "admin/<url>",
}


class Route(NamedTuple):
    """path: as in the URLconf, without converters: `documents/<document_id>/`."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method.upper():<6} /{self.path}"

    @property
    def names(self) -> list[str]:
        """The parameters of the path."""
        return re.findall(r"<(\w+)>", self.path)


@cache
def routes(urlconf: str | None = None) -> tuple[Route, ...]:
    """Each method of each address once, in the order of the URLconf. urlconf: another one than the site's."""
    walked = _walk(get_resolver(urlconf).url_patterns, "")
    found = (Route(method, path) for path, callback in walked for method in _methods(path, callback))
    return tuple(dict.fromkeys(found))


def _walk(patterns: Sequence[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            plain = next((text for start, text in PLAIN.items() if path.startswith(start)), path)
            yield re.sub(r"<\w+:(\w+)>", r"<\1>", plain), pattern.callback


def _methods(path: str, callback: Any) -> Sequence[str]:
    view = getattr(callback, "view_class", None)
    if actions := getattr(callback, "actions", None):  # of a set of views
        return [name for name in METHODS if name in actions]
    if view is None:
        return _allowed(path)
    known = METHODS if issubclass(view, APIView) else ("get", "post")
    return [name for name in known if hasattr(view, name)] or ["get"]


def _allowed(path: str) -> Sequence[str]:
    """What a function view says it answers when it is asked with a method that nobody knows; GET where it does not say."""
    address = "/" + re.sub(r"<(\w+)>", lambda found: _any_value(found[1]), path)
    answer = Client().generic("PROBE", address)
    allowed = answer.get("Allow", "") if answer.status_code == 405 else ""
    return [name for name in METHODS if name.upper() in allowed.split(", ")] or ["get"]


def _any_value(name: str) -> str:
    uuids = {
        "session_id",
        "message_id",
        "share_id",
        "folder_id",
        "base_id",
        "document_id",
        "chunk_id",
        "place_id",
        "source_id",
        "saved_id",
        "kept_id",
        "bot_id",
        "entity_id",
        "approval_id",
        "set_id",
        "skill_id",
        "file_id",
        "verified_id",
    }
    if name == "kind":
        return "folder"
    return "00000000-0000-0000-0000-000000000000" if name in uuids else "1"
