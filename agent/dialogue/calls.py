"""The tool calls of one model turn: run concurrently, recorded, and returned to the model with numbered evidence."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async

from agent.attribution.standing import is_unapproved
from agent.budget import Limit
from agent.events import LLMToolCall, ToolResult
from agent.notices import explain_unqueried_data, record_reached_limit
from agent.providers.reply import CompleteCall
from agent.run_state.outside import AskedApproval
from agent.run_state.run import Run
from agent.run_state.state import Turn
from agent.tools.approvals import NeedsApproval, request_approval
from agent.tools.base import Objection, Tool, ToolContext
from agent.tools.calling import CallOutcome, call_tool
from agent.tools.keeping import store_call_result
from copilot_site.lib.text.json_input import load_answer_json

AT_ONCE = 2  # concurrent calls per run: each may hold a connection
AGAIN = {"InsideFirst", Objection.__name__}  # problems after which the very same call may be made again
_EVIDENCE = re.compile(r'<evidence id="([^"]+)"([^<>]*)>([^<]*)</evidence>')


@dataclass
class Calls:
    """Makes the calls of one run. allowed: names of tools. outside: tools of services.

    sent: numbers of evidence sent to the model. is_over: no further call is allowed. is_put_off, has_moved: of the
    latest turn.
    """

    run: Run
    allowed: Sequence[str]
    outside: Sequence[Tool]
    sent: set[int] = field(default_factory=set)
    is_over: bool = False
    is_put_off: bool = False
    has_moved: bool = False
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def made(
        self, calls: Sequence[CompleteCall], turns: list[Turn], *, approval_id: UUID | None = None
    ) -> AsyncIterator[ToolResult]:
        """Make the calls, some concurrently; yield the results in their order, and add each to `turns`."""
        began, known = time.monotonic(), len(self.run.findings)
        self.is_put_off = self.has_moved = False
        refused = {call.id: self._find_refusal(call) for call in calls}
        ctx = replace(ToolContext.of(self.run, writes_sql=True), approval_id=approval_id)
        running = {
            call.id: asyncio.create_task(self._call_one_tool(call, ctx)) for call in calls if not refused[call.id]
        }
        try:
            for call in calls:
                if why := refused[call.id]:
                    turns.append(Turn(role="tool", content=why, tool_call_id=call.id))
                    yield _make_tool_result(
                        call, call.name, why, {"display_type": "error", "error": why}, success=False, ms=0
                    )
                    continue
                called = await running[call.id]
                if called.problem == NeedsApproval.__name__:
                    await self._request_approval(called)
                yield self._record_call(call, called, turns, ms=round((time.monotonic() - began) * 1000))
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)
        if not self.is_put_off:
            has_come_on = len(self.run.findings) > known or self.has_moved
            self.run.spent.fruitless = 0 if has_come_on else self.run.spent.fruitless + 1

    async def _call_one_tool(self, call: CompleteCall, ctx: ToolContext) -> CallOutcome:
        async with self._places:
            return await call_tool(call.name, call.arguments, allowed=self.allowed, ctx=ctx, outside=self.outside)

    async def _request_approval(self, called: CallOutcome) -> None:
        """Store the first call that needs approval; the run ends by asking the person for it."""
        self.is_over = True
        if self.run.state.plan.approval or called.tool is None:
            return
        title = called.tool.label.within(self.run.language)
        row = await sync_to_async(request_approval)(self.run, tool=called.name, title=title, arguments=called.arguments)
        self.run.state.plan.approval = AskedApproval(id=row.pk, tool=called.name, title=title)

    def _find_refusal(self, call: CompleteCall) -> str:
        """Return why a call is refused; "" where it is allowed, and then count it."""
        run, signature = self.run, _build_call_signature(call)
        if signature in run.spent.calls_made or run.spent.tool_calls >= run.profile.budget.tool_calls:
            repeated = signature in run.spent.calls_made
            record_reached_limit(run, Limit.REPEATED if repeated else Limit.TOOL_CALLS)
            return "You asked exactly this before." if repeated else "No more calls are allowed in this run."
        run.spent.calls_made.add(signature)
        run.spent.tool_calls += 1
        return ""

    def _record_call(self, call: CompleteCall, called: CallOutcome, turns: list[Turn], *, ms: int) -> ToolResult:
        store_call_result(self.run, called, ms=ms)
        if called.name == "database_query":
            explain_unqueried_data(self.run, called)
        if called.problem in AGAIN:
            self.run.spent.calls_made.discard(_build_call_signature(call))
            self.is_put_off = True
        self.has_moved = self.has_moved or called.result.moves_on
        output = called.result.output
        turns.append(Turn(role="tool", content=self.numbered(output), tool_call_id=call.id))
        data, success = dict(called.result.data), called.result.success
        return _make_tool_result(call, called.name, output, data, success=success, ms=ms)

    def numbered(self, output: str) -> str:
        """Replace evidence ids in a tool's output by citation numbers; evidence sent before is not repeated."""

        def with_number(found: re.Match[str]) -> str:
            number = self.run.numbers.get(found[1])
            if number is None:
                return found[0]
            is_known, finding = number in self.sent, self.run.findings.get(found[1])
            self.sent.add(number)
            text = "\n(as above)\n" if is_known else found[3]
            mark = ' approved="no"' if finding is not None and is_unapproved(finding) else ""
            return f'<evidence number="{number}"{mark}{found[2]}>{text}</evidence>'

        return _EVIDENCE.sub(with_number, output)


def make_tool_call_event(call: CompleteCall) -> LLMToolCall:
    return LLMToolCall.model_validate(call.as_message())


def _build_call_signature(call: CompleteCall) -> str:
    """Return a canonical text of a call, independent of the order of its arguments."""
    try:
        return f"{call.name} {json.dumps(load_answer_json(call.arguments), sort_keys=True)}"
    except ValueError:
        return f"{call.name} {call.arguments}"


def _make_tool_result(
    call: CompleteCall, name: str, output: str, data: dict[str, Any], *, success: bool, ms: int
) -> ToolResult:
    facts = {"tool_call_id": call.id, "tool_name": name, "success": success, "duration_ms": ms}
    return ToolResult(content=output, data={**data, **facts}, done=True)
