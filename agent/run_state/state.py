"""The stored state of a run, as specification 002 §4.2 has it."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from agent.run_state.cited_answer import Draft, Output
from agent.run_state.outside import AskedApproval, WebSummary
from business.logical_query.query import StoredQuery
from business.results.visibility import Queried
from copilot_site.lib.text.one_line import Line


class State(StrEnum):
    PREPROCESS = "Preprocess"
    LOAD_AUTHZ = "LoadAuthz"
    ROUTE = "Route"
    ACT = "Act"
    RETRIEVE = "DocRAGTool"
    QUERY = "SQLTool"
    CALCULATE = "CalcTool"
    CLARIFY = "Clarify"
    VALIDATE_EVIDENCE = "ValidateEvidence"
    SYNTHESIZE = "Synthesize"
    REFUSE = "Refuse"
    DONE = "Done"


class Route(StrEnum):
    DOC = "DOC"
    SQL = "SQL"
    CALC = "CALC"
    HYBRID = "HYBRID"
    CLARIFY = "CLARIFY"
    REFUSE = "REFUSE"


class Turn(BaseModel):
    """A message of the run, as a model is sent it.

    Only the person's messages are stored: the others contain text of documents. stands_on: the passages cited by an
    earlier answer; queried: its results.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    tool_call_id: str = ""
    stands_on: list[UUID] = Field(default_factory=list, exclude=True)
    queried: list[Queried] = Field(default_factory=list, exclude=True)

    def as_message(self) -> dict[str, Any]:
        """Return the turn as a model is sent it, without empty fields."""
        return {"role": self.role, "content": self.content} | {
            name: value
            for name, value in (("tool_calls", self.tool_calls), ("tool_call_id", self.tool_call_id))
            if value
        }


class EvidenceSource(BaseModel):
    """The source of a piece of evidence: a document, a query on a data source, or a web page (uri, read_at)."""

    doc_id: str | None = None
    title: Line = ""
    page: int | None = None
    chunk_id: str | None = None
    uri: str | None = None
    db: Line | None = None
    table: Line | None = None
    query_id: str | None = None
    read_at: datetime | None = None


class EvidenceAuthz(BaseModel):
    result: Literal["allow", "deny", "filtered"] = "allow"
    perm_snapshot_id: str = ""


class EvidenceItem(BaseModel):
    """A piece of evidence. `text` exists only during the run; the stored item has the hash instead."""

    evidence_id: str
    type: Literal["doc_chunk", "sql_result", "outside", "web_page", "verified"] = "doc_chunk"
    text: str
    score: float | None = None
    source: EvidenceSource
    authz: EvidenceAuthz = Field(default_factory=EvidenceAuthz)
    by: Literal["retriever", "sql", "user", "mcp", "web", "keeper"] = "retriever"
    hash: str


class TraceStep(BaseModel):
    """One step, without text of documents. `in` may hold q, route, user and skill; `out` evidence_added and a note."""

    step_id: str
    ts_ms: int
    node: str
    action: str
    status: Literal["ok", "error", "skipped"] = "ok"
    timing_ms: int
    in_: dict[str, Any] = Field(default_factory=dict, alias="in")
    out: dict[str, Any] = Field(default_factory=dict)
    tool: str | None = None
    err: dict[str, str] | None = None

    model_config = {"populate_by_name": True}


class RunInput(BaseModel):
    query: str = ""
    normalized_query: str = ""
    session_id: str = ""
    user_id: str = ""
    attachments: list[dict[str, Any]] = Field(default_factory=list)


class Authz(BaseModel):
    user_id: str = ""
    roles: list[str] = Field(default_factory=list)
    org_units: list[str] = Field(default_factory=list)
    perm_snapshot_id: str = ""


class Validation(BaseModel):
    ok: bool
    reason: Literal["no_evidence", "permission_denied"] | None = None


class Subtask(BaseModel):
    """One step of a question that needs several: the question for a tool.

    leans_on_first: it refers to what the first step names.
    """

    tool: str
    question: str
    leans_on_first: bool = False


class MeantQuery(BaseModel):
    """The query behind a reading to choose from. source: its name; "" where only one may be queried."""

    source: str = ""
    query: StoredQuery


class ExploreForm(BaseModel):
    """The form for a question that was not understood. query: the part understood. why: the reasons, in sentences."""

    source: str
    query: StoredQuery = None
    why: list[str] = Field(default_factory=list)


class Plan(BaseModel):
    """subtasks: of a HYBRID question only, in order (the specification leaves room for them).

    clarifying_queries: the queries behind the clarifying questions, where known. explore: for a question on data that
    was not understood. approval: the call that waits for the person's approval. leans_on, leans_on_results: passages,
    and results as `Queried.key`, of the earlier answers read by the model that wrote the plan and completed the
    question: its words may repeat them.
    """

    route: Route = Route.DOC
    intent: str = ""
    subtasks: list[Subtask] = Field(default_factory=list, exclude_if=lambda steps: not steps)
    clarifying_questions: list[str] = Field(default_factory=list)
    clarifying_queries: dict[str, MeantQuery] = Field(default_factory=dict, exclude_if=lambda queries: not queries)
    explore: ExploreForm | None = Field(default=None, exclude_if=lambda form: form is None)
    approval: AskedApproval | None = Field(default=None, exclude_if=lambda approval: approval is None)
    leans_on: list[UUID] = Field(default_factory=list, exclude_if=lambda chunks: not chunks)
    leans_on_results: list[str] = Field(default_factory=list, exclude_if=lambda keys: not keys)
    validation: Validation | None = None


class RagSummary(BaseModel):
    query: str
    top_k: int
    filters: dict[str, list[str]] = Field(default_factory=dict)
    returned_evidence_ids: list[str] = Field(default_factory=list)


class SqlSummary(BaseModel):
    """result_preview: not stored for a document's table, because it is text of that document."""

    generated_sql: str
    result_preview: str = ""
    returned_evidence_ids: list[str] = Field(default_factory=list)


class ToolProblem(BaseModel):
    tool: str
    type: str
    msg: str


class ToolSummaries(BaseModel):
    rag: RagSummary | None = None
    sql: SqlSummary | None = None
    web: WebSummary | None = None
    errors: list[ToolProblem] = Field(default_factory=list)


class RunState(BaseModel):
    """The specification's state: three append-only lists, and parts that are overwritten."""

    messages: list[Turn] = Field(default_factory=list)
    trace_steps: list[TraceStep] = Field(default_factory=list)
    evidence_items: list[EvidenceItem] = Field(default_factory=list)
    input: RunInput = Field(default_factory=RunInput)
    authz: Authz = Field(default_factory=Authz)
    plan: Plan = Field(default_factory=Plan)
    tools: ToolSummaries = Field(default_factory=ToolSummaries)
    draft: Draft = Field(default_factory=Draft)
    output: Output = Field(default_factory=Output)

    def stored(self) -> dict[str, Any]:
        """Return JSON for the message's row, without the texts of documents; the answer is a column of its own."""
        of_documents = any(item.type == "sql_result" and item.source.doc_id for item in self.evidence_items)
        texts: dict[str, Any] = {
            "tools": {"sql": {"result_preview"}} if of_documents else set(),
            "evidence_items": {"__all__": {"text"}},
            "messages": {place for place, turn in enumerate(self.messages) if turn.role != "user"},
            "draft": {"answer"},
            "output": {"final_answer"},
        }
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=texts)
