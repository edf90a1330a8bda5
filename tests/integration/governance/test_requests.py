"""Asking to be let into a folder whose name may be told, and what its managers make of it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.models import AccessRequest, FolderUserGrant, RequestState
from authz.permissions import Right
from authz.rights.checks import has_right
from copilot_site.celery import app as celery_app
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.services import access
from knowledge.services.access_requests import (
    find_requestable_folders,
    grant_request,
    list_own_requests,
    list_requests_to_decide,
    refuse_request,
    request_access,
)
from knowledge.services.mails import send_request_mails
from tests.factories import allow, make_folder, make_user
from tests.integration.governance.world import World, client_of, make_overseer, principal_of, staff, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(world: World) -> World:
    """The world, with the name of Pay told."""
    access.set_discoverable(None, world.pay, is_discoverable=True)
    return world


def test_a_request_granted_lets_in_until_its_end(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk, reason="I do the payroll in May.")
    assert [request.pk for request in list_requests_to_decide(principal_of(told.boss))] == [asked.pk]
    end = timezone.now() + timedelta(days=30)
    grant_request(principal_of(told.boss), request_id=asked.pk, ends_at=end, answer="Until then.")
    assert has_right(principal_of(told.anna), Right.VIEW, told.pay)
    assert not has_right(principal_of(told.anna), Right.DOWNLOAD, told.pay)
    assert FolderUserGrant.objects.get(user=told.anna).expires_at == end
    seen = list_own_requests(principal_of(told.anna)).get()
    assert (seen.state, seen.answer, seen.decided_by) == (RequestState.GRANTED, "Until then.", told.boss)
    actions = [Action.ACCESS_REQUESTED, Action.ACCESS_GRANTED]
    entries = Entry.objects.filter(action__in=actions).order_by("id")
    assert [(item.action, item.actor_name, item.target_name) for item in entries] == [
        ("access.requested", "anna", "Pay"),
        ("access.granted", "boss", "Pay"),
    ]


def test_a_request_refused_changes_nothing_and_says_why(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    refuse_request(principal_of(told.boss), request_id=asked.pk, answer="Ask HR.")
    assert not has_right(principal_of(told.anna), Right.VIEW, told.pay)
    assert list_own_requests(principal_of(told.anna)).get().answer == "Ask HR."
    assert request_access(principal_of(told.anna), folder_id=told.pay.pk).state == RequestState.OPEN, "once more"


def test_only_who_governs_the_folder_decides_and_only_once(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    for stranger in (told.mia, told.anna):
        with pytest.raises(NotFound):
            grant_request(principal_of(stranger), request_id=asked.pk)
    assert not list_requests_to_decide(principal_of(told.mia)).exists()
    refuse_request(principal_of(told.root), request_id=asked.pk)
    with pytest.raises(InvalidInput, match="already decided"):
        grant_request(principal_of(told.boss), request_id=asked.pk)
    assert not has_right(principal_of(told.anna), Right.VIEW, told.pay)


def test_an_end_that_has_passed_is_refused_and_the_request_stays_open(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    with pytest.raises(InvalidInput, match="cannot end in the past"):
        grant_request(principal_of(told.boss), request_id=asked.pk, ends_at=timezone.now() - timedelta(days=1))
    asked.refresh_from_db()
    assert asked.state == RequestState.OPEN


def test_waiting_requests_and_decisions_are_shown_to_the_people_concerned(told: World) -> None:
    asked = request_access(principal_of(told.anna), folder_id=told.pay.pk)
    boss, anna = client_of(told.boss), client_of(told.anna)
    waits, granted = "access request is waiting for you", "You were given access to a folder"
    for name in ("chat", "admin:index"):
        assert waits in text_of(boss.get(reverse(name))), name
    assert waits not in text_of(client_of(told.mia).get(reverse("chat")))
    grant_request(principal_of(told.boss), request_id=asked.pk)
    assert waits not in text_of(boss.get(reverse("chat")))
    assert granted in text_of(anna.get(reverse("chat")))
    anna.get(reverse("my-requests"))
    assert granted not in text_of(anna.get(reverse("chat")))  # it was read


def test_mails_go_to_those_who_decide_and_then_to_whoever_asked(told: World, settings: Any) -> None:
    settings.SITE_URL = "https://kb.example"
    for user in User.objects.all():
        User.objects.filter(pk=user.pk).update(email=f"{user.username}@kb.example")
    allow(told.anna, told.pay, Right.MANAGE)  # no staff
    asked = AccessRequest.objects.create(folder=told.pay, user=told.ben)
    settings.MAIL_IS_SET_UP = False
    assert send_request_mails(asked.pk) == 0
    settings.MAIL_IS_SET_UP = True

    def mailed() -> set[str]:
        mail.outbox.clear()
        send_request_mails(asked.pk)
        assert not any("Pay" in f"{item.subject} {item.body}" for item in mail.outbox), "a mailbox has no rights"
        return {item.to[0].partition("@")[0] for item in mail.outbox}

    assert mailed() == {"anna", "boss", "keeper"}
    assert f"https://kb.example{reverse('access-requests')}" in str(mail.outbox[0].body)
    User.objects.filter(username__in=["anna", "boss", "keeper"]).update(is_active=False)
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
    assert [item.to for item in mail.outbox] == [["boss@kb.example"], ["anna@kb.example"]]


def test_the_pages_ask_decide_and_show_the_state(told: World) -> None:
    User.objects.filter(pk=told.anna.pk).update(first_name="Anna", last_name="Berg")
    anna, boss = client_of(told.anna), client_of(told.boss)
    form = text_of(anna.get(reverse("my-requests"), {"folder": str(told.pay.pk)}))
    assert "Ask to view “Pay”" in form
    assert anna.post(reverse("ask-for-access", args=[told.pay.pk]), {"reason": "payroll"}).status_code == 302
    listed = text_of(boss.get(reverse("access-requests")))
    assert "Anna Berg asks to view “Pay”" in listed, "as people know her"
    assert "payroll" in listed
    asked = AccessRequest.objects.get()
    url = reverse("access-request-decide", args=[asked.pk])
    assert client_of(told.mia).post(url, {"decision": "grant"}).status_code == 404
    boss.post(url, {"decision": "grant", "until": "tomorrow"})
    assert not has_right(principal_of(told.anna), Right.VIEW, told.pay)
    assert boss.post(url, {"decision": "grant", "until": "2199-12-31"}).status_code == 302
    assert has_right(principal_of(told.anna), Right.VIEW, told.pay)
    assert "until 31 Dec 2199" in text_of(anna.get(reverse("my-requests"))), "the last day, not the midnight after it"


def test_who_manages_a_folder_decides_without_a_staff_account_and_nobody_else(told: World) -> None:
    head, editor, below = make_user("head"), make_user("editor"), make_user("below")
    allow(head, told.pay, Right.MANAGE)
    allow(editor, told.pay, *set(Right) - {Right.MANAGE})
    allow(below, make_folder(told.pay, "Bonus"), Right.MANAGE)
    overseer, auditor = make_overseer(), staff("auditor")
    auditor.user_permissions.add(Permission.objects.get(codename="view_entry", content_type__app_label="audit"))
    everyone = (told.anna, told.ben, told.boss, told.mia, told.root, head, editor, below, overseer, auditor)
    definitions_in, listed, decided = set(), set(), set()
    for person in everyone:
        client, asked = client_of(person), AccessRequest.objects.create(folder=told.pay, user=make_user())
        home, page = text_of(client.get(reverse("chat"))), text_of(client.get(reverse("access-requests")))
        definitions_in |= {person.username} if "access request is waiting for you" in home else set()
        listed |= {person.username} if "asks to view" in page else set()
        client.post(reverse("access-request-decide", args=[asked.pk]), {"decision": "grant"})
        asked.refresh_from_db()
        decided |= {person.username} if asked.decided_by == person else set()
        assert has_right(principal_of(asked.user), Right.VIEW, told.pay) == (asked.decided_by == person)
        AccessRequest.objects.all().delete()
    assert definitions_in == listed == decided == {"boss", "head", "root"}
    actors = Entry.objects.filter(action=Action.ACCESS_GRANTED).values_list("actor_name", flat=True)
    assert set(actors) == decided, "and the log names them"


def test_a_name_that_is_no_longer_told_is_not_shown_to_who_asked(told: World) -> None:
    request_access(principal_of(told.anna), folder_id=told.pay.pk)
    access.set_discoverable(None, told.pay, is_discoverable=False)
    page = text_of(client_of(told.anna).get(reverse("my-requests")))
    assert "Pay" not in page
    assert "A folder whose name is now hidden" in page
    assert "Ask to view" not in text_of(client_of(told.anna).get(reverse("my-requests"), {"folder": str(told.pay.pk)}))


def test_an_offer_is_gone_when_it_is_visible_or_hidden_and_tells_the_state(told: World) -> None:
    anna = principal_of(told.anna)
    ids = [told.pay.pk, told.travel.pk]
    assert [(offer.name, offer.state) for offer in find_requestable_folders(anna, ids).values()] == [("Pay", "")]
    request_access(anna, folder_id=told.pay.pk)
    assert find_requestable_folders(anna, ids)[told.pay.pk].state == "open"
    allow(told.anna, told.pay)
    assert find_requestable_folders(anna, ids) == {}


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
    assert (seen.status_code, seen.json()["detail"]) == (400, "You can already view this folder.")
    long = anna.post(
        "/api/v1/access-requests", {"folder": str(world.pay.pk), "reason": "x" * 501}, content_type="application/json"
    )
    assert (long.status_code, long.json()["errors"][0]["field"]) == (400, "reason")
    assert not AccessRequest.objects.exists()
