"""The state of a run, as specification 002 §4.2 has it, and the run that carries it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from agent.attached import Attached
from agent.budget import Spent
from agent.cited_answer import CitedAnswer, Draft, EvidenceRef, Output, RenderedSource
from agent.events import Reflection, StopReason
from agent.outside import AllowedCall, AskedApproval, WebPassage, WebSummary
from agent.profiles import Profile
from agent.prompting import Prompt
from agent.providers.base import ChatModel
from audit.deferred import Recorder
from audit.record import record
from authz.principal import Principal
from business.logical_query.query import LogicalQuery
from business.results.shown_query import QueryShown
from business.results.visibility import Queried
from copilot_site.lib.fair_queue import Ticket
from knowledge.retrieval.search import Found, Scope, Scores
from knowledge.selectors import ShownPassage


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
    """What kind of question it is."""

    DOC = "DOC"
    SQL = "SQL"
    CALC = "CALC"
    HYBRID = "HYBRID"
    CLARIFY = "CLARIFY"
    REFUSE = "REFUSE"


class Turn(BaseModel):
    """A message of the run, as a model is sent it. Only what the person wrote is stored: the rest holds text of documents.

    stands_on: the passages an earlier answer is made of; queried: the results.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    tool_call_id: str = ""
    stands_on: list[UUID] = Field(default_factory=list, exclude=True)
    queried: list[Queried] = Field(default_factory=list, exclude=True)

    def as_message(self) -> dict[str, Any]:
        """As a model is sent it: fields that say nothing are left out."""
        return {"role": self.role, "content": self.content} | {
            name: value
            for name, value in (("tool_calls", self.tool_calls), ("tool_call_id", self.tool_call_id))
            if value
        }


class Source(BaseModel):
    """Where a piece of evidence comes from: a document, a query on a data source, or a page from outside (uri, read_at)."""

    doc_id: str | None = None
    title: str = ""
    page: int | None = None
    chunk_id: str | None = None
    uri: str | None = None
    db: str | None = None
    table: str | None = None
    query_id: str | None = None
    read_at: datetime | None = None


class EvidenceAuthz(BaseModel):
    result: Literal["allow", "deny", "filtered"] = "allow"
    perm_snapshot_id: str = ""


class EvidenceItem(BaseModel):
    """What the answer may stand on. `text` lives as long as the run; what is stored keeps the hash in its place."""

    evidence_id: str
    type: Literal["doc_chunk", "sql_result", "outside", "web_page"] = "doc_chunk"
    text: str
    score: float | None = None
    source: Source
    authz: EvidenceAuthz = Field(default_factory=EvidenceAuthz)
    by: Literal["retriever", "sql", "user", "mcp", "web"] = "retriever"
    hash: str


class TraceStep(BaseModel):
    """One step, without text of documents. `in` may hold q, route and user; `out` evidence_added and a note."""

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


class Input(BaseModel):
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
    """One step of a question that needs several: what a tool is asked. leans_on_first: about what the first step names."""

    tool: str
    question: str
    leans_on_first: bool = False


class MeantQuery(BaseModel):
    """What a reading to choose from means of the business data. source: its name; "" where only one may be asked."""

    source: str = ""
    query: LogicalQuery


class ExploreForm(BaseModel):
    """The form for a question that was not read. query: what was understood of it. why: it was not answered, in sentences."""

    source: str
    query: LogicalQuery | None = None
    why: list[str] = Field(default_factory=list)


class Plan(BaseModel):
    """subtasks: of a HYBRID question, in the order they are asked (the specification leaves room for them); of no other.

    clarifying_queries: what the clarifying questions mean, where that is known. explore: of a question on data that was not read.
    approval: of the call that the person is asked to allow. leans_on, leans_on_results: passages, and results as `Queried.key`, of the
    earlier answers that a model had read which wrote the plan and completed the question: its words may be theirs.
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
    """result_preview: of a document's table it is text of that document, and not stored."""

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
    """The specification's state: three lists that only grow, and parts that are overwritten."""

    messages: list[Turn] = Field(default_factory=list)
    trace_steps: list[TraceStep] = Field(default_factory=list)
    evidence_items: list[EvidenceItem] = Field(default_factory=list)
    input: Input = Field(default_factory=Input)
    authz: Authz = Field(default_factory=Authz)
    plan: Plan = Field(default_factory=Plan)
    tools: ToolSummaries = Field(default_factory=ToolSummaries)
    draft: Draft = Field(default_factory=Draft)
    output: Output = Field(default_factory=Output)

    def stored(self) -> dict[str, Any]:
        """As JSON for the message's row, without the texts that stand on documents: the answer is a column of its own."""
        of_documents = any(item.type == "sql_result" and item.source.doc_id for item in self.evidence_items)
        texts: dict[str, Any] = {
            "tools": {"sql": {"result_preview"}} if of_documents else set(),
            "evidence_items": {"__all__": {"text"}},
            "messages": {place for place, turn in enumerate(self.messages) if turn.role != "user"},
            "draft": {"answer"},
            "output": {"final_answer"},
        }
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=texts)


@dataclass(frozen=True)
class Finding:
    """A piece of evidence with the passage it is cited by, the query it is the result of, or the page it was read on; none for what is
    none of them.

    scores: of the search's stages. outside: of a page of the web.
    """

    item: EvidenceItem
    passage: ShownPassage | None = None
    scores: Scores | None = None
    query: QueryShown | None = None
    outside: WebPassage | None = None

    @property
    def is_result(self) -> bool:
        """Whether it is the result of a query."""
        return self.item.type == "sql_result"

    @property
    def queried(self) -> Queried | None:
        """What of a data source it stands on; None for what stands in a document or nowhere."""
        source = self.item.source
        if self.passage is not None or source.doc_id or not source.db:
            return None
        return Queried(source=source.db, reach=self.query.reach if self.query else ())


