"""Lists for typeahead: of the palette by names and by texts, and of places beside the question."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agent.palette.finding import find_admin_actions, find_passages, search_palette
from agent.palette.places import find_places
from authz.pages import require_sign_in
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.embedding.base import EmbeddingError

MAX_CHARACTERS = 200


def _read_search_words(request: HttpRequest) -> str:
    return request.GET.get("q", "").strip()[:MAX_CHARACTERS]


@require_safe
@require_sign_in
def palette(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the matches for `?q=` as a fragment."""
    words = _read_search_words(request)
    context = {
        "found": search_palette(principal, request.user, words, further=find_admin_actions(request, words)),
        "words": words,
    }
    return render(request, "agent/palette/_found.html", context)


@require_safe
@require_sign_in
def passages(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the passages that hold the words of `?q=`, as a fragment; an empty one where texts cannot be searched now."""
    try:
        found = find_passages(principal, _read_search_words(request))
    except (InvalidInput, EmbeddingError):
        found = []
    return render(request, "agent/palette/_passages.html", {"passages": found})


@require_safe
@require_sign_in
def places(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the places for `?q=` that a question can be limited to, as a fragment."""
    return render(
        request, "agent/palette/_places.html", {"places": find_places(principal, _read_search_words(request))}
    )
