"""The state of a run, as specification 002 §4.2 has it, and the run that carries it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from agent.answer import CitedAnswer
from agent.models import StopReason
from authz.principal import Principal
from knowledge.retrieval.search import Found, Scope


class State(StrEnum):
    PREPROCESS = "Preprocess"
    LOAD_AUTHZ = "LoadAuthz"
    RETRIEVE = "DocRAGTool"
    VALIDATE_EVIDENCE = "ValidateEvidence"
    SYNTHESIZE = "Synthesize"
    REFUSE = "Refuse"
    DONE = "Done"


class Source(BaseModel):
    """Where a piece of evidence comes from."""

    doc_id: str
    title: str
    page: int | None = None
    chunk_id: str
    uri: str


class EvidenceAuthz(BaseModel):
    result: Literal["allow", "deny", "filtered"] = "allow"


class EvidenceItem(BaseModel):
    """A passage the answer may stand on. `text` lives as long as the run; what is stored keeps the hash in its place."""

    evidence_id: str
    type: Literal["doc_chunk"] = "doc_chunk"
    text: str
    score: float
    source: Source
    authz: EvidenceAuthz = Field(default_factory=EvidenceAuthz)
    by: Literal["retriever"] = "retriever"
    hash: str


class TraceStep(BaseModel):
    """One step, without text of documents."""

    step_id: str
    ts_ms: int
    node: str
    action: str
    status: Literal["ok", "error", "skipped"] = "ok"
    timing_ms: int
    in_: dict[str, Any] = Field(default_factory=dict, serialization_alias="in")
    out: dict[str, Any] = Field(default_factory=dict)
    tool: str | None = None
    err: dict[str, str] | None = None


class RunState(BaseModel):
    """The specification's state: three lists that only grow, and parts that are overwritten."""

    messages: list[dict[str, str]] = Field(default_factory=list)
    trace_steps: list[TraceStep] = Field(default_factory=list)
    evidence_items: list[EvidenceItem] = Field(default_factory=list)
    input: dict[str, Any] = Field(default_factory=dict)
    authz: dict[str, Any] = Field(default_factory=dict)
    plan: dict[str, Any] = Field(default_factory=dict)
    tools: dict[str, Any] = Field(default_factory=dict)
    draft: dict[str, Any] = Field(default_factory=dict)
    output: dict[str, Any] = Field(default_factory=dict)

    def stored(self) -> dict[str, Any]:
        """As JSON for the message's row, without the texts that stand on documents: the answer is a column of its own."""
        texts: dict[str, Any] = {
            "evidence_items": {"__all__": {"text"}},
            "draft": {"answer"},
            "output": {"final_answer"},
        }
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=texts)


@dataclass(frozen=True)
class Goto:
    """The last thing a state yields: where the run goes next."""

    state: State


@dataclass
class Run:
    """Everything that changes while one question is answered; two runs share nothing."""

    session_id: UUID
    message_id: UUID
    principal: Principal
    question: str
    scope: Scope
    language: str
    state: RunState = field(default_factory=RunState)
    found: Found | None = None
    answer: CitedAnswer | None = None
    stop_reason: StopReason = StopReason.OK
