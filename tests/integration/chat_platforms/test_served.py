"""Through the real web server: the platform has its answer at once, and the message is answered beside the runs of the chat."""

import threading
from dataclasses import replace
from typing import Any

import pytest
import requests

from agent.models import ChatMessage, Message
from tests.feishu_chat import encrypted, message, message_id, signed, to_group
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.chat_platforms.company import GROUP, LEAVE, Company
from tests.modelserver import says
from tests.served import serving_site
from tests.waiting import PATIENT_S, wait_for


@pytest.mark.parametrize("event", [message(LEAVE), to_group(LEAVE, GROUP)], ids=["direct", "group"])
def test_the_process_that_took_a_message_answers_it(company: Company, event: dict[str, Any]) -> None:
    taken = threading.Event()

    def after_the_platform_s(_request: object) -> None:
        assert taken.wait(PATIENT_S), "the platform waits for the model: Feishu wants its answer within three seconds"

    first = replace(SEARCH, check=after_the_platform_s)
    with modelled(first, says(THIRTY)), serving_site() as site:
        body = encrypted(event)
        answer = requests.post(f"{site}{company.address}", data=body, headers=signed(body), timeout=30)
        assert (answer.status_code, answer.json()) == (200, {})
        taken.set()
        assert company.feishu.came.wait(PATIENT_S), "no answer came to the platform"
        unanswered = ChatMessage.objects.filter(answered_at=None)
        wait_for("the message is answered", lambda: not unanswered.exists())
    (said,) = company.feishu.said(message_id(event))
    assert "30 days of annual leave" in said
    assert Message.objects.get(role="assistant").provider == "default"  # a model wrote it
    assert ChatMessage.objects.filter(answered_at__isnull=False, attempts=1, problem="").count() == 1
