"""Lists for typeahead: of the palette by names and by texts, and of places beside the question."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agent.palette.finding import find, find_passages, further_actions
from agent.palette.places import find_places
from authz.pages import signed_in
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.embedding.base import EmbeddingError

MAX_CHARACTERS = 200


def _words(request: HttpRequest) -> str:
    return request.GET.get("q", "").strip()[:MAX_CHARACTERS]


@require_safe
@signed_in
def palette(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the matches for `?q=` as a fragment."""
    words = _words(request)
    context = {"found": find(principal, request.user, words, further=further_actions(request, words)), "words": words}
    return render(request, "agent/palette/_found.html", context)


@require_safe
@signed_in
def passages(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the passages that hold the words of `?q=`, as a fragment; an empty one where texts cannot be searched now."""
    try:
        found = find_passages(principal, _words(request))
    except (InvalidInput, EmbeddingError):
        found = []
    return render(request, "agent/palette/_passages.html", {"passages": found})


@require_safe
@signed_in
def places(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the places for `?q=` that a question can be limited to, as a fragment."""
    return render(request, "agent/palette/_places.html", {"places": find_places(principal, _words(request))})
