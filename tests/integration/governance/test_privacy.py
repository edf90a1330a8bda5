"""People learn who looked at their conversations, when the settings say so, and what anybody may see is written down."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from agent.events import StopReason
from agent.models import ConversationView, Message, MessageRole, PrivacySettings, QuestionSet, Session
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.governance.world import client_of, text_of

pytestmark = pytest.mark.django_db
LOOKED = "viewed this conversation on"


@pytest.fixture
def answer() -> Message:
    session = Session.objects.create(user=make_user("anna"), title="Leave")
    asked = Message.objects.create(session=session, role=MessageRole.USER, content="How long is leave?")
    return Message.objects.create(
        session=session, parent=asked, role=MessageRole.ASSISTANT, content="30 days.", stop_reason=StopReason.OK
    )


def look(by: User, answer: Message) -> str:
    return text_of(client_of(by).get(reverse("replay", args=[answer.pk])))


def told(answer: Message, *, of: User | None = None) -> str:
    owner = of or answer.session.user
    return text_of(client_of(owner).get(reverse("conversation", args=[answer.session_id])))


def test_the_owner_is_told_of_a_replay_and_the_viewer_knows(answer: Message, overseer: User) -> None:
    assert LOOKED not in told(answer)
    assert "This person is told that you looked." in look(overseer, answer)
    assert f"An auditor {LOOKED}" in told(answer)
    look(make_user("root", is_superuser=True), answer)
    assert f"An administrator {LOOKED}" in told(answer)
    assert "olga" not in told(answer)


def test_each_way_to_the_words_of_somebody_else_is_told(answer: Message, overseer: User) -> None:
    client = client_of(overseer)
    kept = QuestionSet.objects.create(name="Leave")
    client.get(reverse("replay", args=[answer.pk]))
    client.get(reverse("verified-answer-new"), {"message": str(answer.pk)})
    client.post(reverse("evaluate-answer", args=[answer.pk]), {"set": str(kept.pk)})
    assert ConversationView.objects.filter(session=answer.session, viewer=overseer).count() == 3
    client.get(reverse("answers"))
    client.get(reverse("ratings"))
    assert ConversationView.objects.count() == 3, "lists show no question"


def test_looking_at_ones_own_is_no_news() -> None:
    root = make_user("root", is_superuser=True)
    session = Session.objects.create(user=root, title="Mine")
    own = Message.objects.create(session=session, role=MessageRole.ASSISTANT, stop_reason=StopReason.OK)
    look(root, own)
    assert not ConversationView.objects.exists()


def test_an_investigation_delays_it_and_the_delay_is_recorded(answer: Message, overseer: User) -> None:
    root = make_user("root", is_superuser=True)
    client = client_of(root)
    given: dict[str, Any] = {"told_after_days": "30"}
    assert client.post(reverse("privacy"), given).status_code == 400, "a reason is needed"
    assert not PrivacySettings.objects.exists()
    client.post(reverse("privacy"), given | {"reason": "Case 12"})
    entry = Entry.objects.get(action=Action.SETTING_CHANGED)
    assert (entry.actor_name, entry.reason) == ("root", "Case 12")
    assert entry.detail["before"] == {"lists_every_question": False, "told_after_days": 0}
    assert entry.detail["after"] == {"lists_every_question": False, "told_after_days": 30}
    now = timezone.now()
    assert "This person is told on" in look(overseer, answer)
    assert LOOKED not in told(answer)
    PrivacySettings.objects.update(told_after_days=0)  # it counts for looks from then on
    for days, is_told in ((29, False), (31, True)):
        with time_machine.travel(datetime.fromtimestamp(now.timestamp(), tz=now.tzinfo) + timedelta(days=days)):
            assert (LOOKED in told(answer)) is is_told


def test_only_superusers_change_it_and_not_beyond_half_a_year(overseer: User) -> None:
    assert client_of(overseer).get(reverse("privacy")).status_code == 403
    assert client_of(overseer).post(reverse("privacy"), {"told_after_days": "9", "reason": "x"}).status_code == 403
    root = client_of(make_user("root", is_superuser=True))
    assert root.post(reverse("privacy"), {"told_after_days": "181", "reason": "x"}).status_code == 400
    assert not PrivacySettings.objects.exists()
