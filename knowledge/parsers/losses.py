"""Unreadable parts of files, for the document's page, the report of an import and the API."""

from collections.abc import Mapping

PICTURES = "pictures"
"""Counted by `DocumentVersion.unread_pictures`, never by a parser."""


def ngettext_noop(one: str, several: str) -> tuple[str, str]:
    """Mark a sentence for the catalogue of translations; Django stays out of the parsing process."""
    return one, several


LOSSES = {
    PICTURES: ngettext_noop("%(count)d picture", "%(count)d pictures"),
    "charts": ngettext_noop("%(count)d chart drawn as a picture", "%(count)d charts drawn as pictures"),
    "formulas": ngettext_noop("%(count)d formula without a value", "%(count)d formulas without values"),
    "equations": ngettext_noop("%(count)d equation", "%(count)d equations"),
    "objects": ngettext_noop("%(count)d embedded file", "%(count)d embedded files"),
    "vertical": ngettext_noop("%(count)d page of vertical text", "%(count)d pages of vertical text"),
    "pages": ngettext_noop("%(count)d damaged page", "%(count)d damaged pages"),
}
"""By their stored key: one of them, and several."""


def filter_losses(losses: Mapping[str, int]) -> dict[str, int]:
    """Return the counts above zero. Raises KeyError for a kind that is not in LOSSES."""
    return {kind: count for kind, count in losses.items() if count and LOSSES[kind]}
