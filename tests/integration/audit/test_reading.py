"""Who reads the log by API and page, and that reading is recorded."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils.timezone import localtime
from rest_framework.test import APIClient

from audit.actions import Action
from audit.checkpoints import sign_checkpoint
from audit.keys import trusted_keys
from audit.models import Entry, Hold
from audit.selectors import signing
from audit.verify_export import check
from tests.factories import make_user
from tests.integration.audit.logbook import Logbook, write

READERS = {"plain": (), "staff": (), "reader": ("view_entry",), "auditor": ("view_entry", "export_entry")}
ROUTES = {
    "entries": "/api/v1/audit/entries",
    "verifier": "/api/v1/audit/verifier",
    "export": "/api/v1/audit/export",
}
MAY = {
    "entries": ("reader", "auditor"),
    "run": ("reader", "auditor"),
    "verifier": ("reader", "auditor"),
    "export": ("auditor",),
}


def person(kind: str) -> User:
    user = make_user(kind)
    User.objects.filter(pk=user.pk).update(is_staff=kind != "plain")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="audit", codename__in=READERS[kind]))
    return user


def api(kind: str) -> APIClient:
    client = APIClient()
    client.force_login(person(kind))
    return client


def admin(kind: str) -> Client:
    client = Client()
    client.force_login(person(kind))
    return client


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", READERS)
def test_only_auditors_read_and_export(logbook: Logbook, route: str, kind: str) -> None:
    assert api(kind).get(ROUTES[route]).status_code == (200 if kind in MAY[route] else 403)
    recorded = Entry.objects.filter(action__in=[Action.AUDIT_READ, Action.AUDIT_EXPORTED]).count()
    assert recorded == (1 if kind in MAY[route] and route != "verifier" else 0)


@pytest.mark.parametrize("route", ROUTES)
def test_nobody_reads_without_signing_in(logbook: Logbook, route: str) -> None:
    assert APIClient().get(ROUTES[route]).status_code == 401


def test_the_list_is_newest_first_and_has_a_cursor(logbook: Logbook) -> None:
    client = api("reader")
    first = client.get(ROUTES["entries"], {"page_size": 8}).json()
    assert [row["seq"] for row in first["results"]] == list(range(22, 14, -1))
    second = client.get(first["next"]).json()
    assert second["results"][0]["seq"] == 14
    row = second["results"][1]
    assert row["hash"] == bytes(logbook.entry(13).link.hash).hex()
    assert (row["entry"]["actor_name"], row["entry"]["address"]) == ("anna", "192.0.2.13")
    assert (row["entry"]["detail"]["characters"], row["entry"]["request_id"]) == (13, "r-13")


def test_a_filter_narrows_and_an_unknown_one_is_refused(logbook: Logbook) -> None:
    client = api("reader")
    answer = client.get(ROUTES["entries"], {"actor": "anna", "run_id": "run-2"}).json()
    assert [row["seq"] for row in answer["results"]] == [11, 9]
    assert client.get(ROUTES["entries"], {"actr": "anna"}).status_code == 400
    assert client.get(ROUTES["entries"], {"action": "no.such"}).status_code == 400


def test_an_export_by_api_is_a_file_that_verifies(logbook: Logbook) -> None:
    answer = api("auditor").get(ROUTES["export"], {"file": "jsonl"})
    assert answer["Content-Disposition"].startswith('attachment; filename="audit-')
    found = check(iter(content(answer).splitlines(keepends=True)))
    assert (found.faults, found.last) == ([], 22)
    assert api_error(ROUTES["export"], {"file": "xml"}).startswith("there is no export format called 'xml'")


def api_error(url: str, query: dict[str, str]) -> str:
    client = APIClient()
    client.force_login(User.objects.get(username="auditor"))
    answer = client.get(url, query)
    assert answer.status_code == 400
    return str(answer.json()["detail"])


def test_the_verifier_is_the_program_itself(logbook: Logbook) -> None:
    assert b"def content_hash(" in content(api("reader").get(ROUTES["verifier"]))


PAGES = ("admin:audit_entry_changelist", "admin:audit_entry_export", "admin:audit_checkpoint_changelist")


def test_pages_are_the_auditor_s(logbook: Logbook) -> None:
    run = reverse("admin:audit_entry_run", args=["run-2"])
    staff = admin("staff")
    assert [staff.get(url).status_code for url in (reverse(PAGES[0]), reverse(PAGES[1]), run)] == [403] * 3
    reader = admin("reader")
    assert [reader.get(url).status_code for url in (reverse(PAGES[0]), reverse(PAGES[1]), run)] == [200, 403, 200]
    auditor = admin("auditor")
    assert [auditor.get(url).status_code for url in (reverse(PAGES[0]), reverse(PAGES[1]), run)] == [200] * 3
    assert Entry.objects.filter(action=Action.AUDIT_READ).count() == 4


def test_the_list_searches_and_says_how_far_it_is_signed(logbook: Logbook) -> None:
    page = admin("auditor").get(reverse(PAGES[0]), {"q": "Handbook 7"}).content.decode()
    assert "Handbook 7" in page
    assert "Handbook 8" not in page
    assert "Signed up to number 20" in page


def test_the_export_says_how_it_is_checked_and_with_which_key(logbook: Logbook) -> None:
    page = admin("auditor").get(reverse(PAGES[1])).content.decode()
    (key,) = trusted_keys()
    assert f"python3 verify_export.py audit-….jsonl --key {key}" in page


def test_the_export_begins_with_what_the_list_is_filtered_by(logbook: Logbook) -> None:
    auditor, filtered = admin("auditor"), {"outcome__exact": "deny", "action__exact": "document.opened", "q": "x"}
    page = auditor.get(reverse(PAGES[0]), filtered).content.decode()
    led = re.search(rf'href="({reverse(PAGES[1])}[^"]*)"', page)
    assert led
    form = auditor.get(unescape(led[1])).content.decode()
    assert re.findall(r'<option value="([^"]+)" selected', form) == ["document.opened", "deny"]


def first_page(client: Client) -> str:
    return " ".join(client.get(reverse(PAGES[0])).content.decode().split())


def test_a_log_that_has_just_begun_says_when_it_will_be_signed(logbook: Logbook) -> None:
    with logbook.as_ruler() as cursor:
        cursor.execute("DELETE FROM audit_checkpoint")
    page = first_page(admin("auditor"))
    assert f"The first checkpoint is due by {localtime(signing().due_at):%H:%M}." in page
    assert "Signed up to number" not in page
    assert "should have been signed" not in page


def test_what_was_recorded_since_the_last_checkpoint_is_due(logbook: Logbook) -> None:
    assert signing().due_at is None
    page = first_page(admin("auditor"))  # looking is recorded, as number 21
    assert "Signed up to number 20" in page
    assert "The next checkpoint is due by" in page


def test_a_checkpoint_that_does_not_come_is_said_and_one_of_today_ends_it(logbook: Logbook) -> None:
    """Number 21 was recorded long before beat should have signed it."""
    client = admin("auditor")
    write(21)
    with logbook.as_ruler() as cursor:
        cursor.execute(f"UPDATE audit_entry SET at = at - interval '11 minutes' WHERE id = {logbook.entry(21).pk}")
    assert "Number 21 should have been signed by" in first_page(client)
    made = sign_checkpoint()
    assert made is not None
    page = first_page(client)
    assert "should have been signed" not in page
    assert f"Signed up to number {made.seq} " in page


def test_one_entry_shows_its_hash_and_the_way_to_its_run(logbook: Logbook) -> None:
    entry = logbook.entry(9)
    page = admin("reader").get(reverse("admin:audit_entry_change", args=[entry.pk])).content.decode()
    assert bytes(entry.link.hash).hex() in page
    assert reverse("admin:audit_entry_run", args=["run-2"]) in page


def test_the_timeline_page_shows_the_run_and_nothing_else(logbook: Logbook) -> None:
    client = admin("reader")
    page = client.get(reverse("admin:audit_entry_run", args=["run-2"])).content.decode()
    assert page.count('<th scope="row"><a href="/admin/audit/entry/') == 4
    assert client.get(reverse("admin:audit_entry_run", args=["none"])).status_code == 404


def test_the_export_page_gives_the_chosen_file(logbook: Logbook) -> None:
    client = admin("auditor")
    answer = client.post(reverse(PAGES[1]), {"file": "csv", "actor": "anna", "since": "2020-01-01"})
    assert content(answer).count(b"\r\n") == 1 + 9
    answer = client.post(reverse(PAGES[1]), {"file": "csv", "until": "2020-01-01"})
    assert content(answer).count(b"\r\n") == 1
    assert client.post(reverse(PAGES[1]), {"file": "xml"}).status_code == 200
    assert json.dumps([entry.detail for entry in Entry.objects.filter(action=Action.AUDIT_EXPORTED)]).count("csv") == 2


def test_a_hold_is_placed_and_released_in_the_admin_and_both_are_recorded(logbook: Logbook) -> None:
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    assert client.post(reverse("admin:audit_hold_add"), {"reason": "Case 12"}).status_code == 302
    hold = Hold.objects.get()
    client.post(reverse("admin:audit_hold_changelist"), {"action": "release", "_selected_action": [hold.pk]})
    hold.refresh_from_db()
    assert hold.released_at is not None
    assert client.post(reverse("admin:audit_hold_delete", args=[hold.pk]), {"post": "yes"}).status_code == 403
    assert client.post(reverse("admin:audit_hold_change", args=[hold.pk]), {"reason": "x"}).status_code == 403
    recorded = Entry.objects.filter(actor_name="root", action__startswith="hold.").order_by("id")
    assert [entry.action for entry in recorded] == ["hold.placed", "hold.released"]
