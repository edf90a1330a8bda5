"""Through the real web server: the platform has its answer at once, and the message is answered beside the runs of the chat."""

import threading
import time
from typing import Any

import pytest
import requests

from agent.models import ChatMessage, Message
from tests.feishu_chat import encrypted, message, message_id, signed, to_group
from tests.integration.agent.modelled import DONE, SEARCH, THIRTY, modelled, routes
from tests.integration.chat_platforms.company import GROUP, LEAVE, Company
from tests.modelserver import says
from tests.served import serving_site

ANSWERED_S = 3.0  # in which Feishu wants an answer
WAIT_S = 60
pause = threading.Event()


@pytest.mark.parametrize("event", [message(LEAVE), to_group(LEAVE, GROUP)], ids=["direct", "group"])
def test_the_process_that_took_a_message_answers_it(company: Company, event: dict[str, Any]) -> None:
    with modelled(routes(), SEARCH, DONE, says(THIRTY)), serving_site() as site:
        body, began = encrypted(event), time.monotonic()
        answer = requests.post(f"{site}{company.address}", data=body, headers=signed(body), timeout=30)
        assert (answer.status_code, answer.json()) == (200, {})
        assert time.monotonic() - began < ANSWERED_S
        assert company.feishu.came.wait(WAIT_S)
        until = time.monotonic() + WAIT_S
        while ChatMessage.objects.filter(answered_at=None).exists() and time.monotonic() < until:
            pause.wait(0.05)
    (said,) = company.feishu.said(message_id(event))
    assert "30 days of annual leave" in said
    assert Message.objects.get(role="assistant").provider == "default"  # a model wrote it
    assert ChatMessage.objects.filter(answered_at__isnull=False, attempts=1, problem="").count() == 1
