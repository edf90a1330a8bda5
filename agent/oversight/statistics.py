"""Endings, durations and costs of questions: numbers only, never a question or a name."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Aggregate, Count, DecimalField, FloatField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, TruncDate
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agent.events import StopReason
from agent.models import DayOfUse, Message
from agent.oversight.replay import list_all_answers
from agent.passages.answer import KIND

SLOW_MS = 10_000  # longer waits lose the person's attention
DAYS = 14  # in the chart: two weeks show a rhythm

PASSAGES = Q(stop_reason=StopReason.OK, state__contains={"output": {"kind": KIND}})
# endings as people count them: name → filter of its answers, and its label
ENDINGS: Mapping[str, Q] = {
    "answered": Q(stop_reason=StopReason.OK) & ~Q(state__contains={"output": {"kind": KIND}}),
    "passages": PASSAGES,
    "nothing": Q(stop_reason__in=[StopReason.NO_EVIDENCE, StopReason.PERMISSION_DENIED]),
    "other": Q(
        stop_reason__in=[
            StopReason.NEED_CLARIFY, StopReason.TOOL_ERROR, StopReason.CANCELLED, StopReason.BUDGET_EXHAUSTED,
            StopReason.REFUSED,
        ]
    ),
}  # fmt: skip
ENDING_WORDS: Mapping[str, Promise] = {
    "answered": _("answered"),
    "passages": _("best match shown"),
    "nothing": _("nothing found"),
    "other": _("other ends"),
}


class Percentile(Aggregate):
    """PostgreSQL's continuous percentile. fraction: 0 to 1."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(fraction)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()

    def __init__(self, expression: str, fraction: float) -> None:
        super().__init__(expression, fraction=fraction)


@dataclass(frozen=True)
class Day:
    """Questions of one day (in the site's time zone). counts: number per ending. slow: took SLOW_MS or longer."""

    day: date
    counts: dict[str, int]
    slow: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def cells(self) -> list[tuple[str, int]]:
        """Return the counts in the order of ENDINGS."""
        return [(name, self.counts[name]) for name in ENDINGS]


@dataclass(frozen=True)
class Speed:
    """Durations of the period's answers, in seconds; None for no answers."""

    median_s: float | None
    p95_s: float | None
    slow: int


@dataclass(frozen=True)
class Costs:
    """In the currency of the models' prices. by_unit, by_model: (name, "" for none; cost), highest first.

    most_today: of one person.

    limit: per person and day; None for no limit. at_limit: number of people who reached it today.
    """

    total: Decimal
    by_unit: tuple[tuple[str, Decimal], ...]
    by_model: tuple[tuple[str, Decimal], ...]
    limit: Decimal | None
    most_today: Decimal
    at_limit: int


def first_day_of_period(days: int = DAYS) -> date:
    """Return the first day of a period of so many days, today included."""
    return timezone.localdate() - timedelta(days=days - 1)


def list_answers_since(day: date) -> QuerySet[Message]:
    begin = timezone.make_aware(datetime.combine(day, datetime.min.time()))
    return list_all_answers().filter(created_at__gte=begin, is_complete=True)


def count_questions_by_day(days: int = DAYS) -> list[Day]:
    """Return each day of the period, including days without a question; the latest last."""
    first = first_day_of_period(days)
    slow = Count("pk", filter=Q(duration_ms__gte=SLOW_MS))
    counted: dict[str, Any] = {name: Count("pk", filter=ending) for name, ending in ENDINGS.items()}
    found = list_answers_since(first).order_by().annotate(day=TruncDate("created_at")).values("day")
    by_day = {row["day"]: row for row in found.annotate(**counted, slow=slow)}
    every = [first + timedelta(days=past) for past in range(days)]
    return [_make_day(item, by_day.get(item, {})) for item in every]


def _make_day(day: date, row: Mapping[str, Any]) -> Day:
    return Day(day, {name: row.get(name, 0) for name in ENDINGS}, row.get("slow", 0))


def compute_speed(days: int = DAYS) -> Speed:
    row = (
        list_answers_since(first_day_of_period(days))
        .order_by()
        .aggregate(
            median=Percentile("duration_ms", 0.5),
            p95=Percentile("duration_ms", 0.95),
            slow=Count("pk", filter=Q(duration_ms__gte=SLOW_MS)),
        )
    )
    median, p95 = (None if row[name] is None else row[name] / 1000 for name in ("median", "p95"))
    return Speed(median, p95, row["slow"])


def compute_costs(days: int = DAYS) -> Costs:
    """Return the costs of a period.

    A person in several units counts in each. By model: of stored conversations only.
    """
    used = DayOfUse.objects.filter(day__gte=first_day_of_period(days)).order_by()
    today = used.filter(day=timezone.localdate())
    limit: Decimal | None = settings.LLM["day_cost"]
    most = today.order_by("-cost").values_list("cost", flat=True).first()
    return Costs(
        total=used.aggregate(cost=Sum("cost"))["cost"] or Decimal(0),
        by_unit=_sort_by_cost(_sum_costs_by_unit(used)),
        by_model=_sort_by_cost(_sum_costs_by_model(days)),
        limit=limit,
        most_today=most or Decimal(0),
        at_limit=0 if limit is None else today.filter(cost__gte=limit).count(),
    )


def _sum_costs_by_unit(used: QuerySet[DayOfUse]) -> dict[str, Decimal]:
    named = used.filter(user__groups__org_unit__isnull=False).values_list("user__groups__org_unit__name")
    found: dict[str, Decimal] = dict(named.annotate(cost=Sum("cost")))
    members = used.filter(user__groups__org_unit__isnull=False).values("user_id")
    nowhere = used.exclude(user_id__in=members).aggregate(cost=Sum("cost"))["cost"]
    return {**found, "": nowhere or Decimal(0)}


def _sum_costs_by_model(days: int) -> dict[str, Decimal]:
    spent = Cast(KT("state__spent__cost"), DecimalField(max_digits=16, decimal_places=6))
    rows = list_answers_since(first_day_of_period(days)).order_by().filter(state__spent__has_key="cost")
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for name, cost in rows.annotate(by=KT("state__versions__model")).values_list("by").annotate(cost=Sum(spent)):
        found[name or ""] += cost or Decimal(0)
    return found


def _sort_by_cost(found: Mapping[str, Decimal]) -> tuple[tuple[str, Decimal], ...]:
    return tuple(sorted(((name, cost) for name, cost in found.items() if cost), key=lambda row: (-row[1], row[0])))
