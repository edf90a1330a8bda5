"""The loop in which the model chooses tools: decide, call, look, until it has enough or a limit is reached."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.utils import timezone

from agent.budget import HARD, Limit
from agent.events import Event, FunctionCall, LLMToolCall, Thinking, ToolCall, ToolResult
from agent.fencing import unfenced
from agent.notices import limit_reached, model_failed
from agent.outside import AllowedCall, AskedApproval, WebSummary
from agent.prompting import count_messages, dated, prompt
from agent.providers.base import ModelError
from agent.providers.reply import CompleteCall, Reply
from agent.revocation import require_visible
from agent.run import Goto, Run
from agent.skills.catalog import READ, Offer, listed, offers, without_skills
from agent.state import ExploreForm, MeantQuery, RagSummary, Route, State, ToolProblem, Turn
from agent.states.retrieve import filters_of
from agent.tools.approvals import NeedsApproval, ask_to_allow
from agent.tools.base import ToolContext, allowed_names, find, in_order, specification, why_closed
from agent.tools.base import ToolResult as Result
from agent.tools.calling import UNREAD, Called, call_tool
from agent.tools.knowledge_search import TOP_K
from agent.workflow import add_trace
from copilot_site.lib.json_input import loads_answer
from knowledge.text.language import language_of

AT_ONCE = 2  # calls of one run: each may hold a connection, and ask the model
CONTEXT_SHARE = 0.6  # of the model's context for the conversation of the loop; the rest is room for its answers
AGAIN = {"InsideFirst"}  # problems after which the very same call may be made again
PROBLEMS = {  # what is kept of a call that failed: the tool's own sentence may repeat a title or a cell
    "InvalidArguments": "the arguments do not fit the tool",
    "TimeoutError": "the tool did not finish in time",
    "NotFound": "what it was asked for is not there, or not theirs",
    "InsideFirst": "the web is asked after the company's own documents",
    "KeptInside": "the question held what was read inside, and did not leave",
    "SearchFailed": "the search of the web did not answer",
    "ToolMistake": "the tool could not do what it was asked for",
    "ServiceUnusable": "the service of the tool did not answer",
    "NeedsApproval": "the person is asked first",
}
LEFT_OUT = "[This result was left out to save room. Call the tool again if you need it.]"


async def act(run: Run) -> AsyncIterator[Event | Goto]:
    """Gather evidence. Where the model fails, what was found so far is used, or a plain search is made."""
    assert run.model is not None
    loop = _Loop(run, await sync_to_async(offers)(run.profile.name), await sync_to_async(_closed)(run))
    while not loop.is_over:
        try:
            async for event in loop.step():
                yield event
        except ModelError as error:
            model_failed(run, error, State.ACT)
            run.model_gave_up = run.spent.stopped_by in HARD  # it may still write from what is found without it
            break
    for notice in run.fresh_notices():
        yield notice
    add_trace(
        run,
        State.ACT,
        action="gather",
        status="error" if any(problem.tool == "model" for problem in run.state.tools.errors) else "ok",
        in_={"route": run.state.plan.route},
        out={"evidence_added": len(run.findings), "note": f"steps={run.spent.steps} calls={run.spent.tool_calls}"},
    )
    yield Goto(await sync_to_async(_after)(run))


def _closed(run: Run) -> frozenset[str]:
    """Tools that have nothing for this person: no data source, no spreadsheet. A model is not told of them."""
    names = allowed_names(run.profile.tools)
    return frozenset(name for name in names if why_closed(find(name), run.principal) is not None)


def _after(run: Run) -> State:
    """Where the run goes from here: back to the person, on with what was found, or to a plain search."""
    if run.state.plan.approval or (run.state.plan.clarifying_questions and not run.findings):
        return State.CLARIFY
    if not run.findings:
        return State.RETRIEVE
    return State.VALIDATE_EVIDENCE


@dataclass
class _Loop:
    """One run's conversation with its model."""

    run: Run
    skills: Sequence[Offer]
    closed: frozenset[str]

    def __post_init__(self) -> None:
        run = self.run
        self.outside = run.profile.outside
        inside = allowed_names(run.profile.tools)
        if not self.skills:
            inside = without_skills(inside)
        self.allowed = [*inside, *(tool.name for tool in self.outside)]
        offered = [tool for tool in in_order(inside) if tool.name not in self.closed]
        self.tools = [specification(tool) for tool in (*offered, *self.outside)]
        asked = run.state.input.normalized_query
        language = language_of(asked) or run.language
        system = run.use(prompt("act", language))
        if any(tool.brings == "outside" for tool in in_order(inside)):
            system = f"{system}\n{run.use(prompt('act_outside', language))}"
        system += run.attached.told(language, use=run.use)
        if self.skills and READ in inside:
            system = f"{system}\n\n{run.use(prompt('skills', language))}\n{listed(self.skills)}"
        told = "\n".join([asked, *(f"- {step.tool}: {step.question}" for step in run.state.plan.subtasks)])
        self.turns = [
            Turn(role="system", content=dated(system, timezone.localdate())),
            *run.history,
            Turn(role="user", content=told),
        ]
        self.ids: set[str] = set()
        self.places = asyncio.Semaphore(AT_ONCE)
        self.is_over = self.is_put_off = self.has_moved = False

    async def step(self) -> AsyncIterator[Event]:
        """One decision of the model and the calls it makes. Raises ModelError."""
        run = self.run
        assert run.model is not None
        if limit := run.spent.limit_reached(run.profile.budget):
            limit_reached(run, limit)
            self.is_over = True
            return
        run.spent.steps += 1
        if run.allowed_call:
            async for event in self._allowed_made(run.allowed_call):
                yield event
            return
        await sync_to_async(require_visible)(run)  # the results of earlier calls go to the model again
        reply, began = Reply(), time.monotonic()
        async for delta in run.model.stream(self._fitting(), tools=self.tools):
            reply.take(delta)
            if delta.reasoning:
                yield Thinking(content=delta.reasoning)
        if reply.reasoning:
            yield Thinking(done=True)
        add_trace(run, State.ACT, action="decide", timing_ms=_since(began), out={"note": f"calls={len(reply.calls)}"})
        calls = [self._told_apart(call) for call in reply.calls]
        if not calls:
            self.is_over = True
            return
        self.turns.append(Turn(role="assistant", content=reply.text, tool_calls=[call.as_message() for call in calls]))
        yield ToolCall(tool_calls=[_shown_call(call) for call in calls], done=True)
        known, self.is_put_off, self.has_moved = len(run.findings), False, False
        async for result in self._called(calls):
            yield result
        if not self.is_put_off:
            has_come_on = len(run.findings) > known or self.has_moved
            run.spent.fruitless = 0 if has_come_on else run.spent.fruitless + 1

    async def _allowed_made(self, allowed: AllowedCall) -> AsyncIterator[Event]:
        """The call that the person allowed, as if the model had just written it; no other call of the run can spend what was allowed."""
        self.run.allowed_call = None
        call = CompleteCall(f"allowed_{allowed.approval_id.hex[:8]}", allowed.tool, json.dumps(allowed.arguments))
        self.ids.add(call.id)
        self.turns.append(Turn(role="assistant", tool_calls=[call.as_message()]))
        yield ToolCall(tool_calls=[_shown_call(call)], done=True)
        async for result in self._called([call], approval_id=allowed.approval_id):
            yield result

    def _told_apart(self, call: CompleteCall) -> CompleteCall:
        """The call with an id that no other of this run has; services may use theirs again, or have none."""
        if call.id in self.ids:
            call = replace(call, id=f"{call.id}_{len(self.ids) + 1}")
        self.ids.add(call.id)
        return call

    async def _called(
        self, calls: Sequence[CompleteCall], *, approval_id: UUID | None = None
    ) -> AsyncIterator[ToolResult]:
        """The results of the calls of one turn in their order. Some run at the same time: none was written with another's result."""
        began = time.monotonic()
        refused = {call.id: self._refused(call) for call in calls}
        ctx = replace(ToolContext.of(self.run, model=self.run.model), approval_id=approval_id)
        running = {call.id: asyncio.create_task(self._made(call, ctx)) for call in calls if not refused[call.id]}
        try:
            for call in calls:
                if why := refused[call.id]:
                    self.turns.append(Turn(role="tool", content=why, tool_call_id=call.id))
                    yield _result(call, call.name, why, {"display_type": "error", "error": why}, success=False, ms=0)
                else:
                    called = await running[call.id]
                    if called.problem == NeedsApproval.__name__:
                        await self._asks_to_allow(called)
                    yield self._kept(call, called, ms=_since(began))
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)

    async def _made(self, call: CompleteCall, ctx: ToolContext) -> Called:
        async with self.places:
            return await call_tool(call.name, call.arguments, allowed=self.allowed, ctx=ctx, outside=self.outside)

    async def _asks_to_allow(self, called: Called) -> None:
        """Keep the first call that waits for the person; the run ends with the question whether it may be made."""
        self.is_over = True
        if self.run.state.plan.approval or called.tool is None:
            return
        title = called.tool.label.within(self.run.language)
        row = await sync_to_async(ask_to_allow)(self.run, tool=called.name, title=title, arguments=called.arguments)
        self.run.state.plan.approval = AskedApproval(id=row.pk, tool=called.name, title=title)

    def _refused(self, call: CompleteCall) -> str:
        """Why a call is not run; "" where it is, and then it counts as made."""
        run, signature = self.run, _signature(call)
        if signature in run.spent.calls_made or run.spent.tool_calls >= run.profile.budget.tool_calls:
            repeated = signature in run.spent.calls_made
            limit_reached(run, Limit.REPEATED if repeated else Limit.TOOL_CALLS)
            self.is_over = True
            return "You asked exactly this before." if repeated else "No more calls are allowed in this run."
        run.spent.calls_made.add(signature)
        run.spent.tool_calls += 1
        return ""

    def _kept(self, call: CompleteCall, called: Called, *, ms: int) -> ToolResult:
        keep(self.run, called, ms=ms)
        if called.problem in AGAIN:
            self.run.spent.calls_made.discard(_signature(call))
            self.is_put_off = True
        self.has_moved = self.has_moved or called.result.moves_on
        self.turns.append(Turn(role="tool", content=called.result.output, tool_call_id=call.id))
        data, success = dict(called.result.data), called.result.success
        return _result(call, called.name, called.result.output, data, success=success, ms=ms)

    def _fitting(self) -> list[dict[str, Any]]:
        """The conversation as it is sent: when it is too long, old results are replaced by a marker, the oldest first."""
        assert self.run.model is not None
        room = int(self.run.model.context_tokens * CONTEXT_SHARE)
        messages = [turn.as_message() for turn in self.turns]
        for message in messages:
            if count_messages(messages) <= room:
                break
            if message["role"] == "tool" and len(message["content"]) > len(LEFT_OUT):
                message["content"] = LEFT_OUT
        return messages


