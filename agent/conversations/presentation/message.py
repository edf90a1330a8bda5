"""A message as a person may see it now."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import takewhile
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from agent.conversations.branches import Branches
from agent.conversations.presentation.attachments import Attachment
from agent.conversations.presentation.similar_titles import CloseTitle
from agent.conversations.presentation.steps import StepSummary
from agent.models import AnswerFault, MadeFile, MessageRole, ToolApproval
from agent.passages.excerpts import ExcerptPart, split_around_marks
from agent.run_state.outside import SERVICE_SOURCE, AskedOutside, parse_url_host
from business.results.shown_query import QueryShown
from knowledge.documents.places import DocumentLocation
from knowledge.selectors import ShownPassage
from knowledge.services.access_requests import AccessOffer


@dataclass(frozen=True)
class ShownSentence:
    """A sentence of an answer. Masked: its text is removed because this person may no longer see its passage.

    is_checked: False where it was not checked against its source. is_outside: its source is a web page. gap, slot: as
    in `agent.run_state.cited_answer.CitedSentence`.
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
    """A numbered source that the person may still see; start and end are offsets into the passage.

    excerpt: the passage with its highlights, for an answer made of passages.
    """

    number: int
    evidence_id: str
    start: int
    end: int
    passage: ShownPassage
    score: float
    excerpt: tuple[ExcerptPart, ...] = ()

    @property
    def folded(self) -> tuple[tuple[ExcerptPart, ...], tuple[ExcerptPart, ...], tuple[ExcerptPart, ...]]:
        """Return the excerpt in three: before the highlights, around them, after them."""
        return split_around_marks(self.excerpt)

    @property
    def page(self) -> int | None:
        return self.passage.page_at(self.start)

    @property
    def snippet(self) -> str:
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True)
class ShownQuery:
    """A numbered query result on a data source that the person may still query."""

    number: int
    evidence_id: str
    source: str
    title: str
    result: QueryShown | None = None

    @property
    def service(self) -> str:
        """Return the outside service that returned it; "" for a query."""
        return self.source.removeprefix(SERVICE_SOURCE) if self.source.startswith(SERVICE_SOURCE) else ""


@dataclass(frozen=True)
class ShownPage:
    """A numbered web page as it was read at `read_at`; snippet: the cited words."""

    number: int
    evidence_id: str
    url: str
    title: str
    snippet: str
    read_at: datetime

    @property
    def host(self) -> str:
        return parse_url_host(self.url)


@dataclass(frozen=True)
class ShownVerified:
    """A numbered verified answer. question: as of now; by: "" for a person whose account is gone."""

    number: int
    evidence_id: str
    answer_id: UUID
    question: str
    by: str
    verified_on: date


@dataclass(frozen=True)
class ShownToolCall:
    """A stored tool call: ids and counts, without the arguments, which a model wrote after reading documents.

    problem: its kind, "" where it worked. evidence_added: number of new pieces of evidence.
    """

    name: str
    success: bool
    duration_ms: int
    evidence_added: int
    problem: str


def build_source_address(passage: ShownPassage, start: int = 0, end: int = 0) -> str:
    """Return the drawer's address of a passage. start, end: the cited span, none for the whole passage."""
    path = reverse("source", args=[passage.knowledge_base_id, passage.chunk_id])
    return f"{path}?{urlencode({'start': start, 'end': end})}" if end else path


@dataclass(frozen=True)
class CitedPassage:
    """A cited passage. label: its document's short title, distinguished from others with the same title.

    words: the cited text, with the words of the question highlighted. place: None where the document was deleted just
    now.
    """

    citation: ShownCitation
    label: str
    place: DocumentLocation | None
    words: SafeString

    @property
    def number(self) -> int:
        return self.citation.number

    @property
    def address(self) -> str:
        return build_source_address(self.citation.passage, self.citation.start, self.citation.end)


@dataclass(frozen=True)
class ReadBesides:
    """A document that was read for an answer but is not cited. passage: the one found first. count: of its passages."""

    passage: ShownPassage
    place: DocumentLocation | None
    count: int

    @property
    def address(self) -> str:
        return build_source_address(self.passage)


