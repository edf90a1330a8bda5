"""The calls of one turn run at the same time, and their results come in the order of the calls."""

import asyncio

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session
from agent.events import ToolResult as Result
from agent.runs.start import ask_question
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolOutput, ToolText, tools
from authz.principal import Principal
from tests.integration.agent.conversations import LEAVE, asked
from tests.integration.agent.modelled import THIRTY, modelled, of
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db


class MeetArgs(ToolArgs):
    who: str


class Meet(Tool):
    """Come back when two have come."""

    name = "meet"
    label = ToolText("Meet", "会合")
    description = ToolText("Waits for another call.", "等待另一次调用")
    Args = MeetArgs
    timeout_s = 5.0

    def __init__(self) -> None:
        self.here: list[str] = []
        self.is_met = asyncio.Event()

    async def run(self, ctx: ToolContext, args: MeetArgs) -> ToolOutput:
        self.here.append(args.who)
        if len(self.here) == 2:
            self.is_met.set()
        await self.is_met.wait()
        return ToolOutput(f"{args.who} met", {"display_type": "calculation"})


class Crowd(Meet):
    """Count how many are here at once; the one called “out” is ours to fail."""

    def __init__(self) -> None:
        self.here, self.most, self.ended = [], 0, 0

    async def run(self, ctx: ToolContext, args: MeetArgs) -> ToolOutput:
        self.here.append(args.who)
        self.most = max(self.most, len(self.here))
        try:
            await asyncio.sleep(0.1 if args.who != "stay" else 4)
            if args.who == "out":
                raise RuntimeError("a fault of ours")
        finally:
            await asyncio.sleep(0.05)
            self.here.remove(args.who)
            self.ended += 1
        return ToolOutput("was here", {"display_type": "calculation"})


def test_no_more_than_two_calls_of_a_run_are_made_at_once_and_none_outlives_it(
    reader: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = Crowd()
    monkeypatch.setattr(tools, "_items", {**tools._items, "meet": crowd})
    principal = Principal.of(reader)
    session = create_session(principal)
    with modelled(calls(*(("meet", {"who": who}) for who in "abcdea")), says(THIRTY)):
        asked(principal, LEAVE, session)
    assert (crowd.most, crowd.ended) == (2, 5)

    async def here_at_the_end() -> list[str]:
        here: list[str] = []
        async for event in ask_question(principal, session_id=session.pk, question=LEAVE):
            here = list(crowd.here) if event.done else here
        return here

    with modelled(calls(("meet", {"who": "out"}), ("meet", {"who": "stay"}))):
        assert async_to_sync(here_at_the_end)() == [], "of a run that breaks"
    assert crowd.ended == 7


def test_calls_of_one_turn_run_at_the_same_time(reader: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_items", {**tools._items, "meet": Meet()})
    first, again = ("meet", {"who": "Ann"}), ("meet", {"who": "Bo"})
    search = ("knowledge_search", {"queries": ["annual leave days"]})
    with modelled(calls(first, search, again, first), says(THIRTY)):
        events = asked(reader, LEAVE)
    results = of(events, Result)
    assert [result.data["tool_name"] for result in results[:4]] == ["meet", "knowledge_search", "meet", "meet"]
    assert [result.data["success"] for result in results] == [True, True, True, False]
    assert [results[0].content, results[2].content] == ["Ann met", "Bo met"]
    assert "exactly this before" in results[3].content
