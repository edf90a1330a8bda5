"""Owners are reminded by mail of what is to be read again: how many documents, never which; and whether mails go out is tried."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from copilot_site.doctor import check_mail_server as look_at_mail
from knowledge.models import Document
from knowledge.services.mails import send_review_reminders
from knowledge.services.trash import trash_document
from knowledge.tasks import remind_of_reviews as hourly
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, principal_of, text_of
from tests.smtp_server import Mailbox, mailbox

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def set_up(settings: Any) -> None:
    settings.MAIL_IS_SET_UP, settings.SITE_URL = True, "https://kb.example"


def owned(document: Document, owner: User | None, *, days: int) -> None:
    review_on = timezone.localdate() + timedelta(days=days)
    Document.unscoped.filter(pk=document.pk).update(owner=owner, review_on=review_on)


def with_mail(user: User) -> User:
    User.objects.filter(pk=user.pk).update(email=f"{user.username}@kb.example")
    return user


def told() -> dict[str, int]:
    """Address → documents, of the mails that went out."""
    counts = {
        entry.target_name: entry.detail["documents"] for entry in Entry.objects.filter(action=Action.REVIEW_REMINDED)
    }
    assert {item.to[0].split("@")[0] for item in mail.outbox} == set(counts)
    return counts


def test_an_owner_is_told_how_many_documents_and_never_which(world: World) -> None:
    anna = with_mail(world.anna)
    owned(world.travel_rules, anna, days=-1)
    owned(world.house_rules, anna, days=7)
    assert send_review_reminders() == 1
    assert told() == {"anna": 2}
    text, subject = str(mail.outbox[0].body), str(mail.outbox[0].subject)
    assert "https://kb.example/library/find/?state=review-soon&owner=anna" in text
    assert "您有 2 份文档" in text
    assert "2 of your documents are due for review" in text
    assert "rules" not in (text + subject).lower()


def test_nobody_is_told_of_what_is_far_away_hidden_or_gone(world: World) -> None:
    anna, ben = with_mail(world.anna), with_mail(world.ben)
    owned(world.travel_rules, anna, days=8)
    owned(world.salaries, ben, days=-1)  # ben may not see it
    owned(world.house_rules, world.mia, days=-1)  # has no address
    assert send_review_reminders() == 0
    assert mail.outbox == []
    gone = with_mail(make_user("gone"))
    allow(gone, world.base)
    owned(world.house_rules, gone, days=-1)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    assert send_review_reminders() == 0
    owned(world.travel_rules, anna, days=-1)
    allow(world.boss, world.rules)
    allow(world.boss, world.rules, Right.CHANGE)
    trash_document(principal_of(world.boss), document_id=world.travel_rules.pk)
    assert send_review_reminders() == 0


@pytest.mark.parametrize(("hour", "sent"), [(6, 0), (7, 1), (8, 0)])
def test_it_is_one_hour_of_the_week(world: World, settings: Any, hour: int, sent: int) -> None:
    settings.TIME_ZONE = "Asia/Shanghai"
    monday = datetime(2026, 11, 30, hour, 30, tzinfo=timezone.get_default_timezone()).astimezone(UTC)
    with time_machine.travel(monday, tick=False):
        assert timezone.localdate() == date(2026, 11, 30)
        owned(world.travel_rules, with_mail(world.anna), days=-1)
        hourly()
    assert len(mail.outbox) == sent


def through(settings: Any, server: Mailbox, **more: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", server.port, False
    settings.DEFAULT_FROM_EMAIL = "copilot@kb.example"
    for name, value in more.items():
        setattr(settings, name, value)


def tried(world: World) -> str:
    with_mail(world.root)
    return text_of(client_of(world.root).post(reverse("server-connections"), {"part": "mail"}))


def test_an_administrator_is_sent_a_mail_to_see_that_they_go_out(world: World, settings: Any) -> None:
    with mailbox() as server:
        through(settings, server)
        assert "A mail is on its way to root@kb.example" in tried(world)
        assert look_at_mail().ok
    assert len(server.mails) == 1
    assert "To: root@kb.example" in server.mails[0]
    assert Entry.objects.filter(action=Action.MAIL_TESTED).count() == 1


@pytest.mark.parametrize(
    ("refused", "setting"),
    [("AUTH", "COPILOT_SMTP_USERNAME"), ("RCPT", "COPILOT_SMTP_FROM")],
)
def test_a_server_that_refuses_names_the_setting(world: World, settings: Any, refused: str, setting: str) -> None:
    with mailbox(refused) as server:
        through(settings, server, EMAIL_HOST_USER="copilot", EMAIL_HOST_PASSWORD="x")
        said = tried(world)
    assert "refuses" in said
    assert setting in said
    assert server.mails == []


def test_a_server_that_is_not_there_and_settings_that_are_missing_are_said(world: World, settings: Any) -> None:
    with mailbox() as server:
        through(settings, server)
    assert "does not respond properly" in tried(world)
    assert not look_at_mail().ok
    settings.DEFAULT_FROM_EMAIL = ""
    assert "COPILOT_SMTP_FROM" in tried(world)


def test_still_correct_sets_the_next_review_for_those_who_may_change_it(world: World) -> None:
    owned(world.travel_rules, world.anna, days=-1)
    url = reverse("document-confirm", args=[world.travel_rules.pk])
    anna = client_of(world.anna)
    assert anna.post(url).status_code == 403
    assert client_of(world.ben).post(url).status_code == 404
    allow(world.anna, world.travel, Right.CHANGE)
    anna.post(url)
    world.travel_rules.refresh_from_db()
    assert world.travel_rules.review_on == timezone.localdate() + timedelta(days=365)
    assert Entry.objects.get(action=Action.DOCUMENT_CONFIRMED).actor_name == "anna"
    anna.post(url)
    assert Entry.objects.filter(action=Action.DOCUMENT_CONFIRMED).count() == 1, "no review is due any more"