@dataclass(frozen=True)
class AnswerDetails:
    """Hold the details shown around an answer.

    took: duration of the whole run, in words; "" where not recorded.

    ending, foot: as `presentation.outcome` has them.

    close_titles: where nothing was found, documents with titles similar to the question. disagreements: pairs of
    contradicting sources, the approved one first, then the newer one.
    """

    sources: tuple[CitedPassage, ...]
    read_besides: tuple[ReadBesides, ...]
    steps: tuple[StepSummary, ...]
    took: str
    ending: str
    foot: str
    close_titles: tuple[CloseTitle, ...] = ()
    disagreements: tuple[tuple[CitedPassage, CitedPassage], ...] = ()


@dataclass(frozen=True)
class ShownMessage:
    """A message as this person may see it now.

    kind, is_declined: as `agent.run_state.cited_answer.Output` has them; confidence: of an answer that has a kind.

    notice: what was done differently from what they would expect. understood: the completed question, "" where it was
    used as asked. readings: questions to choose from, where the answer asks back. offers: where nothing was found,
    folders that may be named and to which they can request access. pages: web sources; verified: verified answers as
    sources; asked_outside: the questions sent to the web. files: made by scripts and still available. explore: the
    address of the form for a question on data that was not understood. approval: the call waiting for their approval.
    read: passages that the answer could use, in the order found. around: of an answer prepared for a page
    (`agent.pages.chat_views`). attachments: files that the question used; hidden_attachments: number of others,
    deleted or not theirs. parent_id: the message that it follows. branches: the alternative questions, where there are
    several.
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
    offers: tuple[AccessOffer, ...] = ()
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
    around: AnswerDetails | None = None

    @property
    def faults(self) -> list[tuple[str, str]]:
        """Return the possible problems of an answer, in the reader's language."""
        return [(item.value, str(item.label)) for item in AnswerFault]

    @property
    def fault_name(self) -> str:
        """Return the reported problem of this answer, in the reader's language; "" where none was reported."""
        return str(AnswerFault(self.fault).label) if self.fault else ""

    @property
    def is_answer(self) -> bool:
        return self.role == MessageRole.ASSISTANT

    @property
    def evidence_ids(self) -> list[str]:
        sources: tuple[Any, ...] = (*self.citations, *self.queries, *self.pages, *self.verified)
        return [item.evidence_id for item in sources]

    @property
    def masked_count(self) -> int:
        return sum(sentence.is_masked for sentence in self.sentences)

    @property
    def data(self) -> dict[str, object]:
        """Return the API's fields about the kind of answer; empty for one that was written, counted or calculated."""
        return {"kind": self.kind, "confidence": self.confidence} if self.kind else {}

    @property
    def opening(self) -> list[ShownSentence]:
        """Return our own words above the passages."""
        return list(takewhile(lambda item: not item.citations and not item.is_masked, self.sentences))

    @property
    def folded(self) -> list[ShownCitation]:
        """Return the passages below the best one; all of them where a model found no answer in them."""
        return list(self.citations if self.is_declined else self.citations[1:])

    @property
    def closing(self) -> list[ShownSentence]:
        """Return the results and our own words above them, for an answer of passages with results."""
        numbers = {query.number for query in self.queries}
        rest = self.sentences[len(self.opening) :]
        shown = [item for item in rest if not item.is_masked and (not item.citations or numbers & set(item.citations))]
        return [replace(item, text=self.headlines.get(item.text, item.text)) for item in shown]

    @property
    def headlines(self) -> dict[str, str]:
        """Return by the text of each result's sentence what stands above its table; its note stands below."""
        results = [query.result.meaning for query in self.queries if query.result]
        return {meaning.text: meaning.title or meaning.headline for meaning in results}

    @property
    def value(self) -> str:
        """Return the number of an answer that is one value of a data source; "" for other answers."""
        values = [query.result.meaning.value for query in self.queries if query.result]
        return values[0] if self.provider == "database" and len(values) == 1 else ""

    @property
    def is_legible(self) -> bool:
        """Return whether any part of it is visible to the reader."""
        return not self.sentences or any(not sentence.is_masked for sentence in self.sentences)

    @property
    def unchecked_count(self) -> int:
        return sum(not sentence.is_checked for sentence in self.sentences)
