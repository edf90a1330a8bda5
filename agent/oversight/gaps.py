"""Questions without a good answer, grouped by topic, without the askers' names.

Two lists: nothing was found, for the people who write documents; and a document says it, but was not shown first, for
those who tune the search. Questions of few people are listed only if they shared them (`agent.privacy`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from uuid import UUID

from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import Lead
from django.utils.translation import gettext_lazy as _

from agent.events import StopReason
from agent.models import AnswerFault, Citation, Message, Rating
from agent.oversight.replay import find_stored_question
from agent.oversight.statistics import ENDINGS, first_day_of_period, list_answers_since
from agent.privacy import ENOUGH_PEOPLE, load_privacy_settings
from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Folder
from knowledge.text.terms import count_terms

USUAL_DAYS = 30
MAX = 500  # latest answers considered
ALIKE = 0.5  # shared fraction of all terms from which on two questions are grouped
REPHRASED = 1 / 3  # and from which on one person's next question within SOON is the same in other words
FAULTS = ("", AnswerFault.WRONG, AnswerFault.INCOMPLETE)  # of an answer; the others are of the document
SOON = timedelta(minutes=5)
DECLINED = ENDINGS["passages"] & Q(
    state__contains={"output": {"is_declined": True}}
)  # a model found no answer in what it read
UNANSWERED = ENDINGS["nothing"] | DECLINED


class Signal(models.TextChoices):
    """Signs that the first source was not the right one."""

    RATED_DOWN = "rated_down", _("did not help")
    OPENED_LOWER = "opened_lower", _("a lower source was opened")
    REPHRASED = "rephrased", _("asked again in other words, then answered")


@dataclass
class Gap:
    """Similar questions. question: the latest, or the latest that was shared. answers: their ids, the latest first."""

    question: str
    terms: frozenset[int]
    last_at: datetime
    answers: list[UUID] = field(default_factory=list)
    people: set[int] = field(default_factory=set)
    declined: int = 0
    signals: Counter[Signal] = field(default_factory=Counter)
    is_shared: bool = False

    @property
    def count(self) -> int:
        return len(self.answers)

    @property
    def signs(self) -> list[tuple[str, int]]:
        """Return what people did, in words, and how often."""
        return [(str(signal.label), n) for signal, n in self.signals.most_common()]

    def take(self, message: Message, question: str, signals: Iterable[Signal]) -> None:
        self.answers.append(message.pk)
        self.people.add(message.session.user_id)
        self.declined += message.stop_reason == StopReason.OK
        self.signals.update(signals)
        if message.is_shown_to_keepers and not self.is_shared:
            self.question, self.is_shared = question, True


@dataclass(frozen=True)
class Gaps:
    """Topics that may be shown, and the number of topics of too few people."""

    shown: list[Gap]
    withheld: int


def count_unanswered_questions(days: int) -> int:
    """Return the number of questions of the last days that found nothing, of the topics that may be shown."""
    return sum(gap.count for gap in list_unanswered_topics(days).shown)


def list_unanswered_topics(days: int) -> Gaps:
    """Group the latest MAX questions that found nothing; sorted by number of askers, then of questions, then by time."""
    return _group_by_topic(_select_unanswered(first_day_of_period(days)), lambda _message: ())


def list_misranked_topics(days: int) -> Gaps:
    """Group the latest MAX questions whose answer exists but was not shown first, in the same order."""
    first = first_day_of_period(days)
    again = _find_rephrased_answers(first)
    is_signalled = _filter_rated_down() | Q(opened_lower=True) | Q(pk__in=again)

    def signals(message: Message) -> Iterator[Signal]:
        if message.rating == Rating.NOT_HELPFUL and message.fault in FAULTS:
            yield Signal.RATED_DOWN
        if message.opened_lower:
            yield Signal.OPENED_LOWER
        if message.pk in again:
            yield Signal.REPHRASED

    return _group_by_topic(list_answers_since(first).filter(is_signalled), signals)


def list_gaps_for_keeper(principal: Principal, days: int) -> list[Gap]:
    """Return the topics without an answer that somebody asked who may read a folder of this keeper."""
    managed = Folder.objects.reachable_by(principal, Right.MANAGE)
    if not managed.exists():
        return []

    @cache
    def reads(user_id: int) -> bool:
        asker = Principal.of(User.objects.get(pk=user_id))
        return Folder.objects.visible_to(asker).filter(pk__in=managed.values("pk")).exists()

    return [gap for gap in list_unanswered_topics(days).shown if any(map(reads, gap.people))]


@transaction.atomic
def record_questions_read(principal: Principal, lines: list[Gap], **more: str) -> None:
    """Audit whose words are about to be shown; nothing for an empty list."""
    if lines:
        detail = {"answers": [str(gap.answers[0]) for gap in lines], **more}
        record_action(principal, Action.QUESTIONS_READ, detail=detail)


def _select_unanswered(first: date) -> QuerySet[Message]:
    return (
        list_answers_since(first).filter(UNANSWERED, opened_lower=False).exclude(pk__in=_find_rephrased_answers(first))
    )


def _filter_rated_down() -> Q:
    has_sources = Q(Exists(Citation.objects.filter(message=OuterRef("pk"))))
    return Q(rating=Rating.NOT_HELPFUL, fault__in=FAULTS) & has_sources & ~DECLINED


def _find_rephrased_answers(first: date) -> set[UUID]:
    """Return the answers after which the same person soon asked alike, in other words, and was answered."""

    def following(name: str) -> Window:
        in_order = [F("created_at").asc(), F("pk").asc()]
        return Window(Lead(name), partition_by=F("session__user_id"), order_by=in_order)

    rows = list_answers_since(first).order_by().annotate(then_at=following("created_at"), then_id=following("pk"))
    pairs = dict(rows.filter(then_at__lte=F("created_at") + SOON).values_list("pk", "then_id"))
    read = Message.objects.filter(pk__in={*pairs, *pairs.values()}).select_related("parent").defer("sentences")
    messages = {message.pk: message for message in read}
    return {pk for pk, then in pairs.items() if _is_rephrased(messages[pk], messages[then])}


def _is_rephrased(message: Message, then: Message) -> bool:
    before, after = (find_stored_question(item).strip() for item in (message, then))
    is_answered = then.stop_reason == StopReason.OK and not (then.state.get("output") or {}).get("is_declined")
    return (
        is_answered
        and before.casefold() != after.casefold()
        and _compute_similarity(_term_ids_of(before), _term_ids_of(after)) >= REPHRASED
    )


def _group_by_topic(rows: QuerySet[Message], signals: Callable[[Message], Iterable[Signal]]) -> Gaps:
    found: list[Gap] = []
    wanted = (
        "state",
        "stop_reason",
        "created_at",
        "session",
        "rating",
        "fault",
        "opened_lower",
        "is_shown_to_keepers",
        "parent",
    )
    for message in rows.select_related("session", "parent").only(*wanted, "session__user_id", "parent__content")[:MAX]:
        question = find_stored_question(message).strip()
        if not question:
            continue
        terms = _term_ids_of(question)
        gap = next((item for item in found if _compute_similarity(item.terms, terms) >= ALIKE), None)
        if gap is None:
            gap = Gap(question, terms, message.created_at)
            found.append(gap)
        gap.take(message, question, signals(message))
    found.sort(key=lambda gap: (len(gap.people), gap.count, gap.last_at), reverse=True)
    if load_privacy_settings().lists_every_question:
        return Gaps(found, 0)
    shown = [gap for gap in found if gap.is_shared or len(gap.people) >= ENOUGH_PEOPLE]
    return Gaps(shown, len(found) - len(shown))


def _term_ids_of(question: str) -> frozenset[int]:
    return frozenset(count_terms(question))


def _compute_similarity(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / (len(one | other) or 1)
