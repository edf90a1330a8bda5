"""A run's conversation with its model.

It is append-only: each call sends the previous messages unchanged, and the new ones.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from agent.attribution.answer_language import answer_language_of
from agent.attribution.standing import is_unapproved
from agent.dialogue.calls import Calls, make_tool_call_event
from agent.dialogue.controls import CONTROLS, Control, parse_control
from agent.dialogue.controls import build_control_specification as control_specification
from agent.events import Event, ToolCall
from agent.evidence.fencing import escape_document_text, fence_evidence, truncate_middle
from agent.evidence.items import format_verified_mark
from agent.prompting import append_date, count_message_tokens, count_tokens, load_prompt
from agent.providers.reply import CompleteCall, Reply
from agent.run_state.outside import AllowedCall
from agent.run_state.run import Finding, Run
from agent.run_state.state import Turn
from agent.tools.base import (
    Tool,
    build_tool_specification,
    explain_closed_tool,
    find_tool,
    list_enabled_tools,
    list_tools,
)
from agent.tools.linked_tables import describe_run_tables

CONTEXT_SHARE = 0.8  # of the model's context for sent messages; the rest is for its answer
WRITE_NOW = "No more calls can be made. Answer now from the evidence above."


@dataclass
class Conversation:
    """turns: the messages. offered: tools and controls in a fixed order. ended: the control that ended it without an answer.

    must_write: the model was told to write now. is_asked_again: it was told once to use the question's language. is_over:
    nothing follows.
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
        """Restart with the evidence still readable after a right has ended; earlier messages are dropped."""
        run = self.run
        tools, briefings, allowed = await _select_tools(run)
        self.offered = [build_tool_specification(tool) for tool in tools]
        self.offered += [control_specification(name) for name in CONTROLS] if run.profile.uses_tools else []
        evidence = select_fitting_evidence(run)
        self.turns = await build_first_messages(run, tools, briefings, evidence)
        self.calls = Calls(run, allowed, run.profile.outside, sent=set(evidence))
        run.spent.calls_made.clear()

    def messages(self) -> list[dict[str, Any]]:
        return [turn.as_message() for turn in self.turns]

    async def take(self, reply: Reply, *, again_in: str = "") -> AsyncIterator[Event]:
        """Process the model's turn: make its calls, or end.

        again_in: the language to rewrite the answer in, "" where it is right.
        """
        calls = [self._make_call_id_unique(call) for call in reply.calls]
        self._add_turn(Turn(role="assistant", content=reply.text, tool_calls=[call.as_message() for call in calls]))
        if again_in and not calls and not self.is_asked_again:
            self.is_asked_again = True
            self._add_turn(Turn(role="user", content=self.run.use(load_prompt("answer_language", again_in))))
            return
        controls = [call for call in calls if call.name in CONTROLS]
        tools = [call for call in calls if call.name not in CONTROLS]
        for call in controls:
            self._apply_control(call, has_tools=bool(tools))
        if not calls or self.must_write:
            self.is_over = True
        if tools and not self.is_over:
            yield ToolCall(tool_calls=[make_tool_call_event(call) for call in tools], done=True)
            async for event in self.calls.made(tools, self.turns):
                yield event
            self.is_over = self.calls.is_over
            self._truncate_outputs()

    async def call_allowed(self, allowed: AllowedCall) -> AsyncIterator[Event]:
        """Make the call that the person approved, as if the model had just written it.

        No other call can use the approval.
        """
        self.run.allowed_call = None
        call = CompleteCall(f"allowed_{allowed.approval_id.hex[:8]}", allowed.tool, json.dumps(allowed.arguments))
        self.ids.add(call.id)
        self._add_turn(Turn(role="assistant", tool_calls=[call.as_message()]))
        yield ToolCall(tool_calls=[make_tool_call_event(call)], done=True)
        async for event in self.calls.made([call], self.turns, approval_id=allowed.approval_id):
            yield event
        self.is_over = self.calls.is_over

    def ask_to_write(self) -> None:
        """Tell the model that no more calls are made; the tool list stays, so that the sent messages stay unchanged."""
        self.must_write = True
        self._add_turn(Turn(role="user", content=WRITE_NOW))

    def drop_tools(self, reply: Reply) -> bool:
        """Continue without tools where the service may not support them; return False where that changes nothing."""
        if not self.offered or reply.text or len(self.turns) > len(self.run.history) + 2:
            return False
        self.offered = []
        return True

    def _add_turn(self, turn: Turn) -> None:
        self.turns.append(turn)

    def _apply_control(self, call: CompleteCall, *, has_tools: bool) -> None:
        """End the conversation as the model's control call says; report an unreadable call to it, once."""
        ending = parse_control(call)
        if isinstance(ending, str) or has_tools:
            sentence = ending if isinstance(ending, str) else "Not while other calls are made."
            self._add_turn(Turn(role="tool", content=sentence, tool_call_id=call.id))
            self.run.spent.fruitless += not has_tools
            return
        self.ended, self.is_over = ending, True

    def _make_call_id_unique(self, call: CompleteCall) -> CompleteCall:
        """Return the call with an id unique in this run; services may repeat ids, or send none."""
        if call.id in self.ids:
            call = replace(call, id=f"{call.id}_{len(self.ids) + 1}")
        self.ids.add(call.id)
        return call

    def _truncate_outputs(self) -> None:
        """Truncate the latest outputs where the conversation would not fit, and let the model write then."""
        assert self.run.model is not None
        fixed = count_tokens(json.dumps(list(self.offered), ensure_ascii=False))
        room = int(self.run.model.context_tokens * CONTEXT_SHARE) - fixed
        over = count_message_tokens(self.messages()) - room
        if over <= 0:
            return
        for turn in reversed(self.turns):
            if turn.role != "tool" or over <= 0:
                break
            tokens = count_tokens(turn.content)
            most = max(200, len(turn.content) * max(0, tokens - over) // max(1, tokens))
            turn.content = truncate_middle(turn.content, most)
            over -= tokens - count_tokens(turn.content)
        self.ask_to_write()


async def begin_conversation(run: Run) -> Conversation:
    """Begin the conversation with the evidence found and the tools allowed by profile and rights."""
    conversation = Conversation(run, [], [], Calls(run, (), ()))
    await conversation.begin_again()
    return conversation


async def _select_tools(run: Run) -> tuple[list[Tool], list[str], Sequence[str]]:
    """Return the offered tools, their instructions, and the names of the tools that may be called."""
    inside = list_enabled_tools(run.profile.tools) if run.profile.uses_tools else []
    is_chosen = run.profile.tools is not None
    briefings = await sync_to_async(_list_tool_instructions)(run, inside)
    tools = [tool for tool in list_tools(briefings) if is_chosen or not tool.is_for_plans]
    outside = run.profile.outside if run.profile.uses_tools else ()
    orders = [briefings[tool.name] for tool in tools if briefings[tool.name]]
    return [*tools, *outside], orders, [*inside, *(tool.name for tool in outside)]


def _list_tool_instructions(run: Run, names: Sequence[str]) -> dict[str, str]:
    """Return the instructions of each tool that this person can use in this run; others are not mentioned to the model."""
    open_tools = (find_tool(name) for name in names if explain_closed_tool(find_tool(name), run.principal) is None)
    briefings = {tool.name: tool.briefing(run) for tool in open_tools}
    return {name: briefing for name, briefing in briefings.items() if briefing is not None}


EVIDENCE_SHARE = 0.4  # of the model's context for the first evidence; the rest is for tools and the answer
FENCE_TOKENS = 40  # of the marks around a passage


async def build_first_messages(
    run: Run, offered: Sequence[Tool], briefings: Sequence[str], evidence: Mapping[int, Finding]
) -> list[Turn]:
    """Return the first messages of a run.

    offered: the tools the model may call, none where it only writes. briefings: their instructions. evidence: by
    number.
    """
    system = Turn(role="system", content=_build_system_prompt(run, offered, briefings))
    tables = (
        await sync_to_async(describe_run_tables)(run) if any(tool.name == "database_query" for tool in offered) else ""
    )
    run.inside_texts += [tables] if tables else []
    return [system, *run.history, Turn(role="user", content=_build_question_message(run, evidence, tables))]


def _build_system_prompt(run: Run, offered: Sequence[Tool], briefings: Sequence[str]) -> str:
    language = answer_language_of(run)
    names = ["answer", *(["tools"] if offered else [])]
    names += ["answer_outside"] if any(tool.brings == "outside" for tool in offered) else []
    names += ["answer_verified"] if run.verified else []
    names += [f"tone_{run.profile.tone}"] if run.profile.tone else []
    parts = [run.use(load_prompt(name, language)) for name in names]
    return append_date("\n\n".join([*parts, *briefings]), timezone.localdate()) + run.attached.prompt(
        language, use=run.use
    )


def _build_question_message(run: Run, evidence: Mapping[int, Finding], tables: str) -> str:
    """Return the evidence, the description of the data, and the question."""
    blocks = [
        fence_evidence(
            finding.item, number=number, is_unapproved=is_unapproved(finding), verified=format_verified_mark(finding)
        )
        for number, finding in evidence.items()
    ]
    blocks += [tables] if tables else []
    if run.workings:
        blocks.append("\n".join(["<calculations>", *map(escape_document_text, run.workings), "</calculations>"]))
    return "\n".join([*blocks, "", run.state.input.normalized_query, *_build_language_request(run)])


def _build_language_request(run: Run) -> list[str]:
    return ["", run.use(load_prompt("answer_language", answer_language_of(run)))] if run.answers_in else []


def select_fitting_evidence(run: Run) -> dict[int, Finding]:
    """Select the evidence to begin with, by number: verified first, then approved, as much as fits."""
    assert run.model is not None
    left = int(run.model.context_tokens * EVIDENCE_SHARE)
    chosen: dict[int, Finding] = {}
    for number, finding in sorted(
        run.numbered.items(), key=lambda item: (not item[1].verified, is_unapproved(item[1]))
    ):
        left -= count_tokens(finding.item.text) + FENCE_TOKENS
        if left < 0:
            break
        chosen[number] = finding
    return chosen
