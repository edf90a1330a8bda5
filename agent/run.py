"""The run that carries the state: everything that changes while one question is answered."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from agent.attached import Attached
from agent.budget import Spent
from agent.cited_answer import CitedAnswer, Draft, EvidenceRef, Output, RenderedSource
from agent.events import Reflection, StopReason
from agent.outside import AllowedCall, WebPassage
from agent.profiles import Profile
from agent.prompting import Prompt
from agent.providers.base import ChatModel
from agent.state import EvidenceItem, RunState, State, Subtask, Turn
from agent.verified_match import VerifiedMatch, standing_on
from audit.deferred import Recorder
from audit.record import record
from authz.principal import Principal
from business.data_scope import DataScope, TableName
from business.logical_query.query import LogicalQuery
from business.pipeline import HowRead
from business.results.shown_query import QueryShown
from business.results.visibility import Queried
from copilot_site.lib.fair_queue import Ticket
from knowledge.models import ATTACHMENTS
from knowledge.retrieval.ranking import Scores
from knowledge.retrieval.search import Found, Scope
from knowledge.selectors import ShownPassage


@dataclass(frozen=True)
class Finding:
    """A piece of evidence with the passage it is cited by, the query it is the result of, or the page it was read on; none for what is
    none of them.

    scores: of the search's stages. outside: of a page of the web. verified: an answer that somebody verified.
    """

    item: EvidenceItem
    passage: ShownPassage | None = None
    scores: Scores | None = None
    query: QueryShown | None = None
    outside: WebPassage | None = None
    verified: VerifiedMatch | None = None

    @property
    def is_result(self) -> bool:
        """Return whether it is the result of a query."""
        return self.item.type == "sql_result"

    @property
    def queried(self) -> Queried | None:
        """Return what of a data source it stands on, or which verified answer; None for what stands in a document or nowhere."""
        source = self.item.source
        if self.verified is not None:
            return standing_on(self.verified.answer_id)
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
    comes after, None where it begins the conversation. is_wide: more passages are looked at. expression: what to calculate.
    allowed_call: what the person allowed just now. goes_on: it began with that. read_as: without
    slips of the finger. searched_cited: nothing came near a follow-up, and the documents just cited were searched for it.
    answers_in: the language, zh or en, in which the person wants the last answer again; "" otherwise.
    history: earlier turns, the oldest first. workings: results of calculations. notices: sentences for the person about what was done
    differently from what they would expect. found: what the searches brought; findings: all evidence, by its id; numbers: what a model
    cites it by, by its id, from 1; a number is never given twice. objected: sources of
    which the model was told once that its statement counts otherwise than the company does. told_inside: what tools
    brought from inside the house, which never leaves it. named_by: the passage that says what the query is about. how_read: the question
    by the words of the data, where that chose the way. earlier_query, logical_query: source and query that the conversation stood on, and
    stands on now. record: how what is done for it gets into the audit log. is_held_back: the last event stood on what may not be read any
    more, and did not leave. ticket: its place among the runs of its process, until it is over; none where nobody else waits for it.
    beside: tasks that work beside the walk, ended with its models. attached: files of its conversation. chosen: what the person narrowed
    it to, as it is kept. tables: of the data it is asked of alone; none where it is asked of documents alone, None where nothing
    narrows it.
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
    expression: str = ""
    answers_in: str = ""
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
    searched_cited: bool = False
    how_read: HowRead | None = None
    earlier_query: tuple[str, LogicalQuery] | None = None
    logical_query: tuple[str, LogicalQuery] | None = None
    findings: dict[str, Finding] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    objected: set[str] = field(default_factory=set)
    answer: CitedAnswer | None = None
    notices: list[str] = field(default_factory=list)
    stop_reason: StopReason = StopReason.OK
    record: Recorder = record
    is_held_back: bool = False
    ticket: Ticket | None = None
    attached: Attached = field(default_factory=Attached)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[TableName, ...] | None = None
    is_over: bool = False
    beside: set[asyncio.Task[None]] = field(default_factory=set)
    _told: int = 0

    @property
    def base_ids(self) -> tuple[UUID, ...]:
        """Return the bases that its profile keeps it in, with the place of its files; none where it is not kept."""
        ids = self.profile.knowledge_base_ids
        return (*ids, ATTACHMENTS) if ids and self.attached.names else ids

    @property
    def data(self) -> DataScope:
        """Return what of the data it is asked of."""
        return DataScope(self.tables, self.scope, self.base_ids)

    @property
    def verified(self) -> Finding | None:
        """Return the verified answer that was found for the question."""
        return next((each for each in self.findings.values() if each.verified), None)

    @property
    def asks_tables_alone(self) -> bool:
        """Return whether the person chose tables, and nothing of the documents."""
        return set(self.chosen) == {"tables"}

    @property
    def is_follow_up(self) -> bool:
        """Return whether there are earlier questions, on the way to this one."""
        return self.follows is not None

    async def close_models(self) -> None:
        """End what works beside the walk, and the connections; nothing is asked after it."""
        for task in self.beside:
            task.cancel()
        await asyncio.gather(*self.beside, return_exceptions=True)
        for model in filter(None, (self.model, self.judge)):
            await model.aclose()

    def subtask(self, tool: str) -> Subtask | None:
        """Return the step of the plan that this tool is asked; None where the question has no steps."""
        return next((step for step in self.state.plan.subtasks if step.tool == tool), None)

    @property
    def asked_of_documents(self) -> str:
        """Return what documents are asked: the first step, or the whole question."""
        step = self.subtask("knowledge_search")
        return step.question if step else self.state.input.normalized_query

    @property
    def is_by_words(self) -> bool:
        """Return whether no model reads or writes: none is set up, or it gave up."""
        return self.model is None or self.model_gave_up

    def add(self, findings: Iterable[Finding]) -> None:
        """New evidence; what is known already is not added again."""
        for finding in findings:
            if finding.item.evidence_id not in self.findings:
                finding.item.authz.perm_snapshot_id = self.state.authz.perm_snapshot_id
                self.findings[finding.item.evidence_id] = finding
                self.numbers.setdefault(finding.item.evidence_id, len(self.numbers) + 1)
                self.state.evidence_items.append(finding.item)

    @property
    def numbered(self) -> dict[int, Finding]:
        """Return the evidence by the numbers that a model cites it by; what may not be read any more has left its number empty."""
        return {self.numbers[key]: finding for key, finding in self.findings.items()}

    def deliver(self, answer: CitedAnswer, confidence: float) -> None:
        """The finished answer, in the run and in its state."""
        self.answer = answer
        cited = [EvidenceRef(evidence_id=span.evidence_id, start=span.start, end=span.end) for span in answer.citations]
        cited += [EvidenceRef(evidence_id=query.evidence_id) for query in answer.queries]
        cited += [EvidenceRef(evidence_id=page.evidence_id) for page in answer.pages]
        cited += [EvidenceRef(evidence_id=each.evidence_id) for each in answer.verified]
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
            kind=answer.kind,
            is_declined=bool(answer.kind) and not self.is_by_words,
            disagreements=list(answer.disagreements),
        )

    def use(self, prompt: Prompt) -> str:
        """Return the text of a prompt; its hash is kept."""
        self.prompts[prompt.name] = prompt.hash
        return prompt.text

    def tell(self, sentence: str) -> None:
        """Something the person should know; each sentence once."""
        if sentence not in self.notices:
            self.notices.append(sentence)

    def fresh_notices(self) -> list[Reflection]:
        """Return what was told since the last time, as events."""
        fresh, self._told = self.notices[self._told :], len(self.notices)
        return [Reflection(content=sentence, done=True) for sentence in fresh]
