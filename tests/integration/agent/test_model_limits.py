"""A run with a model ends within its budget, and says so where that changed the answer."""

import json
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.dialogue.conversation import CONTEXT_SHARE, WRITE_NOW
from agent.events import Reflection, StopReason, ToolResult
from agent.models import AgentProfile, DayOfUse
from agent.profiles.settings import Options
from agent.prompting import count_message_tokens, count_tokens
from tests.factories import make_document
from tests.integration.agent.conversations import LEAVE, Floor, Handbook, asked, make_reader, stored, words
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, of
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db


def test_the_same_call_again_or_steps_that_bring_nothing_new_end_the_search(reader: User) -> None:
    with modelled(SEARCH, SEARCH, says(THIRTY)) as server:
        events = asked(reader, LEAVE)
    assert server.requests[-1]["messages"][-1]["content"] == WRITE_NOW
    assert [result.data["success"] for result in of(events, ToolResult)] == [True, False]
    assert "30 days" in words(events)
    idle = [calls(("thinking", {"thought": f"hmm {number}"})) for number in range(2)]
    with modelled(*idle, says(THIRTY)):
        assert "30 days" in words(asked(reader, LEAVE))


def profile(**limits: Any) -> Options:
    return Options(profile_id=str(AgentProfile.objects.create(name=f"narrow {sorted(limits)}", **limits).pk))


def test_a_loop_without_end_is_ended_by_the_budget_of_steps(handbook: Handbook) -> None:
    base, manual, _secret = handbook
    steps = count()

    def endless(request: Request) -> Step:
        if request["messages"][-1]["role"] == "user" and len(request["messages"]) > 2:
            return says("NO_ANSWER")
        if (step := next(steps)) % 2:
            return calls(("get_document_info", {"knowledge_ids": [str(manual.pk)]}))  # brings something new
        return calls(("calculate", {"expression": f"30 * {step}"}))

    with modelled(chooses=endless) as server:
        events = asked(make_reader(base), LEAVE, options=profile(most_steps=3))
    assert len(server.requests) == 4, "three steps, and the answer"
    assert any("stopped at its limit" in event.content for event in of(events, Reflection))
    assert "stopped at its limit" in stored(events).notice


def test_tokens_and_money_are_limits_that_end_the_model_s_part(reader: User) -> None:
    dear = replace(SEARCH, usage=(2_000, 10))
    for options in (profile(most_tokens=1_000), profile(most_cost=Decimal("0.01"))):
        with modelled(dear) as server:
            events = asked(reader, LEAVE, options=options)
        assert len(server.requests) == 1
        assert stored(events).provider == "extractive"
        assert "30 days" in words(events)
        assert "limit for language models" in stored(events).notice


def test_the_time_of_a_run_ends_a_call_that_waits(reader: User) -> None:

    def silent(request: Request) -> Step:
        return says("", hang="before")

    with modelled(chooses=silent):
        events = asked(reader, LEAVE, options=profile(most_seconds=1))
    assert stored(events).provider == "extractive"
    assert "30 days" in words(events)
    assert "limit for language models" in stored(events).notice


def test_what_does_not_fit_any_more_is_cut_and_the_model_writes_then(
    handbook: Handbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _manual, _secret = handbook
    make_document(base, "taxis.md", "# Taxis\n\n" + "Taxis are paid in many words. " * 60, ingested=True)
    monkeypatch.setattr(
        import_module("agent.states.retrieve"), "TOP_K", 1
    )  # so that the evidence to begin with has nothing of taxis
    reader, wide = make_reader(base), calls(("grep_chunks", {"patterns": ["many words"], "max_results": 50}))
    with modelled(wide, says(THIRTY)) as server:
        asked(reader, LEAVE)
    whole = count_message_tokens(server.requests[1]["messages"])
    tools = count_tokens(json.dumps(server.requests[1]["tools"], ensure_ascii=False))
    size = int((whole + tools - 100) / CONTEXT_SHARE)  # a little less than is needed
    with modelled(wide, says(THIRTY), context_tokens=size) as server:
        asked(reader, LEAVE)
    first, second = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "tool", "user"]
    assert second[-1]["content"] == WRITE_NOW
    assert "characters left out here" in second[-2]["content"]
    assert count_message_tokens(second) < whole


def test_a_limit_before_any_answer_is_the_reason_given(reader: User, floor: Floor) -> None:
    floor(near=False)
    with modelled(replace(SEARCH, usage=(2_000, 10))):
        events = asked(reader, LEAVE, options=profile(most_tokens=1_000))
    assert stored(events).stop_reason == StopReason.BUDGET_EXHAUSTED


def test_use_is_counted_by_person_and_day_and_the_day_s_money_is_a_limit(reader: User) -> None:
    steps = (replace(SEARCH, usage=(1_000, 100)), SEARCH, says(THIRTY))
    with modelled(*steps, day_cost=Decimal("0.02")):
        asked(reader, LEAVE)
    day = DayOfUse.objects.get(user=reader)
    assert (day.runs, day.input_tokens, day.output_tokens) == (1, 1_020, 110)
    assert day.cost == Decimal("0.0124")
    with modelled(replace(SEARCH, usage=(1_000, 100)), day_cost=Decimal("0.02")):  # more than is left of the day
        events = asked(reader, LEAVE)
    assert "The limit for language models is reached" in stored(events).notice
    with modelled(day_cost=Decimal("0.02")) as server:
        events = asked(reader, LEAVE)
    assert server.requests == []
    assert "language model budget is used up" in stored(events).notice
    assert "30 days" in words(events)
