"""The tools offered to programs, and their calls: the agent's reading tools, with `answer_program_question` and `list_documents`."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import Any, Final

from asgiref.sync import sync_to_async
from pydantic import ValidationError

from agent.evidence.fencing import unescape_fenced_text
from agent.mcp_server.own_tools import (
    AskArgs,
    Caller,
    ListDocumentsArgs,
    ToolReply,
    answer_program_question,
    list_documents,
)
from agent.tools.base import (
    ToolArgs,
    ToolContext,
    ToolMistake,
    ToolText,
    build_tool_specification,
    explain_closed_tool,
    find_tool,
    resolve_tool_name,
)
from agent.tools.calling import call_tool, describe_argument_faults
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.scopes import TokenScope
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.retrieval.search import Scope


@dataclass(frozen=True)
class Own:
    """A tool for programs only. Its function's docstring is its description."""

    title: ToolText
    args: type[ToolArgs]
    run: Callable[[Caller, Any], Awaitable[ToolReply]]
    scope: TokenScope


@dataclass(frozen=True)
class ToolOffer:
    """A tool's description for a program. schema: JSON Schema of its arguments."""

    name: str
    title: ToolText
    description: str
    schema: Mapping[str, Any]


OWN: Final[Mapping[str, Own]] = {
    "ask": Own(ToolText("Ask a question", "提问"), AskArgs, answer_program_question, TokenScope.CHAT),
    "list_documents": Own(ToolText("List documents", "列出文档"), ListDocumentsArgs, list_documents, TokenScope.SEARCH),
}
# tools of the agent, each with its required token scope
SHARED: Final[Mapping[str, TokenScope]] = {
    "knowledge_search": TokenScope.SEARCH,
    "grep_chunks": TokenScope.SEARCH,
    "list_knowledge_chunks": TokenScope.SEARCH,
    "get_document_info": TokenScope.SEARCH,
    "database_query": TokenScope.SQL,
}


def list_offered_tools(principal: Principal) -> list[ToolOffer]:
    """Return the tools that this person can use now with this token, in order; unconfigured tools are omitted."""
    own = [
        ToolOffer(name, item.title, getdoc(item.run) or "", _build_argument_schema(item.args))
        for name, item in OWN.items()
        if principal.may_use(item.scope)
    ]
    shared = []
    for name in _list_permitted_tools(principal):
        tool = find_tool(name)
        if explain_closed_tool(tool, principal) is None:
            function = build_tool_specification(tool)["function"]
            shared.append(ToolOffer(name, tool.label, function["description"], function["parameters"]))
    return own + shared


async def call_offered_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> ToolReply:
    """Run one tool under the person's current rights; an error becomes a sentence, as for the agent's own model."""
    if name not in OWN:
        return await _call_shared_tool(caller, name, arguments)
    own = OWN[name]
    try:
        principal = await sync_to_async(caller.principal.again)()
        if not principal.may_use(own.scope):
            return ToolReply(f"Error: {name} needs an API token with the scope “{own.scope}”.", is_error=True)
        return await own.run(replace(caller, principal=principal), own.args.model_validate(dict(arguments)))
    except ValidationError as error:
        return ToolReply(f"Error: {describe_argument_faults(error)}", is_error=True)
    except (ToolMistake, CopilotError) as error:
        return ToolReply(f"Error: {error}", is_error=True)


async def _call_shared_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> ToolReply:
    known = resolve_tool_name(name)
    if known not in SHARED:
        return ToolReply(f"Error: there is no tool {fold_to_one_line(name)[:80]!r} here.", is_error=True)
    if not caller.principal.may_use(SHARED[known]):
        return ToolReply(f"Error: {known} needs an API token with the scope “{SHARED[known]}”.", is_error=True)
    context = ToolContext(caller.principal, Scope(), caller.language)
    try:
        called = await call_tool(name, json.dumps(arguments), allowed=[known], ctx=context)
    except CopilotError as error:  # the person is gone, a model does not answer
        return ToolReply(f"Error: {error}", is_error=True)
    if called.result.findings:
        await sync_to_async(_record_shown_evidence)(caller.principal, called.name, called.result.findings)
    return ToolReply(unescape_fenced_text(called.result.output), called.result.data, is_error=not called.result.success)


def _record_shown_evidence(principal: Principal, tool: str, findings: Any) -> None:
    shown = [finding.item.evidence_id for finding in findings]
    record_action(principal, Action.EVIDENCE_SHOWN, detail={"tool": tool, "evidence": shown})


def _list_permitted_tools(principal: Principal) -> list[str]:
    return [name for name, scope in SHARED.items() if principal.may_use(scope)]


def _build_argument_schema(args: type[ToolArgs]) -> Mapping[str, Any]:
    schema = args.model_json_schema()
    return {name: value for name, value in schema.items() if name not in {"title", "description"}}
