"""Through the real web server: the platform has its answer at once, and the message is answered beside the runs of the chat."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests

from agent.models import ChatMessage, Message
from tests.feishu_chat import encrypted, message, message_id, serving_feishu, signed, to_group
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.chat_platforms.company import GROUP, LEAVE, Company, Office
from tests.modelserver import says
from tests.served import serving_site
from tests.waiting import PATIENT_S, wait_for


@pytest.fixture
def company(transactional_db: None, settings: Any) -> Iterator[Company]:
    """Committed: the web server answers in threads of its own."""
    with serving_feishu() as feishu:
        yield Company(feishu, settings, Office())


def test_the_process_that_took_a_message_answers_it(company: Company) -> None:
    events = (message(LEAVE), to_group(LEAVE, GROUP))
    with serving_site() as site:
        for event in events:
            require_answered(company, f"{site}{company.address}", event)
    answers = Message.objects.filter(role="assistant").values_list("provider", flat=True)
    assert list(answers) == ["default"] * 2, "a model wrote both"
    assert ChatMessage.objects.filter(answered_at__isnull=False, attempts=1, problem="").count() == 2


def require_answered(company: Company, address: str, event: dict[str, Any]) -> None:
    taken = threading.Event()

    def after_the_platform_s(_request: object) -> None:
        assert taken.wait(PATIENT_S), "the platform waits for the model: Feishu wants its answer within three seconds"

    company.feishu.came.clear()
    with modelled(replace(SEARCH, check=after_the_platform_s), says(THIRTY)):
        body = encrypted(event)
        answer = requests.post(address, data=body, headers=signed(body), timeout=30)
        assert (answer.status_code, answer.json()) == (200, {})
        taken.set()
        assert company.feishu.came.wait(PATIENT_S), "no answer came to the platform"
        unanswered = ChatMessage.objects.filter(answered_at=None)
        wait_for("the message is answered", lambda: not unanswered.exists())
    (said,) = company.feishu.said(message_id(event))
    assert "30 days of annual leave" in said
