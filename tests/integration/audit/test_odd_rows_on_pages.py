"""Whatever the rows hold, every page over the log answers, shows what is known of such a row, and says that it cannot be read."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from audit.actions import Action
from audit.models import Entry, Hold
from tests.factories import make_user
from tests.integration.audit.logbook import Logbook
from tests.integration.audit.test_odd_rows import SEQ, undone, write

API = "/api/v1/audit/entries"
SAYS_ONE = "This row cannot be fully read"


@pytest.fixture
def client(logbook: Logbook) -> Client:
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    return client


def text(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, url
    return " ".join(answer.content.decode().split())


def listed(client: Client, model: str) -> str:
    return text(client, reverse(f"admin:audit_{model}_changelist"))


def of_entry(number: int) -> list[str]:
    return [reverse(f"admin:audit_entry_{page}", args=[number]) for page in ("change", "history")]


def rows_of_api() -> dict[int, Any]:
    client = APIClient()
    client.force_login(User.objects.get(username="root"))
    answer = client.get(API)
    assert answer.status_code == 200
    return {row["seq"]: row for row in answer.json()["results"]}


def says(*rows: int) -> str:
    return f"Some of these rows cannot be fully read: {', '.join(map(str, rows))}."


def test_an_entry_that_cannot_be_read_is_shown_with_what_is_known(logbook: Logbook, client: Client) -> None:
    number = logbook.entry(SEQ).pk
    run = reverse("admin:audit_entry_run", args=[f"run-{SEQ // 4}"])
    for column, value in (("at", "infinity"), ("salts", "1e400"), ("at", None), ("detail", None)):
        with undone():
            with connection.cursor() as cursor:
                cursor.execute(f"ALTER TABLE audit_entry ALTER COLUMN {column} DROP NOT NULL")
            write(logbook, column, value)
            page = listed(client, "entry")
            assert says(SEQ) in page, (column, value)
            assert f"Handbook {SEQ}" in page
            one, _history = (text(client, url) for url in of_entry(number))
            assert SAYS_ONE in one
            text(client, run)
            row = rows_of_api()[SEQ]["entry"]
            assert (row["unreadable"], row["target_name"]) == ([column], f"Handbook {SEQ}")


def test_odd_values_that_can_be_read_end_no_page(logbook: Logbook, client: Client) -> None:
    for column, value in (("run_id", ".."), ("outcome", "odd"), ("detail", '{"tool": {"a": []}}')):
        write(logbook, column, value)
    assert "cannot be fully read" not in listed(client, "entry")
    for url in of_entry(logbook.entry(SEQ).pk):
        text(client, url)
    assert rows_of_api()[SEQ]["entry"]["unreadable"] == []


def test_a_number_whose_entry_is_deleted_is_listed_as_unreadable(logbook: Logbook, client: Client) -> None:
    with logbook.as_ruler() as cursor:
        cursor.execute(f"DELETE FROM audit_entry WHERE id = {logbook.entry(SEQ).pk}")
    row = rows_of_api()[SEQ]["entry"]
    assert (row["at"], row["action"]) == (None, "")
    assert {"at", "action", "actor_name"} <= set(row["unreadable"])


def test_an_odd_hold_is_shown_and_can_be_released(logbook: Logbook, client: Client) -> None:
    client.post(reverse("admin:audit_hold_add"), {"reason": "Case 12"})
    hold = Hold.objects.values_list("pk", flat=True).get()
    for change in ("until_at = '-infinity'", "placed_at = '20000-01-01'"):
        with undone():
            with logbook.as_ruler() as cursor:
                cursor.execute("ALTER TABLE audit_hold DISABLE TRIGGER USER")
                cursor.execute(f"UPDATE audit_hold SET {change}")
                cursor.execute("ALTER TABLE audit_hold ENABLE TRIGGER USER")
            assert says(hold) in listed(client, "hold"), change
            text(client, reverse("admin:audit_hold_change", args=[hold]))
            client.post(reverse("admin:audit_hold_changelist"), {"action": "release", "_selected_action": [hold]})
            assert Hold.objects.filter(released_at=None).count() == 0
            assert Entry.objects.filter(action=Action.HOLD_RELEASED).count() == 1


def test_an_entry_that_does_not_exist_is_not_found(client: Client) -> None:
    for number in ("0", "99999999999999999999999", "x"):
        assert client.get(reverse("admin:audit_entry_change", args=[number])).status_code == 302
