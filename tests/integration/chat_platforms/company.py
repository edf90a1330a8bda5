"""A company whose people ask at Feishu."""

from typing import Any

from asgiref.sync import async_to_sync
from django.test import Client

from agent.chat_platforms.answering import answer_message
from agent.models import ChatMessage
from tests.factories import allow, make_user
from tests.feishu_chat import Feishu, encrypted, make_bot, message, message_id, signed
from tests.integration.agent.conversations import make_library

LEAVE = "How many days of annual leave do employees have?"
SALARY = "What is the salary of the managing director?"
GROUP = "oc_group"


class Office:
    """A manual that Anna and Ben may read, and salaries that Anna alone may."""

    def __init__(self) -> None:
        self.base, self.manual, self.secret = make_library()
        self.anna = make_user("anna", email="anna@example.com")
        self.ben = make_user("ben", email="Ben@Example.com")
        for person in (self.anna, self.ben):
            allow(person, self.base)
        allow(self.anna, self.secret.knowledge_base)


class Company:
    """The office at Feishu, with the company's bot."""

    def __init__(self, feishu: Feishu, settings: Any, office: Office) -> None:
        self.feishu, self.bot = feishu, make_bot(feishu, settings, whom_to_ask="the desk")
        self.base, self.manual, self.secret = office.base, office.manual, office.secret
        self.anna, self.ben = office.anna, office.ben
        feishu.employ("ou_anna", "Anna@example.com")
        feishu.employ("ou_ben", "ben@example.com")
        feishu.groups[GROUP] = ["ou_ben", "ou_anna"]

    @property
    def address(self) -> str:
        return f"/hooks/chat/{self.bot.pk}"

    def post(self, event: dict[str, Any], **headers: str) -> Any:
        """As Feishu sends it."""
        body = encrypted(event)
        return Client().post(self.address, body, content_type="application/json", headers={**signed(body), **headers})

    def told(self, event: dict[str, Any]) -> str:
        """Send an event, have the worker answer it, and return the only reply."""
        assert self.post(event).status_code == 200
        self.work()
        (said,) = self.feishu.said(message_id(event))
        return said

    def asked(self, text: str, **more: Any) -> str:
        return self.told(message(text, **more))

    def work(self) -> None:
        """What a worker does when it is told to look at what waits."""
        for pk in ChatMessage.objects.filter(answered_at=None).values_list("pk", flat=True):
            async_to_sync(answer_message)(pk)
