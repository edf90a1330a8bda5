"""The month's budget of an org unit: what is left of it, when it is used up, and for whom."""

from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from agent.budget import Budget, Spent
from agent.models import UnitBudget
from agent.usage import UsedUp, add_run_usage, cut_to_remaining_budget
from audit.actions import Action
from audit.models import Entry
from authz.models import OrgUnit
from authz.people.units import add_member, create_unit
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, asked, stored, words
from tests.integration.agent.modelled import THIRTY, modelled
from tests.integration.governance.world import client_of, staff, text_of
from tests.modelserver import says

pytestmark = pytest.mark.django_db
PAGE = "admin:agent_unitbudget_changelist"
WIDE = Budget(tokens=80_000, cost=None)


def run_of(tokens: int, cost: str = "0") -> Spent:
    return Spent(input_tokens=tokens - 1, output_tokens=1, cost=Decimal(cost))


def budgeted(unit: OrgUnit, **limits: Any) -> User:
    """Give a unit a budget as the administration does, and return its keeper."""
    keeper = staff("kim")
    keeper.user_permissions.set(Permission.objects.filter(content_type__model="unitbudget"))
    page = client_of(keeper).post(reverse("admin:agent_unitbudget_add"), {"unit": unit.pk, **limits})
    assert page.status_code == 302, text_of(page)
    return keeper


@pytest.fixture
def sales() -> OrgUnit:
    return create_unit(None, name="Sales")


@pytest.fixture
def seller(sales: OrgUnit) -> User:
    """A person in a unit below Sales."""
    user = make_user("seller")
    add_member(None, create_unit(None, name="Sales Rotterdam", parent=sales), user=user)
    return user


@time_machine.travel("2026-11-20T10:00:00Z", tick=False)
def test_below_the_budget_runs_get_what_is_left_at_it_nobody_of_the_unit_does(sales: OrgUnit, seller: User) -> None:
    colleague, other = make_user(), make_user()
    add_member(None, sales, user=colleague)
    add_member(None, create_unit(None, name="Engineering"), user=other)
    add_run_usage(colleague.pk, run_of(400, "1.5"))  # this month, before there is a budget
    keeper = budgeted(sales, tokens=1_000, cost="2.00")
    assert cut_to_remaining_budget(WIDE, seller.pk) == Budget(tokens=600, cost=Decimal("0.5"))
    assert cut_to_remaining_budget(Budget(tokens=100, cost=Decimal("0.25")), seller.pk) == Budget(
        tokens=100, cost=Decimal("0.25")
    )
    add_run_usage(seller.pk, run_of(599, "0.25"))
    assert cut_to_remaining_budget(WIDE, colleague.pk) == Budget(tokens=1, cost=Decimal("0.25"))
    assert "1 unit has used 80 %" in text_of(client_of(keeper).get(reverse("admin:index")))
    add_run_usage(seller.pk, run_of(1))
    for user in (seller, colleague):
        with pytest.raises(UsedUp, match="Sales"):
            cut_to_remaining_budget(WIDE, user.pk)
    assert cut_to_remaining_budget(WIDE, other.pk) == WIDE
    add_run_usage(seller.pk, run_of(2_000))  # was being answered when the budget ran out
    with pytest.raises(UsedUp):
        cut_to_remaining_budget(WIDE, seller.pk)
    assert "300 %: 3,000 tokens, cost 1.75" in text_of(client_of(keeper).get(reverse(PAGE)))


def test_money_alone_may_be_the_limit(sales: OrgUnit, seller: User) -> None:
    budgeted(sales, cost="2.00")
    add_run_usage(seller.pk, run_of(1_000_000, "1.999999"))
    assert cut_to_remaining_budget(WIDE, seller.pk) == Budget(tokens=80_000, cost=Decimal("0.000001"))
    add_run_usage(seller.pk, run_of(10, "0.000001"))
    with pytest.raises(UsedUp):
        cut_to_remaining_budget(WIDE, seller.pk)


def test_a_new_month_begins_with_the_whole_budget(sales: OrgUnit, seller: User) -> None:
    with time_machine.travel("2026-11-30T10:00:00Z", tick=False):
        keeper = budgeted(sales, tokens=1_000)
        add_run_usage(seller.pk, run_of(1_000))
        with pytest.raises(UsedUp):
            cut_to_remaining_budget(WIDE, seller.pk)
    with time_machine.travel("2026-12-01T10:00:00Z", tick=False):
        assert cut_to_remaining_budget(WIDE, seller.pk).tokens == 1_000
        assert "has used 80 %" not in text_of(client_of(keeper).get(reverse("admin:index")))
        add_run_usage(seller.pk, run_of(10))
        assert cut_to_remaining_budget(WIDE, seller.pk).tokens == 990


def test_when_the_budget_is_used_up_the_answer_says_so_and_quotes_documents(reader: User, sales: OrgUnit) -> None:
    budgeted(sales, tokens=50_000)
    add_member(None, sales, user=reader)
    with modelled(says(THIRTY)) as server:
        asked(reader, LEAVE)
    assert server.requests
    used = UnitBudget.objects.get().used_tokens
    assert used > 0
    add_run_usage(reader.pk, run_of(50_000 - used))
    with modelled() as server:
        events = asked(reader, LEAVE)
    assert server.requests == []
    assert stored(events).notice.startswith("This month's language model budget of “Sales” is used up")
    assert "30 days" in words(events)


def test_a_budget_needs_a_limit_and_its_changes_are_recorded(sales: OrgUnit) -> None:
    keeper = budgeted(sales, tokens=1_000)
    row = UnitBudget.objects.get()
    page = reverse("admin:agent_unitbudget_change", args=[row.pk])
    client_of(keeper).post(page, {"cost": "3"})
    row.refresh_from_db()
    assert (row.tokens, row.cost) == (None, Decimal(3))
    assert "Set a limit" in text_of(client_of(keeper).post(page, {}))
    seen = Entry.objects.filter(action=Action.AGENT_CHANGED).order_by("pk").values_list("detail", flat=True)
    assert [entry["fields"] for entry in seen] == [["unit", "tokens"], ["tokens", "cost"]]
