"""Content gaps: questions that documents did not answer, grouped by topic, without the askers' names."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from agent.events import StopReason
from agent.models import Message
from agent.oversight.replay import question_of
from agent.oversight.statistics import answered_since, ended_as, first_day
from knowledge.text.terms import document_terms

MOST = 500  # latest answers considered
ALIKE = 0.5  # shared fraction of all terms from which on two questions are grouped
DECLINED = ended_as("passages") & Q(
    state__contains={"output": {"is_declined": True}}
)  # a model found no answer in what it read
UNANSWERED = ended_as("nothing") | DECLINED


@dataclass
class Gap:
    """Similar questions. question: the latest. answers: ids of the answers, the latest first."""

    question: str
    terms: frozenset[int]
    last_at: datetime
    answers: list[UUID] = field(default_factory=list)
    people: set[int] = field(default_factory=set)
    declined: int = 0

    @property
    def count(self) -> int:
        return len(self.answers)

    def is_alike(self, terms: frozenset[int]) -> bool:
        return len(self.terms & terms) >= ALIKE * len(self.terms | terms)


def unanswered(days: int) -> int:
    """Return the number of unanswered questions of the last days."""
    return answered_since(first_day(days)).filter(UNANSWERED).count()


def gaps(days: int) -> list[Gap]:
    """Group the latest MOST unanswered questions; sorted by number of askers, then by number and time of questions."""
    rows = answered_since(first_day(days)).filter(UNANSWERED).only("state", "stop_reason", "created_at", "session")
    found: list[Gap] = []
    for message, question in _asked(list(rows[:MOST])):
        terms = frozenset(document_terms(question))
        gap = next((each for each in found if each.is_alike(terms)), None)
        if gap is None:
            gap = Gap(question, terms, message.created_at)
            found.append(gap)
        gap.answers.append(message.pk)
        gap.people.add(message.session.user_id)
        gap.declined += message.stop_reason == StopReason.OK
    return sorted(found, key=lambda gap: (len(gap.people), gap.count, gap.last_at), reverse=True)


def _asked(rows: list[Message]) -> Iterator[tuple[Message, str]]:
    for message in rows:
        question = question_of(message).strip()
        if question:
            yield message, question
