"""Answers of services: pages of a list, tokens that end, and JSON taken apart without trust in its shape."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from copilot_site.lib.text.json_input import load_answer_json
from knowledge.sources.base import Unreadable
from knowledge.sources.http import SourceResponse, strip_url_query

LEEWAY_S = 300  # before a token ends
Place = TypeVar("Place")
Page = TypeVar("Page")


def build_answer_error(url: str, service: str) -> Unreadable:
    """Return the error for an answer that this kind of service does not give."""
    return Unreadable(
        _("%(url)s does not answer as %(service)s does.") % {"url": strip_url_query(url), "service": service}
    )


def read_json(answer: SourceResponse, service: str) -> Any:
    """Return an object or a list. Raises Unreadable for anything else."""
    try:
        reply = load_answer_json(answer.body)
    except ValueError:
        reply = None
    if not isinstance(reply, dict | list):
        raise build_answer_error(answer.url, service)
    return reply


def read_json_object(answer: SourceResponse, service: str) -> dict[str, Any]:
    """Return an object. Raises Unreadable for anything else."""
    reply = read_json(answer, service)
    if not isinstance(reply, dict):
        raise build_answer_error(answer.url, service)
    return reply


def iterate_pages(
    ask: Callable[[Place], Page], first: Place, following: Callable[[Page], Place | None]
) -> Iterator[Page]:
    """Yield page after page of a list, until none follows or one names itself again. following: the place after an answer."""
    place: Place | None = first
    while place:
        answer = ask(place)
        yield answer
        before, place = place, following(answer)
        if place == before:
            return


def find_nested_value(reply: Any, *names: str) -> Any:
    """Return the value at the end of these names; None where one of them is not there."""
    for name in names:
        reply = reply.get(name) if isinstance(reply, dict) else None
    return reply


def list_nested_objects(reply: Any, *names: str) -> list[dict[str, Any]]:
    """Return the objects of a list at the end of these names; empty where there is none."""
    found = find_nested_value(reply, *names)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


class ExpiringToken:
    """Sign requests with a token that ends. take: asks for one; returns it with its seconds."""

    def __init__(self, take: Callable[[], tuple[str, Any]]) -> None:
        self._take, self._token, self._ends_at = take, "", 0.0

    def signed(self, _method: str, _url: str) -> Mapping[str, str]:
        """Return the header of a request, as `SourceClient` asks for it. Raises as `take` does."""
        if time.monotonic() > self._ends_at:
            self._token, seconds = self._take()
            self._ends_at = time.monotonic() + (int(seconds) if str(seconds).isdecimal() else 0) - LEEWAY_S
        return {"Authorization": f"Bearer {self._token}"}
