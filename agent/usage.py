"""Remaining spend of a person on language models: of their day, and of the month of each of their org units.

A run is counted at its end, in the database, so that all processes see the same. Runs that are answered at the same
time may together spend more than was left.
"""

from dataclasses import replace
from decimal import Decimal

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F, QuerySet, Sum
from django.utils import timezone

from agent import texts
from agent.budget import Budget, Spent
from agent.models import DayOfUse, UnitBudget
from agent.models.language_models import find_month_start

NEARLY_USED = 0.8  # the share of a month's budget from which the administration warns


class UsedUp(Exception):
    """Nothing is left. unit: whose month it is; None for the person's own day."""

    def __init__(self, unit: str | None = None) -> None:
        super().__init__(unit or "day")
        self.unit = unit

    @property
    def sentence(self) -> str:
        """Return the sentence for the person, in the language of the moment."""
        return str(texts.DAY_IS_SPENT) if self.unit is None else str(texts.MONTH_IS_SPENT) % {"unit": self.unit}


def cut_to_remaining_budget(budget: Budget, user_id: int) -> Budget:
    """Return a run's budget, cut to what is left of this person's day and of their units' months. Raises UsedUp."""
    if (left := _compute_left_of_day(user_id)) is not None:
        budget = _limit_budget(budget, cost=left)
    for row in _select_unit_budgets(user_id).select_related("unit"):
        tokens, cost = row.used
        budget = _limit_budget(
            budget,
            tokens=None if row.tokens is None else row.tokens - tokens,
            cost=None if row.cost is None else row.cost - cost,
            unit=row.unit.name,
        )
    return budget


def add_run_usage(user_id: int, spent: Spent) -> None:
    """Add a run to its person's day and to the month of their units. Call it in the transaction that ends the run."""
    today = DayOfUse.objects.filter(user_id=user_id, day=timezone.localdate())
    more = {
        "runs": F("runs") + 1,
        "input_tokens": F("input_tokens") + spent.input_tokens,
        "output_tokens": F("output_tokens") + spent.output_tokens,
        "cost": F("cost") + spent.cost,
    }
    if not today.update(**more):
        DayOfUse.objects.get_or_create(user_id=user_id, day=timezone.localdate())
        today.update(**more)
    for row in (
        _select_unit_budgets(user_id).select_for_update(of=("self",)).order_by("pk")
    ):  # in one order: no deadlock
        tokens, cost = row.used
        row.month, row.used_tokens, row.used_cost = find_month_start(), tokens + spent.tokens, cost + spent.cost
        row.save(update_fields=["month", "used_tokens", "used_cost"])


def initialise_budget_use(row: UnitBudget) -> None:
    """Set a new budget's use to what its people have used this month."""
    people = User.objects.filter(groups__org_unit__ancestor_links__ancestor=row.unit_id)
    used = DayOfUse.objects.filter(user__in=people, day__gte=find_month_start()).aggregate(
        tokens=Sum(F("input_tokens") + F("output_tokens")), cost=Sum("cost")
    )
    row.month, row.used_tokens, row.used_cost = find_month_start(), used["tokens"] or 0, used["cost"] or Decimal(0)


def count_nearly_used_budgets() -> int:
    """Return how many budgets of units are used up this month, or nearly."""
    return sum(row.share >= NEARLY_USED for row in UnitBudget.objects.filter(month=find_month_start()))


def _select_unit_budgets(user_id: int) -> QuerySet[UnitBudget]:
    own = UnitBudget.objects.filter(unit__descendant_links__descendant__group__user=user_id)
    return UnitBudget.objects.filter(pk__in=own.values("pk"))


def _limit_budget(
    budget: Budget, *, cost: Decimal | None, tokens: int | None = None, unit: str | None = None
) -> Budget:
    if (cost is not None and cost <= 0) or (tokens is not None and tokens <= 0):
        raise UsedUp(unit)
    costs = [item for item in (budget.cost, cost) if item is not None]
    return replace(
        budget,
        cost=min(costs) if costs else None,
        tokens=budget.tokens if tokens is None else min(budget.tokens, tokens),
    )


def _compute_left_of_day(user_id: int) -> Decimal | None:
    """Return this person's remaining budget of today; None where there is no limit."""
    most: Decimal | None = settings.LLM["day_cost"]
    if most is None:
        return None
    today = DayOfUse.objects.filter(user_id=user_id, day=timezone.localdate()).first()
    return most - today.cost if today else most
