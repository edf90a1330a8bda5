"""A passage that retrieval brought, as the extractive reader sees it, and a sentence of an answer, cut from it."""

from dataclasses import dataclass

from agent.extractive.sentences import Sentence, split
from knowledge.text.passage_blocks import PassageBlock


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk with what retrieval knows of it. A list of them comes best first.

    dense: cosine of question and chunk. coverage: MaxSim of the question's tokens (-1 … 1) as
    `knowledge.retrieval.rerank.maxsim` gives it; None where another reranker, or none, put the passages in order. relevance: of a
    cross-encoder, the probability that the passage answers; None without one. shortfall: what it leaves to the other passages, as
    `maxsim.shortfalls` gives it. position: its place in its document, from 0. blocks: what it is made of.
    """

    text: str
    title: str = ""
    heading_path: tuple[str, ...] = ()
    dense: float = 0.0
    coverage: float | None = None
    relevance: float | None = None
    shortfall: float = 0.0
    position: int = 0
    blocks: tuple[PassageBlock, ...] = ()

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return split(self.text, self.blocks)

    @property
    def heading(self) -> str:
        """Title and headings on one line: what the text takes for granted."""
        return " > ".join(part for part in (self.title, *self.heading_path) if part)


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the answer. passage: index into the passages given. start, end: span in the passage's text.

    score: log-odds scale, comparable within one question. support: the reader's probability that this statement, of all
    it read, is the one that answers; what is shown because it belongs to another quotation has that one's.
    """

    text: str
    passage: int
    start: int
    end: int
    score: float
    support: float
