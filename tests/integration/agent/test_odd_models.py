"""Models that answer, and not as one would wish: cut off, without tools, thinking aloud, with what no database keeps."""

import json

import pytest
from django.contrib.auth.models import User

from agent.events import Answer, Complete, Reflection, StopReason, Thinking, ToolCall, ToolResult
from tests.integration.agent.conversations import LEAVE, asked, stored, words
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, of
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db

SHOWN = THIRTY.replace(" [1].", ".[1]")
SICK = "A sick note is due on the third day of absence"
BROKEN_OFF = "The language model broke off. This is the part that arrived."
QUOTED = "The language model is not responding, so this answer quotes documents."


def test_an_answer_that_was_cut_keeps_its_whole_sentences_and_says_so(reader: User) -> None:
    with modelled(says(f"{THIRTY} {SICK[:28]}", finish="length")):
        events = asked(reader, LEAVE)
    assert words(events) == SHOWN
    assert [event.content for event in of(events, Reflection)] == [stored(events).notice] == [BROKEN_OFF]


@pytest.mark.parametrize("step", [says(""), says("<think>Employees have 30 days of annual leave", finish="length")])
def test_an_answer_without_a_sentence_is_quoted_and_says_so(reader: User, step: Step) -> None:
    with modelled(step):
        events = asked(reader, LEAVE)
    row = stored(events)
    assert (row.provider, row.notice, row.stop_reason) == ("extractive", QUOTED, StopReason.OK)
    assert "30 days" in words(events)


def test_a_model_without_tools_writes_from_a_plain_search(reader: User) -> None:

    def no_tools(request: Request) -> Step:
        return Step(status=400) if "tools" in request else says(THIRTY)

    with modelled(chooses=no_tools):
        row = stored(asked(reader, LEAVE))
    assert (row.stop_reason, row.provider, row.notice) == (StopReason.OK, "default", "")


def test_nonsense_of_the_model_becomes_observations(reader: User) -> None:
    odd = (("rm_rf", "{}"), ("knowledge_search", "{queries"), ("grep_chunks", '{"patterns": ["("]}'))
    functions = [{"name": name, "arguments": arguments} for name, arguments in odd]
    called = [{"index": number, "id": f"c{number}", "function": function} for number, function in enumerate(functions)]
    with modelled(Step([{"tool_calls": [call]} for call in called]), SEARCH, says(THIRTY)):
        events = asked(reader, LEAVE)
    assert [result.data["success"] for result in of(events, ToolResult)] == [False, False, False, True]
    row = stored(events)
    assert row.stop_reason == StopReason.OK
    assert {problem["tool"] for problem in row.state["tools"]["errors"]} == {"rm_rf", "knowledge_search", "grep_chunks"}


def test_what_a_model_thinks_is_streamed_and_no_part_of_the_answer(reader: User) -> None:
    calling = Step([{"reasoning_content": "The manual may say it."}, *SEARCH.deltas], finish="tool_calls")
    writing = Step([{"reasoning_content": "Thirty, says [1]."}, *says(THIRTY).deltas, {"reasoning_content": "Done."}])
    with modelled(calling, writing):
        events = asked(reader, LEAVE)
    thoughts = of(events, Thinking)
    assert [(event.content, event.done) for event in thoughts] == [
        ("The manual may say it.", False), ("", True), ("Thirty, says [1].", False), ("", True), ("Done.", False), ("", True),
    ]  # fmt: skip
    assert events.index(thoughts[2]) < events.index(of(events, Answer)[0])
    assert words(events) == stored(events).content == SHOWN


FORTY = "The manual says that employees have 30 days of annual leave in each calendar year [1]. I tell them that.\n</think>\n\n"


def test_thinking_whose_beginning_stands_in_the_prompt_is_no_part_of_the_answer(reader: User) -> None:
    """As templates of models that always think do it: the service sends its end alone. The first such reply tells."""
    aloud = Step([{"content": "I search.\n</think>\n\n"}, *SEARCH.deltas], finish="tool_calls")
    with modelled(aloud, says(f"{FORTY}{THIRTY}", size=3)):
        events = asked(reader, LEAVE)
    row = stored(events)
    assert words(events) == row.content == SHOWN
    thoughts = "".join(event.content for event in of(events, Thinking))
    assert "The manual says" in thoughts
    assert "</think>" not in thoughts


def test_what_no_database_keeps_ends_no_run(reader: User) -> None:
    with modelled(calls(("ask_back", {"readings": ["How\0 many days?", "Whose days?"]}))):
        events = asked(reader, LEAVE)
    assert isinstance(events[-1], Complete)
    row = stored(events)
    assert (row.is_complete, row.stop_reason) == (True, StopReason.NEED_CLARIFY)
    assert row.state["plan"]["clarifying_questions"] == ["How many days?", "Whose days?"]


def test_calls_without_ids_get_ids_of_their_own_over_all_steps(reader: User) -> None:

    def searching(query: str) -> Step:
        call = {"function": {"name": "knowledge_search", "arguments": json.dumps({"queries": [query]})}}
        return Step([{"tool_calls": [call]}], finish="tool_calls")

    with modelled(searching("annual leave"), searching("sick note"), says(THIRTY)) as server:
        events = asked(reader, LEAVE)
    ids = [call.id for event in of(events, ToolCall) for call in event.tool_calls]
    assert len(set(ids)) == 2
    assert [event.data["tool_call_id"] for event in of(events, ToolResult)] == ids
    told = [message["tool_call_id"] for message in server.requests[2]["messages"] if message["role"] == "tool"]
    assert told == ids
