"""The interface, registry and call context of tools. To add a tool, add a file that calls `add_tool`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import getdoc
from typing import Any, Literal, NamedTuple, get_origin
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, model_validator

from agent.egress import Border, build_border
from agent.run_state.outside import WebSummary
from agent.run_state.run import Finding, Run
from agent.run_state.state import ExploreForm, MeantQuery, SqlSummary, State, Turn
from agent.tool_names import ALIASES, ORDER
from audit.record import Recorder, record_action
from authz.principal import Principal
from business.logical_query.query import LogicalQuery
from business.sources.data_scope import ALL_DATA, DataScope
from copilot_site.lib.registry import Registry, UnknownName, load_modules
from knowledge.retrieval.conditions import FieldCondition
from knowledge.retrieval.search import FoundPassages, Scope

Brings = Literal["inside", "outside", "nothing"]


class ToolText(NamedTuple):
    """A text for people in both languages."""

    en: str
    zh: str

    def within(self, language: str) -> str:
        """Return the text in a language: `en`, or one that begins with `zh`."""
        return self.zh if language.startswith("zh") else self.en


class ToolArgs(BaseModel):
    """Arguments as the model may write them; a name that nothing reads is refused. They never say who asks.

    null is how many models leave something out, and one thing how they write a list of one.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        lists = {name for name, item in cls.model_fields.items() if get_origin(item.annotation) is list}
        stated = {name: value for name, value in given.items() if value is not None}
        return {
            name: [value] if name in lists and not isinstance(value, list) else value for name, value in stated.items()
        }


@dataclass(frozen=True)
class ToolContext:
    """The server's knowledge of a call. principal: read from the database for this call. scope: chosen by the person.

    writes_sql: whether the caller is the run's model, which writes statements itself. named_in: a text that says what
    “these” in the question are. objected: sources for which the model was warned once about its statement. run_id: of
    its run. record: writes audit records. earlier: source and query of the conversation; logical_query: the intended
    one, where known. approval_id: of the person's approval, for one call to use. border: the limits on what may leave
    the company. profile: name of the run's, "" for none. findings: its evidence so far, by id and by number. history:
    earlier turns told to its model. data: the data in scope.
    """

    principal: Principal
    scope: Scope
    language: str
    writes_sql: bool = False
    named_in: str = ""
    objected: set[str] = field(default_factory=set)
    run_id: str = ""
    record: Recorder = record_action
    earlier: tuple[str, LogicalQuery] | None = None
    logical_query: tuple[str, LogicalQuery] | None = None
    approval_id: UUID | None = None
    border: Border = field(default_factory=Border)
    profile: str = ""
    findings: Mapping[str, Finding] = field(default_factory=dict)
    history: Sequence[Turn] = ()
    data: DataScope = ALL_DATA

    @classmethod
    def of(cls, run: Run, *, writes_sql: bool = False, named_in: str = "") -> "ToolContext":
        """Make the context of a call within a run."""
        return cls(
            run.principal,
            run.scope,
            run.language,
            writes_sql,
            named_in,
            run.objected,
            str(run.message_id),
            run.record,
            run.earlier_query,
            run.logical_query,
            border=build_border(run),
            profile=run.profile.name,
            findings={**run.findings, **{str(number): item for number, item in run.numbered.items()}},
            history=tuple(run.history),
            data=run.data,
        )


@dataclass(frozen=True)
class ToolOutput:
    """A tool's result: `output` for the model, `data` for the page, and its evidence.

    data: JSON-serialisable, with a `display_type` that says how to show it. found: of a search, for quotations.
    moves_on: it is progress for the run even without evidence.
    """

    output: str
    data: Mapping[str, Any]
    success: bool = True
    error: str = ""
    findings: Sequence[Finding] = ()
    found: FoundPassages | None = None
    sql: SqlSummary | None = None
    web: WebSummary | None = None
    moves_on: bool = False


