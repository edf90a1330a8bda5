"""One call of a tool: validated, run, and recorded; every mistake of the model becomes a sentence."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import sync_to_async
from pydantic import ValidationError

from agent.evidence.fencing import escape_document_text, truncate_middle
from agent.run_state.threads import limit_time
from agent.tools.base import (
    NotReadable,
    Tool,
    ToolContext,
    ToolMistake,
    ToolOutput,
    explain_closed_tool,
    find_tool,
    resolve_tool_name,
    tools,
)
from audit.actions import Action, Outcome
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.text.json_input import load_repaired_json
from copilot_site.lib.text.one_line import fold_to_one_line

ARGUMENTS_LENGTH = 20_000  # characters of JSON
UNREAD = {NotReadable.__name__: "the question could not be read as a query"}  # as it is recorded


@dataclass(frozen=True)
class CallOutcome:
    """The outcome of a call. tool: None for an unknown one. problem: the kind of its failure, "" where it worked."""

    name: str
    tool: Tool | None
    arguments: dict[str, Any]
    result: ToolOutput
    problem: str = ""

    @property
    def is_error(self) -> bool:
        """Return whether something went wrong; a question that a tool does not understand is no error."""
        return bool(self.problem) and self.problem not in UNREAD


async def call_tool(
    name: str, arguments: str, *, allowed: Collection[str], ctx: ToolContext, outside: Sequence[Tool] = ()
) -> CallOutcome:
    """Run one tool under the person's current rights, and audit the call.

    arguments: JSON as the model wrote it. allowed: names that the profile enables. outside: tools of services, used
    where no tool of ours has the name. Raises our own failures: an unreachable database or embedder. NotFound where the
    person is gone.
    """
    known = _find_known_tool(name, outside)
    principal, unusable = await sync_to_async(_check_admission)(ctx.principal, known)
    ctx = replace(ctx, principal=principal)
    called = await _validate_and_run(name, arguments, allowed, ctx, known=known, unusable=unusable)
    await sync_to_async(_record_call)(ctx, called)
    return called


def _find_known_tool(name: str, outside: Sequence[Tool]) -> Tool | None:
    return next((tool for tool in (*tools, *outside) if tool.name == resolve_tool_name(name)), None)


def _check_admission(principal: Principal, tool: Tool | None) -> tuple[Principal, str]:
    """Return the person with their current rights, and why they cannot use the tool: "" where they can or it is unknown.

    Raises NotFound where the person is gone.
    """
    fresh = principal.again()
    why = explain_closed_tool(tool, fresh) if tool else None
    return fresh, f"{tool.name} cannot be used now: {why.en}" if tool and why else ""


def _record_call(ctx: ToolContext, called: CallOutcome) -> None:
    """Audit the tool and the ids of its findings; nothing written by the model, which may repeat a document."""
    found = [finding.item.evidence_id for finding in called.result.findings]
    detail = {"tool": called.tool.name if called.tool else "", "evidence": found}
    outcome = Outcome.ERROR if called.is_error else Outcome.ALLOW
    reason = UNREAD.get(called.problem, called.problem)
    ctx.record(ctx.principal, Action.TOOL_CALLED, outcome=outcome, reason=reason, run_id=ctx.run_id, detail=detail)


async def _validate_and_run(
    name: str, arguments: str, allowed: Collection[str], ctx: ToolContext, *, known: Tool | None, unusable: str
) -> CallOutcome:
    tool = known
    given: dict[str, Any] = {}
    try:
        tool = known or find_tool(name)
        given = _parse_arguments(arguments)
        _check_tool_allowed(tool, allowed)
        args = tool.Args.model_validate(given)
        _check_tool_usable(unusable)
        async with limit_time(tool.timeout_s):
            result = await tool.run(ctx, args)
    except ValidationError as error:
        return _build_failed_call(name, tool, given, "InvalidArguments", describe_argument_faults(error))
    except TimeoutError:
        limit = tool.timeout_s if tool else 0
        return _build_failed_call(
            name, tool, given, "TimeoutError", f"{name} did not finish within {limit:g} s; ask for less."
        )
    except (ToolMistake, CopilotError) as error:
        failed = _build_failed_call(name, tool, given, type(error).__name__, str(error))
        readings = list(error.readings) if isinstance(error, ToolMistake) else []
        data = {**failed.result.data, "readings": readings} if readings else failed.result.data
        if isinstance(error, NotReadable):
            meant = {text: query.model_dump(mode="json") for text, query in error.queries.items()}
            data = {
                **data,
                **({"queries": meant} if meant else {}),
                **({"explore": error.explore.model_dump(mode="json")} if error.explore else {}),
            }
        return replace(failed, result=replace(failed.result, data=data))
    note = f"\nNote: {name} is called {tool.name} now; use that name." if name != tool.name else ""
    return CallOutcome(tool.name, tool, given, replace(result, output=truncate_middle(result.output) + note))


def _check_tool_allowed(tool: Tool, allowed: Collection[str]) -> None:
    if tool.name not in {resolve_tool_name(name) for name in allowed}:
        raise ToolMistake(f"{tool.name} is switched off here. You may use: {', '.join(sorted(allowed)) or 'no tools'}.")


def _check_tool_usable(unusable: str) -> None:
    if unusable:
        raise ToolMistake(unusable)


def _parse_arguments(arguments: str) -> dict[str, Any]:
    if len(arguments) > ARGUMENTS_LENGTH:
        raise ToolMistake(f"The arguments have {len(arguments)} characters; at most {ARGUMENTS_LENGTH} are read.")
    try:
        given = load_repaired_json(arguments or "{}")
    except ValueError:
        raise ToolMistake("The arguments are no JSON object. Send them as one, for example {}.") from None
    if not isinstance(given, dict):
        raise ToolMistake("The arguments must be a JSON object, not a list or a plain value.")
    return dict(given)


def describe_argument_faults(error: ValidationError) -> str:
    """Return which arguments are wrong, and why."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "arguments"
    return f"{place}: {first['msg']}."


def _build_failed_call(name: str, tool: Tool | None, given: dict[str, Any], kind: str, sentence: str) -> CallOutcome:
    data = {"display_type": "error", "error": sentence}
    result = ToolOutput(
        f"Error: {escape_document_text(truncate_middle(fold_to_one_line(sentence), 1_000))}",
        data,
        success=False,
        error=sentence,
    )
    return CallOutcome(tool.name if tool else name, tool, given, result, kind)
