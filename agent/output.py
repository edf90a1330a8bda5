"""What a run comes to, as its state has it: the draft of an answer, and the answer with its sources."""

from pydantic import BaseModel, Field

from agent.events import StopReason


class EvidenceRef(BaseModel):
    """A citation. start, end: the cited characters of the passage."""

    evidence_id: str
    start: int | None = None
    end: int | None = None


class Draft(BaseModel):
    """confidence: in 0 … 1, for ordering only; nobody is shown it as a probability."""

    answer: str = ""
    citations: list[EvidenceRef] = Field(default_factory=list)
    confidence: float = 0.0
    followups: list[str] = Field(default_factory=list)


class RenderedSource(BaseModel):
    evidence_id: str
    title: str
    page: int | None = None
    uri: str | None = None


class Output(BaseModel):
    """disagreements: as `agent.cited_answer.CitedAnswer` has them."""

    final_answer: str = ""
    final_citations: list[EvidenceRef] = Field(default_factory=list)
    rendered_sources: list[RenderedSource] = Field(default_factory=list)
    stop_reason: StopReason | None = None
    disagreements: list[tuple[int, int]] = Field(default_factory=list, exclude_if=lambda pairs: not pairs)
