"""A verified answer as a run holds it, and what stands on it."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.utils.translation import gettext as _

from business.results.visibility import Queried
from knowledge.selectors import ShownPassage

PROVIDER = "verified"  # of an answer that is told as it was verified
SOURCE = "verified answer"  # no data source has this name: theirs have no spaces


@dataclass(frozen=True)
class Cited:
    """A passage that a verified answer stands on; start, end: the span, 0 for all of it."""

    passage: ShownPassage
    start: int
    end: int


@dataclass(frozen=True)
class VerifiedMatch:
    """A verified text for a question. is_same: it was asked in words that were verified; else it answers a question near to it.

    by: "" for a person who is gone. data_sources: names of those that it cites.
    """

    answer_id: UUID
    question: str
    text: str
    by: str
    on: date
    is_same: bool
    cited: tuple[Cited, ...] = ()
    data_sources: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Return who verified it and when, in the language of the moment."""
        said = {"name": self.by or _("a former colleague"), "day": self.on.isoformat(), "question": self.question}
        if self.is_same:
            return _("Verified by %(name)s on %(day)s.") % said
        return _("Verified by %(name)s on %(day)s, for the question “%(question)s”") % said


def standing_on(answer_id: UUID) -> Queried:
    """Return what stands on a verified answer, for whoever looks at its rights before showing it."""
    return Queried.of_tables(SOURCE, [str(answer_id)])
