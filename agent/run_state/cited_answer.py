"""An answer in which every sentence names its sources."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from pydantic import BaseModel, Field

from agent.events import StopReason
from business.results.shown_query import QueryShown
from copilot_site.lib.text.one_line import Line


@dataclass(frozen=True)
class CitedSentence:
    """citations: numbers from 1, as the marks `[1]` in the shown text.

    is_checked: False where it could not be compared with them. gap: the separator from the sentence before, where a
    paragraph, an item of a list or a line of code begins; "" for a space. slot: as `agent.events` has it; None for its
    place among the sentences.
    """

    text: str
    citations: tuple[int, ...]
    is_checked: bool = True
    gap: str = ""
    slot: int | None = None

    @property
    def marked(self) -> str:
        """Return the sentence with its marks, as it is streamed."""
        return self.text + "".join(f"[{number}]" for number in self.citations)


@dataclass(frozen=True)
class CitedSpan:
    """A numbered passage. start, end: character offsets into the passage; fields as in `agent.models.Citation`."""

    number: int
    evidence_id: str
    knowledge_base_id: UUID
    document_id: UUID
    version_id: UUID
    chunk_id: UUID
    start: int
    end: int
    score: float
    text_hash: str


@dataclass(frozen=True)
class CitedQuery:
    """A numbered query result on a data source. source: the source's name.

    shown: the query and its result, as the answer keeps them.
    """

    number: int
    evidence_id: str
    source: str
    title: str
    text_hash: str
    shown: QueryShown | None = None


@dataclass(frozen=True)
class CitedPage:
    """A numbered page of the web. snippet: the cited words; read_at: aware."""

    number: int
    evidence_id: str
    url: str
    title: str
    snippet: str
    read_at: datetime
    text_hash: str


@dataclass(frozen=True)
class CitedVerified:
    """A numbered verified answer. answer_id: checked for today's rights; by, verified_on: as of now."""

    number: int
    evidence_id: str
    answer_id: UUID
    by: str
    verified_on: date
    text_hash: str


@dataclass(frozen=True)
class CitedAnswer:
    """provider: who wrote it, e.g. `extractive`. All kinds of sources share one numbering.

    kind: `passages` where the best passages are shown without a verdict; "" for an answer. pages: of the web, always
    kept apart from the company's own sources. disagreements: pairs of numbers of contradicting passages, the one that
    the answer stands on first.
    """

    provider: str
    sentences: tuple[CitedSentence, ...]
    citations: tuple[CitedSpan, ...]
    queries: tuple[CitedQuery, ...] = ()
    pages: tuple[CitedPage, ...] = ()
    verified: tuple[CitedVerified, ...] = ()
    kind: str = ""
    disagreements: tuple[tuple[int, int], ...] = ()

    @property
    def evidence_ids(self) -> list[str]:
        numbered = [(citation.number, citation.evidence_id) for citation in self.citations]
        numbered += [(query.number, query.evidence_id) for query in self.queries]
        numbered += [(item.number, item.evidence_id) for item in self.pages]
        numbered += [(item.number, item.evidence_id) for item in self.verified]
        return [evidence_id for _number, evidence_id in sorted(numbered)]

    def without(self, numbers: Collection[int]) -> "CitedAnswer":
        """Return the answer without these sources and the sentences that cite them.

        Keeps only results that are still cited.
        """
        kept = tuple(sentence for sentence in self.sentences if not set(sentence.citations) & set(numbers))
        cited = {number for item in kept for number in item.citations}
        return replace(
            self,
            sentences=kept,
            citations=tuple(citation for citation in self.citations if citation.number not in numbers),
            queries=tuple(query for query in self.queries if query.number in cited),
            pages=tuple(item for item in self.pages if item.number in cited),
            verified=tuple(item for item in self.verified if item.number in cited),
            disagreements=tuple(pair for pair in self.disagreements if not set(pair) & set(numbers)),
        )

    @property
    def text(self) -> str:
        """Return the answer with its marks, as it is streamed and stored."""
        return join_sentences((sentence.gap, sentence.marked) for sentence in self.sentences)


CODE_GAP = "    "  # that opens a line of code, as Markdown has it; its own indentation follows


def parse_code_indent(gap: str) -> str | None:
    """Return the indentation of the code line that a gap opens; None where it opens none."""
    opening = gap.lstrip("\n")
    return opening.removeprefix(CODE_GAP) if opening.startswith(CODE_GAP) else None


def join_sentences(sentences: Iterable[tuple[str, str]]) -> str:
    """Join sentences, each after its gap, into one text without leading white space."""
    text = "".join(f"{gap or ' '}{text_part}" for gap, text_part in sentences)
    return text.lstrip("\n ")


class EvidenceRef(BaseModel):
    """A citation. start, end: the cited characters of the passage."""

    evidence_id: str
    start: int | None = None
    end: int | None = None


class Draft(BaseModel):
    """confidence: in 0 … 1, for ordering only; never shown as a probability."""

    answer: str = ""
    citations: list[EvidenceRef] = Field(default_factory=list)
    confidence: float = 0.0
    followups: list[str] = Field(default_factory=list)


class RenderedSource(BaseModel):
    evidence_id: str
    title: Line
    page: int | None = None
    uri: str | None = None


class Output(BaseModel):
    """kind, disagreements: as `CitedAnswer` has them.

    is_declined: a model read the evidence, and gave no answer from it.
    """

    final_answer: str = ""
    final_citations: list[EvidenceRef] = Field(default_factory=list)
    rendered_sources: list[RenderedSource] = Field(default_factory=list)
    stop_reason: StopReason | None = None
    kind: str = Field(default="", exclude_if=lambda kind: not kind)
    is_declined: bool = Field(default=False, exclude_if=lambda flag: not flag)
    disagreements: list[tuple[int, int]] = Field(default_factory=list, exclude_if=lambda pairs: not pairs)
