"""An answer whose every sentence names the passages it stands on."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class CitedSentence:
    """citations: numbers from 1, as the marks `[1]` in the shown text."""

    text: str
    citations: tuple[int, ...]

    @property
    def marked(self) -> str:
        """With its marks, as it is streamed."""
        return self.text + "".join(f"[{number}]" for number in self.citations)


@dataclass(frozen=True)
class CitedSpan:
    """What a number stands for. start, end: character offsets into the passage; fields as in `agent.models.Citation`."""

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
class CitedAnswer:
    """provider: who wrote it, e.g. `extractive`."""

    provider: str
    sentences: tuple[CitedSentence, ...]
    citations: tuple[CitedSpan, ...]

    @property
    def text(self) -> str:
        """The answer with its marks, as it is streamed and stored."""
        return " ".join(sentence.marked for sentence in self.sentences)
