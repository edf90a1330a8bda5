"""A message as a person may see it now."""

from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import takewhile
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from agent.conversations.branches import Branches
from agent.conversations.presentation.attachments import Attachment
from agent.conversations.presentation.similar_titles import CloseTitle
from agent.conversations.presentation.steps import Step
from agent.models import Fault, MadeFile, Role, ToolApproval
from agent.outside import SERVICE_SOURCE, AskedOutside, host_of
from agent.passages.excerpts import Part
from business.results.shown_query import QueryShown
from knowledge.places import DocumentPlace
from knowledge.selectors import ShownPassage
from knowledge.services.access_requests import Offer


@dataclass(frozen=True)
class ShownSentence:
    """A sentence of an answer. Masked: it stood on a passage that this person may not see any more, so it says nothing.

    is_checked: False where it was not checked against its source. is_outside: it stands on a page of the web. gap, slot: as in
    `agent.cited_answer.CitedSentence`.
    """

    text: str
    citations: tuple[int, ...]
    is_masked: bool = False
    is_checked: bool = True
    is_outside: bool = False
    gap: str = ""
    slot: int = 0


@dataclass(frozen=True)
class ShownCitation:
    """A numbered source, if the person may still see it; start and end are offsets into the passage.

    excerpt: the passage with what is highlighted in it, of an answer that is made of passages.
    """

    number: int
    evidence_id: str
    start: int
    end: int
    passage: ShownPassage
    score: float
    excerpt: tuple[Part, ...] = ()

    @property
    def page(self) -> int | None:
        """Return the page on which the cited span begins."""
        return self.passage.page_at(self.start)

    @property
    def snippet(self) -> str:
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True)
class ShownQuery:
    """A numbered source that is no passage: a query on a data source that the person may still be answered from."""

    number: int
    evidence_id: str
    source: str
    title: str
    result: QueryShown | None = None

    @property
    def service(self) -> str:
        """Return the service outside that brought it; "" where it is a query."""
        return self.source.removeprefix(SERVICE_SOURCE) if self.source.startswith(SERVICE_SOURCE) else ""


@dataclass(frozen=True)
class ShownPage:
    """A numbered source from outside: a page of the web as it was read at `read_at`; snippet: the words that were cited."""

    number: int
    evidence_id: str
    url: str
    title: str
    snippet: str
    read_at: datetime

    @property
    def host(self) -> str:
        return host_of(self.url)


@dataclass(frozen=True)
class ShownVerified:
    """A numbered source that somebody verified. question: what it answers, as of now; by: "" for a person who is gone."""

    number: int
    evidence_id: str
    answer_id: UUID
    question: str
    by: str
    verified_on: date


@dataclass(frozen=True)
class ShownToolCall:
    """A call of a tool, as far as it is kept: ids and counts, no arguments, which a model wrote with documents before it.

    problem: its kind, "" where it worked. evidence_added: new pieces of evidence.
    """

    name: str
    success: bool
    duration_ms: int
    evidence_added: int
    problem: str


def source_address(passage: ShownPassage, start: int = 0, end: int = 0) -> str:
    """Return where the drawer reads a passage. start, end: the cited span, none for all of it."""
    path = reverse("source", args=[passage.knowledge_base_id, passage.chunk_id])
    return f"{path}?{urlencode({'start': start, 'end': end})}" if end else path


@dataclass(frozen=True)
class Source:
    """A cited passage. label: its document's title, short, and told apart from another of the same title. words: what is cited, with
    the words of the question. place: None where the document went away just now.
    """

    citation: ShownCitation
    label: str
    place: DocumentPlace | None
    words: SafeString

    @property
    def number(self) -> int:
        return self.citation.number

    @property
    def address(self) -> str:
        return source_address(self.citation.passage, self.citation.start, self.citation.end)


@dataclass(frozen=True)
class ReadBesides:
    """A document that was read for an answer and is not cited in it. passage: the one that came first. count: of its passages."""

    passage: ShownPassage
    place: DocumentPlace | None
    count: int

    @property
    def address(self) -> str:
        return source_address(self.passage)


@dataclass(frozen=True)
class Around:
    """took: the time of the whole run, in words; "" where it was not kept. ending, foot: as `presentation.outcome` has them.

    close_titles: after a no, documents whose titles say what was asked. disagreements: pairs of sources that contradict each other, the
    approved one first, then the newer one.
    """

    sources: tuple[Source, ...]
    read_besides: tuple[ReadBesides, ...]
    steps: tuple[Step, ...]
    took: str
    ending: str
    foot: str
    close_titles: tuple[CloseTitle, ...] = ()
    disagreements: tuple[tuple[Source, Source], ...] = ()