def keep(run: Run, called: Called, *, ms: int) -> None:
    """What a call brought, on the run and in its trace; ids and counts only."""
    result = called.result
    known = len(run.findings)
    run.add(result.findings)
    if result.found is not None:
        run.found = result.found
        ids = [finding.item.evidence_id for finding in result.findings]
        queries = called.arguments.get("queries", [])
        run.state.tools.rag = RagSummary(
            query=" | ".join(queries),
            top_k=called.arguments.get("top_k", TOP_K),
            filters=filters_of(run),
            returned_evidence_ids=ids,
        )
    if result.sql is not None:
        run.state.tools.sql = result.sql
    if result.web is not None:
        before = run.state.tools.web or WebSummary()
        run.state.tools.web = WebSummary(
            asked=[*before.asked, *result.web.asked], fetched=[*before.fetched, *result.web.fetched]
        )
    if called.tool is not None and called.tool.brings == "inside":
        said = [f"{finding.item.source.title}\n{finding.item.text}" for finding in result.findings]
        run.told_inside += [*said, unfenced(result.output)]  # a passage is cut there, and names stand beside it
    if called.tool and called.tool.node is State.QUERY and not run.state.plan.subtasks:
        form = result.data.get("explore")
        run.state.plan.explore = (
            ExploreForm.model_validate(form) if form and run.state.plan.route is Route.SQL else None
        )
        _keep_readings(run, result)
    if called.tool and called.tool.node is State.CALCULATE and result.success:
        run.workings.append(result.output)
    skill = result.data.get("skill_name")  # of one that there is
    err = None
    out: dict[str, object] = {"evidence_added": len(run.findings) - known}
    if called.is_error:
        err = {"type": called.problem, "msg": PROBLEMS.get(called.problem, PROBLEMS["ToolMistake"])}
        run.state.tools.errors.append(ToolProblem(tool=called.name, **err))
    add_trace(
        run,
        called.tool.node if called.tool else State.ACT,
        action="call_tool",
        tool=called.name,
        timing_ms=max(ms, 1),
        status="error" if err else "ok",
        in_={"skill": skill} if skill else {},
        out=out | ({"note": UNREAD[called.problem]} if called.problem in UNREAD else {}),
        err=err,
    )


def _keep_readings(run: Run, result: Result) -> None:
    """What the data ask back, to choose from; until they answer."""
    plan = run.state.plan
    queries = result.data.get("queries", {})
    plan.clarifying_questions = list(result.data.get("readings", ()))
    plan.clarifying_queries = {text: MeantQuery.model_validate(each) for text, each in queries.items()}


def _signature(call: CompleteCall) -> str:
    """The same for calls that differ in the order of their arguments only."""
    try:
        return f"{call.name} {json.dumps(loads_answer(call.arguments), sort_keys=True)}"
    except ValueError:
        return f"{call.name} {call.arguments}"


def _shown_call(call: CompleteCall) -> LLMToolCall:
    return LLMToolCall(id=call.id, function=FunctionCall(name=call.name, arguments=call.arguments))


def _result(call: CompleteCall, name: str, output: str, data: dict[str, Any], *, success: bool, ms: int) -> ToolResult:
    facts = {"tool_call_id": call.id, "tool_name": name, "success": success, "duration_ms": ms}
    return ToolResult(content=output, data={**data, **facts}, done=True)


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
