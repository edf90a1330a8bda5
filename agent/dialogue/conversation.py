"""One run's conversation with its model. It only grows: each call sends what the call before sent, and what came since."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import sync_to_async

from agent.dialogue.calls import Calls, shown_call
from agent.dialogue.controls import CONTROLS, Control, read
from agent.dialogue.controls import specification as control_specification
from agent.dialogue.opening import fitting, opening
from agent.events import Event, ToolCall
from agent.fencing import bounded
from agent.outside import AllowedCall
from agent.prompting import count_messages, count_tokens, prompt
from agent.providers.reply import CompleteCall, Reply
from agent.run import Run
from agent.skills.catalog import Offer, offers, without_skills
from agent.state import Turn
from agent.tools.base import Tool, allowed_names, find, in_order, specification, why_closed

CONTEXT_SHARE = 0.8  # of the model's context for what it is sent; the rest is room for its answer
WRITE_NOW = "No more calls can be made. Answer now from the evidence above."


@dataclass
class Conversation:
    """turns: what was said. offered: tools and controls in an order that stays. ended: how the model ended it without writing.

    must_write: it was told to write now. is_asked_again: in the language of the question. is_over: nothing follows.
    """

    run: Run
    turns: list[Turn]
    offered: list[Mapping[str, Any]]
    calls: Calls
    ended: Control | None = None
    must_write: bool = False
    is_asked_again: bool = False
    is_over: bool = False
    ids: set[str] = field(default_factory=set)

    async def begin_again(self) -> None:
        """Begin with what may be read now: a right ended, and what was told before is not told to the model any more."""
        run = self.run
        tools, skills, allowed = await _offer(run)
        self.offered = [specification(tool) for tool in tools]
        self.offered += [control_specification(name) for name in CONTROLS] if run.profile.uses_tools else []
        evidence = fitting(run)
        self.turns = await opening(run, tools, skills, evidence)
        self.calls = Calls(run, allowed, run.profile.outside, told=set(evidence))
        run.spent.calls_made.clear()

    def messages(self) -> list[dict[str, Any]]:
        return [turn.as_message() for turn in self.turns]

    async def take(self, reply: Reply, *, again_in: str = "") -> AsyncIterator[Event]:
        """Take the model's turn: make its calls, or end. again_in: the language to write in instead, "" where nothing is wrong."""
        calls = [self._told_apart(call) for call in reply.calls]
        self._add(Turn(role="assistant", content=reply.text, tool_calls=[call.as_message() for call in calls]))
        if again_in and not calls and not self.is_asked_again:
            self.is_asked_again = True
            self._add(Turn(role="user", content=self.run.use(prompt("answer_language", again_in))))
            return
        controls = [call for call in calls if call.name in CONTROLS]
        tools = [call for call in calls if call.name not in CONTROLS]
        for call in controls:
            self._control(call, has_tools=bool(tools))
        if not calls or self.must_write:
            self.is_over = True
        if tools and not self.is_over:
            yield ToolCall(tool_calls=[shown_call(call) for call in tools], done=True)
            async for event in self.calls.made(tools, self.turns):
                yield event
            self.is_over = self.calls.is_over
            self._keep_room()

    async def call_allowed(self, allowed: AllowedCall) -> AsyncIterator[Event]:
        """Make the call that the person allowed, as if the model had just written it; no other call of the run can spend that."""
        self.run.allowed_call = None
        call = CompleteCall(f"allowed_{allowed.approval_id.hex[:8]}", allowed.tool, json.dumps(allowed.arguments))
        self.ids.add(call.id)
        self._add(Turn(role="assistant", tool_calls=[call.as_message()]))
        yield ToolCall(tool_calls=[shown_call(call)], done=True)
        async for event in self.calls.made([call], self.turns, approval_id=allowed.approval_id):
            yield event
        self.is_over = self.calls.is_over

    def ask_to_write(self) -> None:
        """Tell the model that no call is made any more; the tools stay as they are, so that what was sent stays the same."""
        self.must_write = True
        self._add(Turn(role="user", content=WRITE_NOW))

    def drop_tools(self, reply: Reply) -> bool:
        """Go on without tools where the service may not know them; False where nothing would change."""
        if not self.offered or reply.text or len(self.turns) > len(self.run.history) + 2:
            return False
        self.offered = []
        return True

    def _add(self, turn: Turn) -> None:
        self.turns.append(turn)

    def _control(self, call: CompleteCall, *, has_tools: bool) -> None:
        """End the conversation as the model asks for; where that cannot be read, tell it why, once."""
        said = read(call)
        if isinstance(said, str) or has_tools:
            told = said if isinstance(said, str) else "Not while other calls are made."
            self._add(Turn(role="tool", content=told, tool_call_id=call.id))
            self.run.spent.fruitless += not has_tools
            return
        self.ended, self.is_over = said, True

    def _told_apart(self, call: CompleteCall) -> CompleteCall:
        """The call with an id that no other of this run has; services may use theirs again, or have none."""
        if call.id in self.ids:
            call = replace(call, id=f"{call.id}_{len(self.ids) + 1}")
        self.ids.add(call.id)
        return call

    def _keep_room(self) -> None:
        """Cut the latest outputs where the conversation would not fit, and let the model write then."""
        assert self.run.model is not None
        fixed = count_tokens(json.dumps(list(self.offered), ensure_ascii=False))
        room = int(self.run.model.context_tokens * CONTEXT_SHARE) - fixed
        over = count_messages(self.messages()) - room
        if over <= 0:
            return
        for turn in reversed(self.turns):
            if turn.role != "tool" or over <= 0:
                break
            tokens = count_tokens(turn.content)
            most = max(200, len(turn.content) * max(0, tokens - over) // max(1, tokens))
            turn.content = bounded(turn.content, most)
            over -= tokens - count_tokens(turn.content)
        self.ask_to_write()


async def begin(run: Run) -> Conversation:
    """The conversation as it begins: what the profile and the person's rights offer, and what was found."""
    conversation = Conversation(run, [], [], Calls(run, (), ()))
    await conversation.begin_again()
    return conversation


async def _offer(run: Run) -> tuple[list[Tool], list[Offer], Sequence[str]]:
    """The tools that are offered, the skills, and the names of the tools that may be called."""
    skills = await sync_to_async(offers)(run.profile.name)
    inside = allowed_names(run.profile.tools) if run.profile.uses_tools else []
    closed = await sync_to_async(_closed)(run, inside)
    if not skills:
        inside = without_skills(inside)
    outside = run.profile.outside if run.profile.uses_tools else ()
    is_chosen = run.profile.tools is not None
    told = (tool for tool in in_order(inside) if tool.name not in closed and (is_chosen or not tool.is_for_plans))
    return [*told, *outside], skills, [*inside, *(tool.name for tool in outside)]


def _closed(run: Run, names: Sequence[str]) -> frozenset[str]:
    """Tools that have nothing for this person: no data source, no spreadsheet. A model is not told of them."""
    return frozenset(name for name in names if why_closed(find(name), run.principal) is not None)