@dataclass(frozen=True)
class Goto:
    """The last thing a state yields: where the run goes next."""

    state: State


@dataclass
class Run:
    """Everything that changes while one question is answered; two runs share nothing.

    question: as it was asked; `state.input.normalized_query` is what is worked on. model: None means extractive. judge: the model that
    reads sentences which facts do not settle. model_gave_up: it failed or may not be paid any more. follows: the answer that the question
    comes after, None where it begins the conversation. is_wide: more passages are looked at. title: of a conversation, as the model would
    call it. expression: what to calculate. allowed_call: what the person allowed just now. goes_on: it began with that. read_as: without
    slips of the finger. asks_about: what a follow-up names of its own, where documents are asked it together with the question before.
    history: earlier turns, the oldest first. workings: results of calculations. notices: sentences for the person about what was done
    differently from what they would expect. found: what the searches brought; findings: all evidence, by its id. told_inside: what tools
    brought from inside the house, which never leaves it. named_by: the passage that says what the query is about. earlier_query,
    logical_query: source and query that the conversation stood on, and stands on now. record: how what is done for it gets into the audit
    log. is_held_back: the last event stood on what may not be read any more, and did not leave. ticket: its place among the runs of its
    process, until it is over; none where nobody else waits for it. attached: files of its conversation.
    """

    session_id: UUID
    message_id: UUID
    principal: Principal
    question: str
    scope: Scope
    language: str
    profile: Profile = field(default_factory=Profile)
    model: ChatModel | None = None
    judge: ChatModel | None = None
    model_gave_up: bool = False
    follows: UUID | None = None
    keeps_title: bool = False
    is_wide: bool = False
    asked_as: UUID | None = None
    title: str = ""
    expression: str = ""
    asks_about: str = ""
    allowed_call: AllowedCall | None = None
    goes_on: bool = False
    read_as: str = ""
    spent: Spent = field(default_factory=Spent)
    history: list[Turn] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)
    workings: list[str] = field(default_factory=list)
    state: RunState = field(default_factory=RunState)
    found: Found | None = None
    told_inside: list[str] = field(default_factory=list)
    named_by: UUID | None = None
    earlier_query: tuple[str, LogicalQuery] | None = None
    logical_query: tuple[str, LogicalQuery] | None = None
    findings: dict[str, Finding] = field(default_factory=dict)
    answer: CitedAnswer | None = None
    notices: list[str] = field(default_factory=list)
    stop_reason: StopReason = StopReason.OK
    record: Recorder = record
    is_held_back: bool = False
    ticket: Ticket | None = None
    attached: Attached = field(default_factory=Attached)
    is_over: bool = False
    _told: int = 0

    @property
    def is_follow_up(self) -> bool:
        """Whether there are earlier questions, on the way to this one."""
        return self.follows is not None

    async def close_models(self) -> None:
        """End the connections; nothing is asked after it."""
        for model in filter(None, (self.model, self.judge)):
            await model.aclose()

    def subtask(self, tool: str) -> Subtask | None:
        """The step of the plan that this tool is asked; None where the question has no steps."""
        return next((step for step in self.state.plan.subtasks if step.tool == tool), None)

    @property
    def asked_of_documents(self) -> str:
        """What documents are asked: the first step, or the whole question."""
        step = self.subtask("knowledge_search")
        return step.question if step else self.state.input.normalized_query

    def add(self, findings: Iterable[Finding]) -> None:
        """New evidence; what is known already is not added again."""
        for finding in findings:
            if finding.item.evidence_id not in self.findings:
                finding.item.authz.perm_snapshot_id = self.state.authz.perm_snapshot_id
                self.findings[finding.item.evidence_id] = finding
                self.state.evidence_items.append(finding.item)

    def deliver(self, answer: CitedAnswer, confidence: float) -> None:
        """The finished answer, in the run and in its state."""
        self.answer = answer
        cited = [EvidenceRef(evidence_id=span.evidence_id, start=span.start, end=span.end) for span in answer.citations]
        cited += [EvidenceRef(evidence_id=query.evidence_id) for query in answer.queries]
        cited += [EvidenceRef(evidence_id=page.evidence_id) for page in answer.pages]
        sources = {item.evidence_id: item.source for item in self.state.evidence_items}
        rendered = [
            RenderedSource(evidence_id=ref.evidence_id, title=source.title, page=source.page, uri=source.uri)
            for ref in cited
            if (source := sources.get(ref.evidence_id))
        ]
        self.state.draft = Draft(answer=answer.text, citations=cited, confidence=confidence)
        self.state.output = Output(
            final_answer=answer.text,
            final_citations=cited,
            rendered_sources=rendered,
            stop_reason=self.stop_reason,
            disagreements=list(answer.disagreements),
        )

    def use(self, prompt: Prompt) -> str:
        """The text of a prompt; its hash is kept."""
        self.prompts[prompt.name] = prompt.hash
        return prompt.text

    def tell(self, sentence: str) -> None:
        """Something the person should know; each sentence once."""
        if sentence not in self.notices:
            self.notices.append(sentence)

    def fresh_notices(self) -> list[Reflection]:
        """What was told since the last time, as events."""
        fresh, self._told = self.notices[self._told :], len(self.notices)
        return [Reflection(content=sentence, done=True) for sentence in fresh]