@dataclass(frozen=True)
class ShownMessage:
    """A message as this person may see it now.

    kind, is_declined: as `agent.cited_answer.Output` has them; confidence: of an answer that has a kind.
    notice: what was done differently from what they would expect. understood: the question as it was completed, "" where it was worked
    on as asked. readings: questions to choose from, where the answer asks back. offers: after a no, folders by whose names they may ask
    to be let in. pages: sources from outside; verified: sources that somebody verified; asked_outside: the questions that left the
    house. files: that scripts made and that can still be downloaded. explore: the address of the form in which a question on data that
    was not read can be asked. approval: the call that they are asked to allow. read: passages that the answer could stand on, in the
    order found. around: of an answer that is prepared for a page (`agent.conversations.page`). attachments: files that the question was
    asked with; hidden_attachments: how many more, which are gone or another's. parent_id: what it follows. branches: of the questions
    at its place, where there are several.
    """

    id: UUID
    session_id: UUID
    role: str
    created_at: datetime
    content: str
    stop_reason: str
    provider: str
    is_complete: bool
    kind: str = ""
    confidence: float | None = None
    is_declined: bool = False
    sentences: tuple[ShownSentence, ...] = ()
    citations: tuple[ShownCitation, ...] = field(default=())
    queries: tuple[ShownQuery, ...] = ()
    pages: tuple[ShownPage, ...] = ()
    verified: tuple[ShownVerified, ...] = ()
    asked_outside: tuple[AskedOutside, ...] = ()
    files: tuple[MadeFile, ...] = ()
    notice: str = ""
    understood: str = ""
    readings: tuple[str, ...] = ()
    explore: str = ""
    offers: tuple[Offer, ...] = ()
    approval: ToolApproval | None = None
    tool_calls: tuple[ShownToolCall, ...] = ()
    read: tuple[ShownPassage, ...] = ()
    duration_ms: int | None = None
    rating: str = ""
    fault: str = ""
    comment: str = ""
    is_shown_to_keepers: bool = False
    parent_id: UUID | None = None
    attachments: tuple[Attachment, ...] = ()
    hidden_attachments: int = 0
    branches: Branches | None = None
    around: Around | None = None

    @property
    def faults(self) -> list[tuple[str, str]]:
        """Return what can be the matter with an answer, in the reader's language."""
        return [(each.value, str(each.label)) for each in Fault]

    @property
    def fault_name(self) -> str:
        """Return what was the matter with this one, in the reader's language; empty where nobody said."""
        return str(Fault(self.fault).label) if self.fault else ""

    @property
    def is_answer(self) -> bool:
        return self.role == Role.ASSISTANT

    @property
    def masked_count(self) -> int:
        return sum(sentence.is_masked for sentence in self.sentences)

    @property
    def data(self) -> dict[str, object]:
        """Return what an API says of the kind of answer; empty for one that was written, counted or calculated."""
        return {"kind": self.kind, "confidence": self.confidence} if self.kind else {}

    @property
    def opening(self) -> list[ShownSentence]:
        """Return the words of ours above the passages."""
        return list(takewhile(lambda each: not each.citations and not each.is_masked, self.sentences))

    @property
    def folded(self) -> list[ShownCitation]:
        """Return the passages below the best one; all of them where a model found no answer in them."""
        return list(self.citations if self.is_declined else self.citations[1:])

    @property
    def closing(self) -> list[ShownSentence]:
        """Of passages with results, the results and the words of ours above them."""
        numbers = {query.number for query in self.queries}
        rest = self.sentences[len(self.opening) :]
        return [each for each in rest if not each.is_masked and (not each.citations or numbers & set(each.citations))]

    @property
    def is_value(self) -> bool:
        """Return whether all that is said is one value of a data source."""
        tables = [query.result.table for query in self.queries if query.result]
        return self.provider == "database" and [[len(row) for row in table.rows] for table in tables] == [[1]]

    @property
    def is_legible(self) -> bool:
        """Return whether anything that it says is not hidden from whoever reads it."""
        return not self.sentences or any(not sentence.is_masked for sentence in self.sentences)

    @property
    def unchecked_count(self) -> int:
        return sum(not sentence.is_checked for sentence in self.sentences)
