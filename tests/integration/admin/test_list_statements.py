"""The lists of the administration take as many statements for one row as for ten."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agent.models import DayOfUse, UnitBudget, VerifiedAnswer
from audit.actions import Action
from audit.record import record_action
from authz.people.units import add_member, create_unit
from knowledge.models import ParseStatus, Source
from tests.factories import make_base, make_document, make_folder, make_user, newest_version
from tests.integration.governance.world import client_of

pytestmark = pytest.mark.django_db


def more_people(number: int) -> None:
    add_member(None, create_unit(None, name=f"Unit {number}"), user=make_user())


def more_entries(number: int) -> None:
    record_action(None, Action.ORG_UNIT_CHANGED, make_user(), detail={"number": number})


def more_use(number: int) -> None:
    DayOfUse.objects.create(user=make_user(), day=timezone.localdate(), cost=Decimal(number))


def more_budgets(number: int) -> None:
    UnitBudget.objects.create(unit=create_unit(None, name=f"Unit {number}"), tokens=1, month=timezone.localdate())


def more_sources(number: int) -> None:
    Source.unscoped.create(name=f"source {number}", kind="web", folder=make_folder(make_base()))


def more_answers(number: int) -> None:
    folder = make_folder(make_base())
    VerifiedAnswer.unscoped.create(folder=folder, question=f"question {number}", text="text", verified_by=make_user())


def more_documents(number: int) -> None:
    make_document(make_base(), f"{number}.md")


@pytest.mark.parametrize(
    ("route", "add"),
    [
        ("admin:knowledge_document_changelist", more_documents),
        ("people", more_people),
        ("admin:authz_orgunit_changelist", more_people),
        ("admin:audit_entry_changelist", more_entries),
        ("admin:agent_dayofuse_changelist", more_use),
        ("admin:agent_unitbudget_changelist", more_budgets),
        ("sources-of-documents", more_sources),
        ("admin:agent_verifiedanswer_changelist", more_answers),
    ],
)
def test_a_list_takes_as_many_statements_for_one_row_as_for_ten(route: str, add: Callable[[int], None]) -> None:
    client = client_of(make_user("root", is_superuser=True))
    add(0)
    client.get(reverse(route))  # what is loaded once
    counts = []
    for numbers in (range(1, 2), range(2, 10)):
        for number in numbers:
            add(number)
        with CaptureQueriesContext(connection) as seen:
            assert client.get(reverse(route)).status_code == 200
        counts.append([query["sql"][:200] for query in seen])
    assert len(counts[0]) == len(counts[1]), counts[1]


# --- The list of documents of the administration: its newest version for each, by as many statements however many
# there are ---
LIST = reverse("admin:knowledge_document_changelist")


def test_the_list_shows_the_state_of_the_newest_version(client: Client) -> None:
    document = make_document(make_base("Handbook"), "rules.md")
    version = newest_version(document)
    version.parse_status, version.failure = ParseStatus.FAILED, {"code": "empty", "params": {}}
    version.save()
    client.force_login(make_user(is_superuser=True))
    assert "The file is empty." in client.get(LIST).content.decode()
