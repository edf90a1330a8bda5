"""Questions answered with a model that reaches a limit, fails, or is set up wrong; what the person gets then."""

from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest

from agent.events import Answer, Complete, Error, Reflection, Thinking, ToolResult
from agent.keys import sealed
from agent.models import AgentProfile, DayOfUse, LanguageModel, StopReason
from agent.profiles import Options
from agent.sessions import create_session
from authz.principal import Principal
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import (
    LEAVE,
    SALARY,
    Judged,
    asked,
    make_library,
    make_reader,
    stored,
    words,
)
from tests.integration.agent.modelled import HURRIED, modelled, routes, sent
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db

SEARCH = calls(("knowledge_search", {"queries": ["annual leave days"]}))
DONE = says("DONE")
THIRTY = "Employees have 30 days of annual leave in each calendar year [1]."


def of(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_the_same_call_again_ends_the_search() -> None:
    base, _manual, _secret = make_library()
    again = calls(("knowledge_search", {"queries": ["annual leave days"]}))
    with modelled(routes(), SEARCH, again, says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    assert [result.data["success"] for result in of(events, ToolResult)] == [True, False]
    assert "30 days" in words(events)


def test_steps_that_bring_nothing_new_end_the_search() -> None:
    base, _manual, _secret = make_library()
    idle = [calls(("thinking", {"thought": f"hmm {number}"})) for number in range(2)]
    with modelled(routes(), SEARCH, *idle, says(THIRTY)):
        assert "30 days" in words(asked(make_reader(base), LEAVE))


def profile(**limits: Any) -> Options:
    return Options(profile_id=str(AgentProfile.objects.create(name="narrow", **limits).pk))


def test_a_loop_without_end_is_ended_by_the_budget_of_steps() -> None:
    base, _manual, _secret = make_library()
    for number in range(6):
        make_document(
            base, f"more{number}.md", f"# More {number}\n\nLeave rule number {number} of annual leave.", ingested=True
        )
    turn = iter(range(100))

    def endless(request: Request) -> Step:
        if "response_format" in request:
            return routes()
        if "tools" in request:
            return calls(("grep_chunks", {"patterns": [f"rule number {next(turn)}"]}))
        return says("NO_ANSWER")

    with modelled(chooses=endless) as server:
        events = asked(make_reader(base), LEAVE, options=profile(most_steps=3))
    assert sum("tools" in request for request in server.requests) == 3
    assert any("stopped at its limit" in event.content for event in of(events, Reflection))
    assert "stopped at its limit" in stored(events).notice


def test_tokens_are_a_limit_that_ends_the_model_s_part() -> None:
    base, _manual, _secret = make_library()
    dear = replace(routes(), usage=(2_000, 10))
    with modelled(dear) as server:
        events = asked(make_reader(base), LEAVE, options=profile(most_tokens=1_000))
    assert len(server.requests) == 1
    assert stored(events).provider == "extractive"
    assert "30 days" in words(events)
    assert "limit for language models" in stored(events).notice


def test_a_limit_before_any_answer_is_the_reason_given(judged: Judged) -> None:
    base, _manual, _secret = make_library()
    judged(confirms=False)
    with modelled(replace(routes(), usage=(2_000, 10))):
        events = asked(make_reader(base), LEAVE, options=profile(most_tokens=1_000))
    assert stored(events).stop_reason == StopReason.BUDGET_EXHAUSTED


def test_use_is_counted_by_person_and_day_and_the_day_s_money_is_a_limit() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    steps = (replace(routes(), usage=(1_000, 100)), SEARCH, DONE, says(THIRTY))
    with modelled(*steps, day_cost=Decimal("0.005")):
        events = asked(reader, LEAVE)
    day = DayOfUse.objects.get(user=reader)
    assert (day.runs, day.input_tokens, day.output_tokens) == (1, 1_030, 115)
    assert day.cost == Decimal("0.0126")
    with modelled(day_cost=Decimal("0.005")) as server:
        events = asked(reader, LEAVE)
    assert server.requests == []
    assert "budget for language models is used up" in stored(events).notice
    assert "30 days" in words(events)


# --- failures ---


@pytest.mark.parametrize(
    "fault",
    [
        Step(status=500), Step(status=401), Step(status=429, headers={"Retry-After": "900"}), Step(hang="before"),
        Step(body="<html>"), Step(events=[]), Step([{"content": "x"}], hang=0),
    ],
    ids=["500", "401", "429", "hang", "html", "empty", "silent"],
)  # fmt: skip
def test_a_model_that_fails_at_once_leaves_quotations_and_says_so(fault: Step) -> None:
    base, _manual, _secret = make_library()
    with modelled(chooses=lambda _request: fault, limits=HURRIED):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert (row.stop_reason, row.provider, row.is_complete) == (StopReason.OK, "extractive", True)
    assert "30 days" in words(events)
    assert [event.content for event in of(events, Reflection)] == [row.notice]
    assert "quoted from documents" in row.notice
    assert isinstance(events[-1], Complete)
    assert events[-1].data["notices"] == [row.notice]
    assert row.state["tools"]["errors"][0]["tool"] == "model"


def test_a_model_without_tools_writes_from_a_plain_search() -> None:
    base, _manual, _secret = make_library()

    def no_tools(request: Request) -> Step:
        if "tools" in request:
            return Step(status=400)
        return routes() if "response_format" in request else says(THIRTY)

    with modelled(chooses=no_tools):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert (row.stop_reason, row.provider) == (StopReason.OK, "default")
    assert "plain search" in row.notice


def test_a_model_that_breaks_off_keeps_its_checked_sentences() -> None:
    base, _manual, _secret = make_library()
    half = says(f"{THIRTY} A sick note is due on the third day of absence [1]. And then", finish=None, usage=None)
    with modelled(routes(), SEARCH, DONE, half):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert "third day" in row.content
    assert "broke off" in row.notice
    assert row.stop_reason == StopReason.OK
    assert row.content == words(events)


def test_a_model_that_breaks_off_before_a_sentence_leaves_quotations() -> None:
    base, _manual, _secret = make_library()
    with modelled(routes(), SEARCH, DONE, says("Employees", finish=None, usage=None)):
        events = asked(make_reader(base), LEAVE)
    assert stored(events).provider == "extractive"
    assert "30 days" in words(events)


def test_nonsense_of_the_model_becomes_observations() -> None:
    base, _manual, _secret = make_library()
    odd = Step(
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "rm_rf", "arguments": "{}"}}]},
            {
                "tool_calls": [
                    {"index": 1, "id": "b", "function": {"name": "knowledge_search", "arguments": "{queries"}}
                ]
            },
            {
                "tool_calls": [
                    {"index": 2, "id": "c", "function": {"name": "grep_chunks", "arguments": '{"patterns": ["("]}'}}
                ]
            },
        ]
    )
    with modelled(routes(), odd, SEARCH, DONE, says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    assert [result.data["success"] for result in of(events, ToolResult)] == [False, False, False, True]
    row = stored(events)
    assert row.stop_reason == StopReason.OK
    assert {problem["tool"] for problem in row.state["tools"]["errors"]} == {"rm_rf", "knowledge_search", "grep_chunks"}


def test_what_a_model_thinks_aloud_is_streamed_and_not_part_of_the_answer() -> None:
    base, _manual, _secret = make_library()
    thinking = Step([{"reasoning_content": "The manual may say it."}, *SEARCH.deltas], finish="tool_calls")
    with modelled(routes(), thinking, DONE, says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    assert "".join(event.content for event in of(events, Thinking)) == "The manual may say it."
    assert "may say it" not in stored(events).content


def test_a_stopped_run_keeps_the_sentences_that_came() -> None:
    from asgiref.sync import async_to_sync

    from agent.models import Message
    from agent.runs import ask

    base, _manual, _secret = make_library()
    principal = Principal.of(make_reader(base))
    session_id = create_session(principal).pk
    slow = Step([{"content": f"{THIRTY} A sick note "}, {"content": "is due."}], hang=1)

    async def leave() -> None:
        events = ask(principal, session_id=session_id, question=LEAVE)
        async for event in events:
            if isinstance(event, Answer):
                break
        await events.aclose()  # type: ignore[attr-defined]

    with modelled(routes(), SEARCH, DONE, slow):
        async_to_sync(leave)()
    row = Message.objects.get(session_id=session_id, role="assistant")
    assert (row.stop_reason, row.is_complete) == (StopReason.CANCELLED, True)
    assert "30 days" in row.content
    assert "Stopped" in row.notice
    assert row.citations.count() == 1


# --- configuration ---


def test_a_model_of_the_admin_is_used_with_its_own_key() -> None:
    base, _manual, _secret = make_library()
    with modelled(routes(), SEARCH, DONE, says(THIRTY)) as server:
        LanguageModel.objects.create(name="Big", base_url=server.base_url, model="big-1", encrypted_key=sealed("k-1"))
        events = asked(make_reader(base), LEAVE, options=Options(model="Big"))
    assert {request["model"] for request in server.requests} == {"big-1"}
    assert stored(events).provider == "Big"


def test_a_key_that_is_lost_leaves_quotations_and_says_so() -> None:
    base, _manual, _secret = make_library()
    LanguageModel.objects.create(
        name="Big", base_url="http://127.0.0.1:1/v1", model="big-1", encrypted_key="gAAAAAB", is_default=True
    )
    events = asked(make_reader(base), LEAVE)
    assert "administrator mends it" in stored(events).notice
    assert "30 days" in words(events)


def test_a_profile_narrows_tools_and_places() -> None:
    base, _manual, secret = make_library()
    reader = make_reader(base)
    allow(reader, secret.knowledge_base)
    row = AgentProfile.objects.create(name="handbook", allowed_tools=["rag_retriever", "thinking"])
    row.knowledge_bases.add(base)
    steps = (
        routes(),
        calls(("knowledge_search", {"queries": [SALARY]}), ("grep_chunks", {"patterns": ["420"]})),
        DONE,
        says("NO_ANSWER"),
    )
    with modelled(*steps) as server:
        events = asked(reader, SALARY, options=Options(profile_id=str(row.pk)))
    assert [tool["function"]["name"] for tool in server.requests[1]["tools"]] == ["thinking", "knowledge_search"]
    assert all("420,000" not in sent(request) for request in server.requests)
    assert "switched off" in of(events, ToolResult)[1].content


@pytest.mark.parametrize(
    "options", [Options(profile_id="nope"), Options(profile_id=str(make_base)), Options(model="nope")]
)
def test_a_choice_that_is_none_is_refused_before_anything_is_stored(options: Options) -> None:
    from agent.models import Message
    from copilot_site.lib.errors import CopilotError

    base, _manual, _secret = make_library()
    with pytest.raises(CopilotError):
        asked(make_reader(base), LEAVE, options=options)
    assert not Message.objects.exists()


def test_our_own_mistake_ends_the_run_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("a bug of ours")

    base, _manual, _secret = make_library()
    monkeypatch.setattr(import_module("agent.states.act"), "keep", broken)
    with modelled(routes(), SEARCH):
        events = asked(make_reader(base), LEAVE)
    assert isinstance(events[-1], Error)
    assert "a bug of ours" not in events[-1].content
    assert stored(events).stop_reason == StopReason.TOOL_ERROR
