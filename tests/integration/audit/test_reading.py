"""Who reads the log by API and page, and that reading is recorded."""

import json
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from audit.actions import Action
from audit.chain.checkpoints import sign_checkpoint
from audit.models import Entry, Hold
from audit.record import record_action
from audit.verify_export import check_export
from tests.factories import make_user
from tests.integration.audit.logbook import ANNA, Logbook, write

READERS = {"plain": (), "staff": (), "reader": ("view_entry",), "auditor": ("view_entry", "export_entry")}
ROUTES = {
    "entries": "/api/v1/audit/entries",
    "verifier": "/api/v1/audit/verifier",
    "export": "/api/v1/audit/export",
}
MAY = {
    "entries": ("reader", "auditor"),
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
def test_only_auditors_read_and_export_and_it_is_recorded(logbook: Logbook, route: str) -> None:
    assert APIClient().get(ROUTES[route]).status_code == 401
    answers = {kind: api(kind).get(ROUTES[route]).status_code for kind in READERS}
    assert answers == {kind: 200 if kind in MAY[route] else 403 for kind in READERS}
    recorded = Entry.objects.filter(action__in=[Action.AUDIT_READ, Action.AUDIT_EXPORTED])
    assert recorded.count() == (0 if route == "verifier" else len(MAY[route]))


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
    found = check_export(iter(content(answer).splitlines(keepends=True)))
    assert (found.faults, found.last) == ([], 22)
    assert api_error(ROUTES["export"], {"file": "xml"}).startswith("there is no export format called 'xml'")


def api_error(url: str, query: dict[str, str]) -> str:
    client = APIClient()
    client.force_login(User.objects.get(username="auditor"))
    answer = client.get(url, query)
    assert answer.status_code == 400
    return str(answer.json()["detail"])


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


def test_the_export_opens_with_what_the_list_shows(logbook: Logbook) -> None:
    auditor = admin("auditor")
    days = {"at__gte": "2026-11-01 00:00:00+08:00", "at__lt": "2026-11-02 00:00:00+08:00"}
    form = auditor.get(
        reverse(PAGES[1]), {**days, "q": "sign in", "action__exact": "", "outcome__exact": "deny"}
    ).context["form"]
    shown = {name: form[name].value() for name in ("since", "until", "text", "action", "outcome")}
    assert shown == {"since": "2026-11-01", "until": "2026-11-02", "text": "sign in", "action": "", "outcome": "deny"}
    sent: Any = auditor.post(reverse(PAGES[1]), {"file": "csv", "text": "sign in"})
    _header, *lines = b"".join(sent.streaming_content).decode().splitlines()
    assert {line.split(",")[6] for line in lines} == {Action.SIGNED_IN}
    assert "by words" in str(Entry.objects.get(action=Action.AUDIT_EXPORTED).detail)


def first_page(client: Client) -> str:
    return " ".join(client.get(reverse(PAGES[0])).content.decode().split())


@pytest.mark.usefixtures("logbook")
@pytest.mark.parametrize(("language", "words"), [("en", "sign in"), ("en", "Signed"), ("zh-hans", "登录")])
def test_entries_are_found_by_the_words_of_their_action(language: str, words: str) -> None:
    for action in (Action.SIGNED_IN, Action.DOCUMENT_OPENED):
        record_action(ANNA, action)
    client = admin("reader")
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    page = client.get(reverse("admin:audit_entry_changelist"), {"q": words})
    assert {row.action for row in page.context["cl"].result_list} == {Action.SIGNED_IN}


def test_a_checkpoint_that_does_not_come_is_said_and_one_of_today_ends_it(logbook: Logbook) -> None:
    """Number 21 was recorded long before beat should have signed it."""
    client = admin("auditor")
    write(21)
    with logbook.as_ruler() as cursor:
        cursor.execute(f"UPDATE audit_entry SET at = at - interval '11 minutes' WHERE id = {logbook.entry(21).pk}")
    assert "Entry 21 should have been signed by" in first_page(client)
    made = sign_checkpoint()
    assert made is not None
    page = first_page(client)
    assert "should have been signed" not in page
    assert f"Signed up to number {made.seq} " in page


def test_one_entry_shows_its_hash_and_the_way_to_its_run(logbook: Logbook) -> None:
    entry = logbook.entry(9)
    page = admin("reader").get(reverse("admin:audit_entry_change", args=[entry.pk])).content.decode()
    assert bytes(entry.link.hash).hex() in page
    run = reverse("admin:audit_entry_run", args=["run-2"])
    assert run in page
    client = Client()
    client.force_login(User.objects.get(username="reader"))
    assert client.get(run).content.decode().count('<th scope="row"><a href="/admin/audit/entry/') == 4
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
