"""A verified answer in a run, and the sources that depend on it."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.utils.translation import gettext as _

from business.results.visibility import Queried
from knowledge.selectors import ShownPassage

PROVIDER = "verified"  # of an answer given word for word as verified
SOURCE = "verified answer"  # no data source has this name: theirs have no spaces


@dataclass(frozen=True)
class VerifiedPassage:
    """A passage cited by a verified answer; start, end: the span, 0 for the whole passage."""

    passage: ShownPassage
    start: int
    end: int


@dataclass(frozen=True)
class VerifiedMatch:
    """A verified text for a question. is_same: the question has verified wording; else it is only similar.

    by: "" for a person who is gone. data_sources: names of those that it cites.
    """

    answer_id: UUID
    question: str
    text: str
    by: str
    on: date
    is_same: bool
    cited: tuple[VerifiedPassage, ...] = ()
    data_sources: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Return who verified it and when, in the active language."""
        values = {"name": self.by or _("a former colleague"), "day": self.on.isoformat(), "question": self.question}
        if self.is_same:
            return _("Verified by %(name)s on %(day)s.") % values
        return _("Verified by %(name)s on %(day)s, for the question “%(question)s”") % values


def make_verified_source(answer_id: UUID) -> Queried:
    """Return the source key of a verified answer, for the check of rights before it is shown."""
    return Queried.of_tables(SOURCE, [str(answer_id)])
