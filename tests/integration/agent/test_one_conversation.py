"""A run has one conversation with its model: searched before, only added to, evidence by numbers that stay."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.events import Answer, StopReason
from agent.models import AgentProfile
from agent.profiles.settings import Options
from tests.factories import make_document
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored, words
from tests.integration.agent.modelled import THIRTY, modelled, of, sent
from tests.modelserver import ModelServer, calls, says

pytestmark = pytest.mark.django_db
NUMBERED = re.compile(r'<evidence number="(\d+)"[^>]*>\n(.*?)\n</evidence>', re.DOTALL)
SICK = "A sick note is due on the third day of absence [1]."


def bytes_of(messages: list[Any]) -> bytes:
    return json.dumps(messages, ensure_ascii=False).encode()


def assert_only_added_to(server: ModelServer) -> None:
    """Each call begins with the messages of the call before, byte for byte, and offers the same tools."""
    for earlier, later in zip(server.requests, server.requests[1:], strict=False):
        if "tools" in later:
            assert bytes_of(later["messages"]).startswith(bytes_of(earlier["messages"])[:-1])
            assert later["tools"] == earlier["tools"]


def test_a_conversation_is_only_added_to_and_evidence_keeps_its_number(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    make_document(base, "travel.md", "# Travel\n\nTaxis are paid up to 40 euros.", ingested=True)
    steps = (
        calls(("knowledge_search", {"queries": ["taxi limit"]})),
        calls(("grep_chunks", {"patterns": ["taxis"]}), ("calculate", {"expression": "30 * 8"})),
        says(THIRTY),
    )
    with modelled(*steps) as server:
        events = asked(make_reader(base), LEAVE)
    assert len(server.requests) == 3
    assert_only_added_to(server)
    texts: dict[str, str] = {}
    for number, text in NUMBERED.findall(sent(server.requests[-1])):
        assert text in {texts.setdefault(number, text), "(as above)"}
    assert any("40 euros" in text for text in texts.values())
    assert stored(events).stop_reason == StopReason.OK


def test_it_asks_back_with_complete_questions_and_not_with_one(reader: User) -> None:
    readings = ["How many days of leave?", "How is leave asked for?"]
    with modelled(
        calls(("ask_back", {"readings": readings[:1]})), calls(("ask_back", {"readings": readings}))
    ) as server:
        events = asked(reader, "Leave")
    assert_only_added_to(server)
    assert "readings" in server.requests[1]["messages"][-1]["content"]
    (answer,) = of(events, Answer)
    assert answer.data["readings"] == readings
    row = stored(events)
    assert (row.stop_reason, row.state["plan"]["clarifying_questions"]) == (StopReason.NEED_CLARIFY, readings)


def test_the_first_lines_are_the_same_for_every_question_and_an_assistant_has_its_own_tools(reader: User) -> None:
    planner = AgentProfile.objects.create(name="Planner", allowed_tools=["thinking", "todo_write", "knowledge_search"])
    with modelled(says(THIRTY), says(SICK), says(THIRTY)) as server:
        asked(reader, LEAVE)
        asked(reader, "When is a sick note due?")
        asked(reader, LEAVE, options=Options(profile_id=str(planner.pk)))
    one, other, planned = server.requests
    assert one["messages"][0] == other["messages"][0]
    assert one["tools"] == other["tools"]
    usual, planning = ([tool["function"]["name"] for tool in request["tools"]] for request in (one, planned))
    assert planning == ["thinking", "todo_write", "knowledge_search", "ask_back", "decline"]
    assert not {"thinking", "todo_write"} & set(usual)
    assert {"knowledge_search", "grep_chunks", "calculate"} < set(usual)


def test_a_text_before_a_call_that_cites_nothing_is_not_shown(reader: User) -> None:
    looking = calls(("grep_chunks", {"patterns": ["leave"]}))
    spoken = type(looking)([{"content": "Let me look that up for you. "}, *looking.deltas], finish="tool_calls")
    with modelled(spoken, says(THIRTY)) as server:
        events = asked(reader, LEAVE)
    assert_only_added_to(server)
    assert words(events) == THIRTY.replace(" [1].", ".[1]")