class ToolMistake(Exception):
    """A mistake of the model, described in one sentence; the model may retry.

    readings: complete questions that may have been meant, where the person has to choose.
    """

    def __init__(self, sentence: str, *, readings: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.readings = tuple(readings)


class NotReadable(ToolMistake):
    """The tool does not understand the question, which is no mistake. Hints are given as for a mistake.

    queries: the query of each reading, where known. explore: the form in which it can be asked, and why it is not
    answered.
    """

    def __init__(
        self,
        sentence: str,
        *,
        readings: Sequence[str] = (),
        queries: Mapping[str, MeantQuery] | None = None,
        explore: ExploreForm | None = None,
    ) -> None:
        super().__init__(sentence, readings=readings)
        self.queries = dict(queries or {})
        self.explore = explore


class Objection(ToolMistake):
    """The model's call may be intended as it is: the model is warned once, and may repeat it unchanged."""


class Tool:
    """A thing the model may do. Its docstring is what the model reads; instances hold no state.

    label, description: for people. scope: what an API token must open beyond asking, "" for nothing. timeout_s: of one call.
    has_side_effects: changes something that outlives the run. is_default: on where a profile does not choose. is_for_plans: a model
    is told of it only where a profile chooses its tools.
    brings: what its output may hold: what is known inside, which never leaves the house; pages from outside, asked for with words that
    do; nothing but the model's own words.
    node: the state of the specification that its calls are traced as.
    """

    name: str
    label: ToolText
    description: ToolText
    Args: type[ToolArgs]
    scope: str = ""
    timeout_s: float = 15.0
    has_side_effects: bool = False
    is_default: bool = True
    is_for_plans: bool = False
    brings: Brings = "inside"
    node: State = State.ACT

    def why_not(self, principal: Principal) -> ToolText | None:
        """Return why this person cannot use it now; None where they can. Must be cheap."""
        return None

    def briefing(self, run: Run) -> str | None:
        """Return its part of the run's instructions, "" for none.

        None where this run cannot use it and should not be told of it.
        """
        return ""

    def for_model(self) -> tuple[str, Mapping[str, Any]]:
        """Return its description for a model, and the JSON Schema of its arguments."""
        kind: Any = type(self)
        return _describe_arguments(kind, self.Args)

    async def run(self, ctx: ToolContext, args: Any) -> ToolOutput:
        """Run the tool. Raises ToolMistake or a CopilotError for errors that the model can correct."""
        raise NotImplementedError


tools: Registry[Tool] = Registry("tool")
outside_kinds: Registry[Callable[[Iterable[str] | None], Sequence[Tool]]] = Registry("kind of tools outside")


def add_tool(tool: Tool) -> Tool:
    """Register a tool.

    Raises ValueError where its name is taken, a former name of another, or reserved for outside services.
    """
    if tool.name in ALIASES or tool.name.startswith(OUTSIDE):
        raise ValueError(f"the tool name {tool.name!r} is reserved")
    return tools.add(tool.name, tool)


OUTSIDE = "mcp_"  # prefix of outside services' tools (`agent.mcp_client`), reserved for them


def load_tools() -> None:
    """Import the tools: every module beside this one. A second call has no effect."""
    load_modules("agent.tools")


def resolve_tool_name(name: str) -> str:
    """Return the current name of a tool."""
    return ALIASES.get(name, name)


def find_tool(name: str) -> Tool:
    """Return the tool of this current or former name. Raises ToolMistake, naming the nearest."""
    try:
        return tools.get(resolve_tool_name(name))
    except UnknownName as error:
        raise ToolMistake(f"{str(error).rstrip('?')}{'?' if str(error).endswith('?') else '.'}") from None


def list_tools(names: Iterable[str] | None = None) -> list[Tool]:
    """Return the registered tools among `names` (all, when None) in the order of the catalogue; new ones come last."""
    wanted = None if names is None else {resolve_tool_name(name) for name in names}
    places = {name: place for place, name in enumerate(ORDER)}
    chosen = [tool for tool in tools if wanted is None or tool.name in wanted]
    return sorted(chosen, key=lambda tool: (places.get(tool.name, len(ORDER)), tool.name))


def list_outside_tools(names: Iterable[str] | None = None) -> list[Tool]:
    """Return the usable tools of outside services among `names` (all, when None)."""
    wanted = None if names is None else list(names)
    return [tool for kind in outside_kinds for tool in kind(wanted)]


def check_tool_names(names: list[str]) -> None:
    """Raise ValidationError for the name of an unknown tool, ours or a service's."""
    known = {tool.name for tool in list_outside_tools(names)}
    for name in names:
        if name in known:
            continue
        if name.startswith(OUTSIDE):
            raise ValidationError(_("No service has the tool “%(name)s” switched on.") % {"name": name})
        try:
            find_tool(name)
        except ToolMistake as error:
            raise ValidationError(str(error)) from None


def list_default_tools() -> list[str]:
    return [tool.name for tool in list_tools() if tool.is_default]


def list_enabled_tools(chosen: Iterable[str] | None) -> list[str]:
    """Return the registered tools that a profile enables.

    chosen: as in the profile, None for those that are on by default.
    """
    return list_default_tools() if chosen is None else [tool.name for tool in list_tools(chosen)]


def explain_closed_tool(tool: Tool, principal: Principal) -> ToolText | None:
    """Return why this person, perhaps with an API token, cannot use it now; None where they can."""
    if tool.scope and not principal.may_use(tool.scope):
        return ToolText(
            f"It needs an API token with the scope “{tool.scope}”.", f"需要带有“{tool.scope}”范围的 API 令牌。"
        )
    return tool.why_not(principal)


def build_tool_specification(tool: Tool) -> Mapping[str, Any]:
    """Return the tool as an OpenAI-compatible specification."""
    description, parameters = tool.for_model()
    return {
        "type": "function",
        "function": {"name": tool.name, "description": description, "parameters": parameters},
    }


@cache
def _describe_arguments(kind: Any, arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the docstring of a tool and the schema of its arguments; cached, because making it takes milliseconds."""
    schema = build_plain_schema(arguments)
    schema.pop("description", None)
    return " ".join((getdoc(kind) or "").split()), schema


# JSON Schema keywords: those left out for a model, and those whose keys are our own names.
OMITTED = frozenset({"additionalProperties", "default", "format", "maxLength", "minItems", "minLength", "title"})
NAMED = frozenset({"properties", "$defs"})


def build_plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a model, shortened, because it is sent with every call of a language model."""
    schema: dict[str, Any] = _simplify_schema(model.model_json_schema())
    return schema


def _simplify_schema(part: Any) -> Any:
    if isinstance(part, list):
        return [_simplify_schema(item) for item in part]
    if not isinstance(part, dict):
        return part
    if "anyOf" in part and {"type": "null"} in part["anyOf"]:  # same as leaving it out
        part = {**part, "anyOf": [item for item in part["anyOf"] if item != {"type": "null"}]}
    return {
        keyword: {name: _simplify_schema(schema) for name, schema in value.items()}
        if keyword in NAMED
        else _simplify_schema(value)
        for keyword, value in part.items()
        if keyword not in OMITTED
    }


NOTHING = (UUID(int=0),)  # an id that no row has: an empty scope must match nothing, not everything


def restrict_scope(
    scope: Scope,
    *,
    knowledge_base_ids: Iterable[UUID] = (),
    document_ids: Iterable[UUID] = (),
    metadata: Iterable[FieldCondition] = (),
) -> Scope:
    """Restrict the scope to these; empty arguments do not restrict."""
    return replace(
        scope,
        knowledge_base_ids=_intersect_ids(scope.knowledge_base_ids, tuple(knowledge_base_ids)),
        document_ids=_intersect_ids(scope.document_ids, tuple(document_ids)),
        metadata=(*scope.metadata, *metadata),
    )


def _intersect_ids(chosen: tuple[UUID, ...], asked: tuple[UUID, ...]) -> tuple[UUID, ...]:
    if not asked or not chosen:
        return asked or chosen
    return tuple(pk for pk in asked if pk in chosen) or NOTHING
