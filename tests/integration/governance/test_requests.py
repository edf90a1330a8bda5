"""Asking to be let into a folder whose name may be told, and what its managers make of it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.checks import can
from authz.models import AccessRequest, FolderUserGrant, RequestState
from authz.permissions import Right
from copilot_site.celery import app as celery_app
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.services import access
from knowledge.services.access_requests import (
    grant_request,
    offers,
    refuse_request,
    request_access,
    requests_for,
    requests_of,
)
from knowledge.services.request_mails import mail_about_request
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, principal_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(world: World) -> World:
    """The world, with the name of Pay told."""
    access.set_discoverable(None, world.pay, is_discoverable=True)
    return world


def test_a_request_granted_lets_in_until_its_end(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk, reason="I do the payroll in May.")
    assert [each.pk for each in requests_for(principal_of(told.boss))] == [asked.pk]
    end = timezone.now() + timedelta(days=30)
    grant_request(principal_of(told.boss), request_id=asked.pk, ends_at=end, answer="Until then.")
    assert can(principal_of(told.anna), Right.VIEW, told.pay)
    assert not can(principal_of(told.anna), Right.DOWNLOAD, told.pay)
    assert FolderUserGrant.objects.get(user=told.anna).expires_at == end
    seen = requests_of(principal_of(told.anna)).get()
    assert (seen.state, seen.answer, seen.decided_by) == (RequestState.GRANTED, "Until then.", told.boss)
    actions = [Action.ACCESS_REQUESTED, Action.ACCESS_GRANTED]
    entries = Entry.objects.filter(action__in=actions).order_by("id")
    assert [(each.action, each.actor_name, each.target_name) for each in entries] == [
        ("access.requested", "anna", "Pay"),
        ("access.granted", "boss", "Pay"),
    ]


def test_a_request_refused_changes_nothing_and_says_why(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    refuse_request(principal_of(told.boss), request_id=asked.pk, answer="Ask HR.")
    assert not can(principal_of(told.anna), Right.VIEW, told.pay)
    assert requests_of(principal_of(told.anna)).get().answer == "Ask HR."
    assert request_access(principal_of(told.anna), folder_id=told.pay.pk).state == RequestState.OPEN, "once more"


def test_what_is_hidden_cannot_be_asked_for_and_looks_missing(world: World) -> None:
    with pytest.raises(NotFound) as hidden:
        request_access(principal_of(world.anna), folder_id=world.pay.pk)
    with pytest.raises(NotFound) as missing:
        request_access(principal_of(world.anna), folder_id=uuid4())
    assert str(hidden.value) == str(missing.value)
    assert not AccessRequest.objects.exists()


def test_twice_is_a_conflict_and_what_is_seen_needs_no_request(told: World) -> None:
    request_access(principal_of(told.anna), folder_id=told.pay.pk)
    with pytest.raises(Conflict, match="already"):
        request_access(principal_of(told.anna), folder_id=told.pay.pk)
    with pytest.raises(InvalidInput, match="may view this folder already"):
        request_access(principal_of(told.anna), folder_id=told.rules.pk)


def test_only_who_governs_the_folder_decides_and_only_once(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    for stranger in (told.mia, told.anna):
        with pytest.raises(NotFound):
            grant_request(principal_of(stranger), request_id=asked.pk)
    assert not requests_for(principal_of(told.mia)).exists()
    refuse_request(principal_of(told.root), request_id=asked.pk)
    with pytest.raises(InvalidInput, match="decided already"):
        grant_request(principal_of(told.boss), request_id=asked.pk)
    assert not can(principal_of(told.anna), Right.VIEW, told.pay)


def test_an_end_that_has_passed_is_refused_and_the_request_stays_open(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    with pytest.raises(InvalidInput, match="cannot end in the past"):
        grant_request(principal_of(told.boss), request_id=asked.pk, ends_at=timezone.now() - timedelta(days=1))
    asked.refresh_from_db()
    assert asked.state == RequestState.OPEN


def test_what_waits_is_counted_for_those_who_may_decide(told: World) -> None:
    request_access(principal_of(told.anna), folder_id=told.pay.pk)
    boss = client_of(told.boss)
    assert "One request for access waits for you" in text_of(boss.get(reverse("chat")))
    assert "1 request for access waits for you" in text_of(boss.get(reverse("admin:index")))
    for other in (told.anna, told.mia):
        assert "waits for you" not in text_of(client_of(other).get(reverse("chat")))
    assert "request for access waits" not in text_of(client_of(told.mia).get(reverse("admin:index")))
    refuse_request(principal_of(told.boss), request_id=AccessRequest.objects.get().pk)
    assert "waits for you" not in text_of(boss.get(reverse("chat")))
    assert "request for access waits" not in text_of(boss.get(reverse("admin:index")))


def test_a_decision_is_news_for_whoever_asked_until_it_is_read(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    anna, said = client_of(told.anna), "You were given access to a folder"
    assert said not in text_of(anna.get(reverse("chat")))
    grant_request(principal_of(told.boss), request_id=asked.pk)
    page = anna.get(reverse("chat")).content.decode()
    assert said in page
    assert '<span class="dot">' in page
    assert said not in text_of(client_of(told.boss).get(reverse("chat")))
    anna.get(reverse("my-requests"))
    page = anna.get(reverse("chat")).content.decode()
    assert said not in page
    assert '<span class="dot">' not in page
    told_again = AccessRequest.objects.create(folder=told.pay, user=told.anna)
    refuse_request(principal_of(told.boss), request_id=told_again.pk)
    assert "Your request for access was refused" in text_of(anna.get(reverse("library")))


def test_mails_go_to_those_who_decide_and_then_to_whoever_asked(told: World, settings: Any) -> None:
    settings.SITE_URL = "https://kb.example"
    for user in User.objects.all():
        User.objects.filter(pk=user.pk).update(email=f"{user.username}@kb.example")
    allow(told.anna, told.pay, Right.MANAGE)  # manages it, and cannot decide: no staff
    asked = AccessRequest.objects.create(folder=told.pay, user=told.ben)
    settings.MAIL_IS_SET_UP = False
    assert mail_about_request(asked.pk) == 0
    settings.MAIL_IS_SET_UP = True

    def mailed() -> set[str]:
        mail.outbox.clear()
        mail_about_request(asked.pk)
        assert not any("Pay" in f"{each.subject} {each.body}" for each in mail.outbox), "a mailbox has no rights"
        return {each.to[0].partition("@")[0] for each in mail.outbox}

    assert mailed() == {"boss"}
    assert f"https://kb.example{reverse('access-requests')}" in str(mail.outbox[0].body)
    User.objects.filter(pk=told.boss.pk).update(is_staff=False)
    assert mailed() == {"root"}
    AccessRequest.objects.filter(pk=asked.pk).update(state=RequestState.GRANTED)
    assert mailed() == {"ben"}
    User.objects.filter(pk=told.ben.pk).update(is_active=False)
    assert mailed() == set()


def test_a_request_and_its_decision_are_mailed_after_the_transaction(
    told: World, settings: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    settings.MAIL_IS_SET_UP = True
    monkeypatch.setitem(celery_app.conf, "task_always_eager", True)
    User.objects.filter(pk=told.boss.pk).update(email="boss@kb.example")
    User.objects.filter(pk=told.anna.pk).update(email="anna@kb.example")
    with django_capture_on_commit_callbacks(execute=True):
        asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
        assert mail.outbox == []
    with django_capture_on_commit_callbacks(execute=True):
        grant_request(principal_of(told.boss), request_id=asked.pk)
    assert [each.to for each in mail.outbox] == [["boss@kb.example"], ["anna@kb.example"]]


def test_the_pages_ask_decide_and_show_the_state(told: World) -> None:
    User.objects.filter(pk=told.anna.pk).update(first_name="Anna", last_name="Berg")
    anna, boss = client_of(told.anna), client_of(told.boss)
    form = text_of(anna.get(reverse("my-requests"), {"folder": str(told.pay.pk)}))
    assert "Ask to view “Pay”" in form
    assert anna.post(reverse("ask-for-access", args=[told.pay.pk]), {"reason": "payroll"}).status_code == 302
    assert "Waiting for a decision" in text_of(anna.get(reverse("my-requests")))
    listed = text_of(boss.get(reverse("access-requests")))
    assert "Anna Berg asks to view “Pay”" in listed, "as people know her"
    assert "payroll" in listed
    asked = AccessRequest.objects.get()
    url = reverse("access-request-decide", args=[asked.pk])
    assert client_of(told.mia).post(url, {"decision": "grant"}).status_code == 404
    bad = boss.post(url, {"decision": "grant", "until": "tomorrow"}, follow=True)
    assert "Give the last day as a date like 2027-12-31." in text_of(bad)
    assert boss.post(url, {"decision": "grant", "until": "2199-12-31"}).status_code == 302
    assert "Granted, until 1 Jan 2200" in text_of(anna.get(reverse("my-requests"))) or can(
        principal_of(told.anna), Right.VIEW, told.pay
    )


def page_of(answer: Any) -> str:
    """The page beside the rail, whose menu leads to the requests, too."""
    return str(answer.content.decode().partition("<main")[2])


def test_who_misses_something_finds_what_may_be_asked_for(told: World) -> None:
    may_ask = f"{reverse('my-requests')}?folder={told.pay.pk}"
    reader = make_user("reader")
    allow(reader, told.pay, Right.VIEW)
    for person, listed in ((told.anna, True), (reader, False)):  # who may view it has nothing to ask for
        client = client_of(person)
        assert (may_ask in page_of(client.get(reverse("my-requests")))) is listed
        assert ("Ask for access to other folders" in page_of(client.get(reverse("library")))) is listed
    request_access(principal_of(told.anna), folder_id=told.pay.pk)
    assert may_ask not in page_of(client_of(told.anna).get(reverse("my-requests")))
    AccessRequest.objects.all().delete()
    access.set_discoverable(None, told.pay, is_discoverable=False)
    nothing = page_of(client_of(told.anna).get(reverse("my-requests")))
    assert "Pay" not in nothing
    assert "Ask your administrator who looks after it" in nothing
    assert "Ask for access to other folders" not in page_of(client_of(told.anna).get(reverse("library")))


def test_whoever_reads_nothing_is_led_to_a_request_only_where_one_can_be_made(told: World) -> None:
    newcomer = client_of(make_user("newcomer"))
    for page in ("chat", "library"):
        assert f'href="{reverse("my-requests")}"' in page_of(newcomer.get(reverse(page)))
    access.set_discoverable(None, told.pay, is_discoverable=False)
    for page in ("chat", "library"):
        assert f'href="{reverse("my-requests")}"' not in page_of(newcomer.get(reverse(page)))


def test_a_name_that_is_no_longer_told_is_not_shown_to_who_asked(told: World) -> None:
    request_access(principal_of(told.anna), folder_id=told.pay.pk)
    access.set_discoverable(None, told.pay, is_discoverable=False)
    page = text_of(client_of(told.anna).get(reverse("my-requests")))
    assert "Pay" not in page
    assert "A folder whose name is not told any more" in page
    assert "Ask to view" not in text_of(client_of(told.anna).get(reverse("my-requests"), {"folder": str(told.pay.pk)}))


def test_an_offer_is_gone_when_it_is_visible_or_hidden_and_tells_the_state(told: World) -> None:
    anna = principal_of(told.anna)
    ids = [told.pay.pk, told.travel.pk]
    assert [(each.name, each.state) for each in offers(anna, ids).values()] == [("Pay", "")]
    request_access(anna, folder_id=told.pay.pk)
    assert offers(anna, ids)[told.pay.pk].state == "open"
    allow(told.anna, told.pay)
    assert offers(anna, ids) == {}


def test_the_api_asks_and_tells_what_became_of_it(told: World) -> None:
    anna = client_of(told.anna)
    asked = {"folder": str(told.pay.pk), "reason": "payroll"}
    made = anna.post("/api/v1/access-requests", asked, content_type="application/json")
    assert made.status_code == 201
    assert (made.json()["state"], made.json()["folder_name"]) == ("open", "Pay")
    entry = Entry.objects.get(action=Action.ACCESS_REQUESTED)
    assert (entry.actor_name, entry.target_name) == ("anna", "Pay")
    again = anna.post("/api/v1/access-requests", asked, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    refuse_request(principal_of(told.boss), request_id=made.json()["id"], answer="Ask HR.")
    (listed,) = anna.get("/api/v1/access-requests").json()["results"]
    assert (listed["state"], listed["answer"], listed["folder_name"]) == ("refused", "Ask HR.", "Pay")
    access.set_discoverable(None, told.pay, is_discoverable=False)
    (hidden,) = anna.get("/api/v1/access-requests").json()["results"]
    assert hidden == listed | {"folder_name": ""}
    assert client_of(told.ben).get("/api/v1/access-requests").json()["results"] == []


def test_the_api_tells_a_hidden_folder_as_a_missing_one(world: World) -> None:
    anna = client_of(world.anna)
    answers = [
        anna.post("/api/v1/access-requests", {"folder": str(pk)}, content_type="application/json")
        for pk in (world.pay.pk, uuid4())
    ]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}
    seen = anna.post("/api/v1/access-requests", {"folder": str(world.rules.pk)}, content_type="application/json")
    assert (seen.status_code, seen.json()["detail"]) == (400, "You may view this folder already.")
    long = anna.post(
        "/api/v1/access-requests", {"folder": str(world.pay.pk), "reason": "x" * 501}, content_type="application/json"
    )
    assert (long.status_code, long.json()["errors"][0]["field"]) == (400, "reason")
    assert not AccessRequest.objects.exists()
