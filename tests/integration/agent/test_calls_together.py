"""The calls of one turn run at the same time, and their results come in the order of the calls."""

import asyncio

import pytest

from agent.events import ToolResult as Result
from agent.tools.base import ToolArgs, ToolContext, ToolDefaults, ToolResult, Words, tools
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader
from tests.integration.agent.modelled import THIRTY, modelled, of, routes
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db


class MeetArgs(ToolArgs):
    who: str


class Meet(ToolDefaults):
    """Come back when two have come."""

    name = "meet"
    label = Words("Meet", "会合")
    description = Words("Waits for another call.", "等待另一次调用")
    Args = MeetArgs
    timeout_s = 5.0

    def __init__(self) -> None:
        self.here: list[str] = []
        self.is_met = asyncio.Event()

    async def run(self, ctx: ToolContext, args: MeetArgs) -> ToolResult:
        self.here.append(args.who)
        if len(self.here) == 2:
            self.is_met.set()
        await self.is_met.wait()
        return ToolResult(f"{args.who} met", {"display_type": "calculation"})


def test_calls_of_one_turn_run_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_items", {**tools._items, "meet": Meet()})
    base, _manual, _secret = make_library()
    first, again = ("meet", {"who": "Ann"}), ("meet", {"who": "Bo"})
    search = ("knowledge_search", {"queries": ["annual leave days"]})
    with modelled(routes(), calls(first, search, again, first), says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    results = of(events, Result)
    assert [result.data["tool_name"] for result in results[:4]] == ["meet", "knowledge_search", "meet", "meet"]
    assert [result.data["success"] for result in results] == [True, True, True, False]
    assert [results[0].content, results[2].content] == ["Ann met", "Bo met"]
    assert "exactly this before" in results[3].content
