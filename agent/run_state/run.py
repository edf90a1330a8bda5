"""The state of one question's run in memory: everything that changes while it is answered."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from agent.budget import Spent
from agent.events import Event, Reflection, StopReason
from agent.profiles.settings import Profile
from agent.prompting import Prompt, load_prompt
from agent.providers.base import ChatModel
from agent.run_state.cited_answer import CitedAnswer, Draft, EvidenceRef, Output, RenderedSource
from agent.run_state.outside import AllowedCall, WebPassage
from agent.run_state.state import EvidenceItem, RunState, State, Subtask, Turn
from agent.run_state.verified_match import VerifiedMatch, make_verified_source
from audit.record import Recorder, record_action
from authz.principal import Principal
from business.logical_query.query import LogicalQuery
from business.pipeline import HowRead
from business.results.shown_query import QueryShown
from business.results.visibility import Queried
from business.sources.data_scope import DataScope, TableName
from copilot_site.lib.load.fair_queue import Ticket
from knowledge.models import ATTACHMENTS
from knowledge.retrieval.ranking import Scores
from knowledge.retrieval.search import FoundPassages, Scope
from knowledge.selectors import ShownPassage


@dataclass(frozen=True)
class Finding:
    """A piece of evidence with its passage, query or web page; with none of these for other kinds of evidence.

    scores: of the search's stages. outside: a web page. verified: a verified answer.
    """

    item: EvidenceItem
    passage: ShownPassage | None = None
    scores: Scores | None = None
    query: QueryShown | None = None
    outside: WebPassage | None = None
    verified: VerifiedMatch | None = None

    @property
    def is_result(self) -> bool:
        return self.item.type == "sql_result"

    @property
    def queried(self) -> Queried | None:
        """Return the data source key or verified answer that it depends on; None for a document passage or nothing."""
        source = self.item.source
        if self.verified is not None:
            return make_verified_source(self.verified.answer_id)
        if self.passage is not None or source.doc_id or not source.db:
            return None
        return Queried(source=source.db, reach=self.query.reach if self.query else ())


@dataclass(frozen=True)
class Goto:
    """The last item that a state yields: the next state."""

    state: State


@dataclass(frozen=True)
class Attached:
    """asked_with: ids of the files attached to the question. names: of all readable files of the conversation."""

    asked_with: Sequence[UUID] = ()
    names: Mapping[UUID, str] = field(default_factory=dict)

    def prompt(self, language: str, *, use: Callable[[Prompt], str]) -> str:
        """Return the prompt that describes the files, appended to the model's other instructions.

        "" where there are none. use: records a prompt and returns its text.
        """
        if not self.names:
            return ""
        ordered = sorted(self.names, key=lambda pk: pk not in self.asked_with)
        lines = [f"- {'[*] ' if pk in self.asked_with else ''}{pk}: {self.names[pk]}" for pk in ordered]
        return "\n".join(["", "", use(load_prompt("attached", language)), *lines])


@dataclass
class Run:
    """Everything that changes while one question is answered; two runs share nothing.

    question: as asked; `state.input.normalized_query` is the processed one. model: None means extractive. judge: the
    model that checks sentences which facts do not settle. model_gave_up: it failed or its budget is spent. follows: the
    answer before the question, None where it begins the conversation. is_wide: more passages are used. expression: what
    to calculate. allowed_call: the call just approved. goes_on: the run began with it. read_as: the question without
    typos. searched_cited: nothing was near a follow-up, so the documents cited last were searched. answers_in: the
    language, zh or en, in which the person wants the last answer again; "" otherwise.

    history: earlier turns, the oldest first. workings: results of calculations. notices: sentences for the person about
    deviations. found: results of the searches; findings: all evidence, by its id; numbers: citation numbers for a
    model, by evidence id, from 1; never reused. objected: sources for which the model was warned once that its
    statement differs from the company's definitions. inside_texts: internal tool outputs, which must never leave the
    company. named_by: the passage that names the query's subjects. how_read: the data's reading of the question, where
    it decided the route. earlier_query, logical_query: source and query of the conversation before, and now.

    record: writes audit records. held_back: the events sent together last that stayed away because they were no longer
    readable, from the first on. ticket: its place in the queue, until it is over; None where nobody else waits for it.
    beside: concurrent tasks, ended with its models. offered: folders that may hold the answer, for access requests.
    attached: files of its conversation. chosen: the person's scope, as stored. title: the one that the question gave
    its conversation. tables: data tables in scope; empty for documents only, None for no restriction.
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
    title: str = ""
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
    found: FoundPassages | None = None
    inside_texts: list[str] = field(default_factory=list)
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
    record: Recorder = record_action
    held_back: tuple[Event, ...] = ()
    ticket: Ticket | None = None
    offered: list[UUID] = field(default_factory=list)
    attached: Attached = field(default_factory=Attached)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[TableName, ...] | None = None
    is_over: bool = False
    beside: set[asyncio.Task[None]] = field(default_factory=set)
    _told: int = 0

    @property
    def base_ids(self) -> tuple[UUID, ...]:
        """Return the bases that its profile restricts it to, with the folder of its files; none for no restriction."""
        ids = self.profile.knowledge_base_ids
        return (*ids, ATTACHMENTS) if ids and self.attached.names else ids

    @property
    def data(self) -> DataScope:
        return DataScope(self.tables, self.scope, self.base_ids)

    @property
    def verified(self) -> Finding | None:
        return next((entry for entry in self.findings.values() if entry.verified), None)

    @property
    def asks_tables_alone(self) -> bool:
        """Return whether the person chose tables and no documents."""
        return set(self.chosen) == {"tables"}

    @property
    def is_follow_up(self) -> bool:
        """Return whether there are earlier questions on its branch."""
        return self.follows is not None

    async def close_models(self) -> None:
        """End concurrent tasks and the models' connections; no calls follow."""
        for task in self.beside:
            task.cancel()
        await asyncio.gather(*self.beside, return_exceptions=True)
        for model in filter(None, (self.model, self.judge)):
            await model.aclose()

    def subtask(self, tool: str) -> Subtask | None:
        """Return the plan step for this tool; None where the question has no steps."""
        return next((step for step in self.state.plan.subtasks if step.tool == tool), None)

    @property
    def asked_of_documents(self) -> str:
        """Return the question for documents: the first step, or the whole question."""
        step = self.subtask("knowledge_search")
        return step.question if step else self.state.input.normalized_query

    @property
    def is_by_words(self) -> bool:
        """Return whether no model takes part: none is configured, or it gave up."""
        return self.model is None or self.model_gave_up

    def add(self, findings: Iterable[Finding]) -> None:
        """Add new evidence; known pieces are skipped."""
        for finding in findings:
            if finding.item.evidence_id not in self.findings:
                finding.item.authz.perm_snapshot_id = self.state.authz.perm_snapshot_id
                self.findings[finding.item.evidence_id] = finding
                self.numbers.setdefault(finding.item.evidence_id, len(self.numbers) + 1)
                self.state.evidence_items.append(finding.item)

    @property
    def numbered(self) -> dict[int, Finding]:
        """Return the evidence by citation number; numbers of evidence that is no longer readable are missing."""
        return {self.numbers[key]: finding for key, finding in self.findings.items()}

    def deliver(self, answer: CitedAnswer, confidence: float) -> None:
        """Set the finished answer in the run and in its state."""
        self.answer = answer
        cited = [EvidenceRef(evidence_id=span.evidence_id, start=span.start, end=span.end) for span in answer.citations]
        cited += [EvidenceRef(evidence_id=query.evidence_id) for query in answer.queries]
        cited += [EvidenceRef(evidence_id=page.evidence_id) for page in answer.pages]
        cited += [EvidenceRef(evidence_id=entry.evidence_id) for entry in answer.verified]
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
        """Return the text of a prompt, and keep its hash."""
        self.prompts[prompt.name] = prompt.hash
        return prompt.text

    def tell(self, sentence: str) -> None:
        """Add a notice for the person; each sentence once."""
        if sentence not in self.notices:
            self.notices.append(sentence)

    def fresh_notices(self) -> list[Reflection]:
        """Return the notices added since the last call, as events."""
        fresh, self._told = self.notices[self._told :], len(self.notices)
        return [Reflection(content=sentence, done=True) for sentence in fresh]
