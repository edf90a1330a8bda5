"""What a file holds and nobody could read: told on the document's page, in the report of an import and by the API."""

from collections.abc import Mapping

from knowledge.parsers.hidden import gettext_noop

LOSSES = {
    "charts": (gettext_noop("%(count)d chart drawn as a picture"), gettext_noop("%(count)d charts drawn as pictures")),
    "formulas": (gettext_noop("%(count)d formula without a value"), gettext_noop("%(count)d formulas without values")),
    "equations": (gettext_noop("%(count)d equation"), gettext_noop("%(count)d equations")),
    "objects": (gettext_noop("%(count)d embedded file"), gettext_noop("%(count)d embedded files")),
    "vertical": (gettext_noop("%(count)d page of vertical text"), gettext_noop("%(count)d pages of vertical text")),
    "pages": (gettext_noop("%(count)d damaged page"), gettext_noop("%(count)d damaged pages")),
}
"""By their stored key: one of them, and several. Pictures are counted by themselves (`DocumentVersion.bare_pictures`)."""


def counted(losses: Mapping[str, int]) -> dict[str, int]:
    """Leave out what is not there. Raises KeyError for a kind that is not in LOSSES."""
    return {kind: count for kind, count in losses.items() if count and LOSSES[kind]}
