"""The model writes; each sentence is compared with what it cites before anybody sees it, and what facts leave open is judged.

Sentences leave in their order. Those that facts settle leave at once; from the first open one on they wait for the judge, who is
asked once, at the end.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.utils import timezone
from django.utils.translation import override

from agent import texts
from agent.attribution.answer_language import is_in_other_language
from agent.attribution.check import Evidence, check_cited
from agent.attribution.disagreement import tell_disagreements, with_disagreements
from agent.attribution.judge import judged
from agent.attribution.no_answer import is_no_answer
from agent.attribution.sentences import CitedStatement, Sentences
from agent.attribution.standing import is_unapproved, tell_unapproved
from agent.attribution.verdict import Verdict
from agent.cited_answer import CitedAnswer, CitedPage, CitedQuery, CitedSentence, CitedSpan
from agent.events import Answer, KnowledgeReference, QueryReference, References, Thinking
from agent.evidence import (
    cited_page,
    cited_query,
    cited_span,
    query_reference,
    reference,
    result_told,
    web_reference,
)
from agent.fencing import escaped, fenced
from agent.notices import judge_failed
from agent.prompting import count_tokens, dated, prompt
from agent.providers.base import CUT, Delta, Message, ModelBroken, ModelError, Shape, WrappedModel
from agent.revocation import require_visible
from agent.run import Finding, Run
from agent.state import State
from agent.text.overlap import nearest
from agent.threads import worked
from agent.workflow import Together, add_trace
from knowledge.text.language import language_of

MOST_EVIDENCE = 12
EVIDENCE_SHARE = 0.5  # of the model's context for evidence
MOST_SENTENCES = 24
NO_ANSWER = "NO_ANSWER"
STRENGTHS: Final = {
    Verdict.SUPPORTED: 1.0,
    Verdict.LIKELY: 0.8,
    Verdict.UNSETTLED: 0.3,
}  # for ordering answers alone; by hand
JUDGED = 0.9


@dataclass(frozen=True)
class _Checked:
    """A sentence with the numbers of its evidence, and what facts say of it."""

    statement: CitedStatement
    numbers: tuple[int, ...]
    verdict: Verdict
    why: str

    @property
    def is_open(self) -> bool:
        return self.verdict in (Verdict.LIKELY, Verdict.UNSETTLED)


@dataclass
class _LooksFirst(WrappedModel):
    """A model before each of whose calls rights are looked at: the judge is asked late, and may be asked again."""

    run: Run

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """Raises EvidenceGone, and what the model raises."""
        await sync_to_async(require_visible)(self.run)
        async for delta in self.model.stream(messages, tools=tools, shape=shape):
            yield delta


@dataclass
class Writer:
    """One answer in the making. dropped: sentences that were left out, by why; counts alone are kept. lost: the results of queries
    that they were about. waiting: sentences from the first one on that the judge is to read. abstains: the model says that nothing answers,
    in the word that it was told or in its own; then a sentence may still follow that does.
    """

    run: Run
    kept: list[CitedSentence] = field(default_factory=list)
    spans: dict[int, CitedSpan] = field(default_factory=dict)
    queries: dict[int, CitedQuery] = field(default_factory=dict)
    pages: dict[int, CitedPage] = field(default_factory=dict)
    references: list[KnowledgeReference] = field(default_factory=list)
    query_references: list[QueryReference] = field(default_factory=list)
    strengths: list[float] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    lost: dict[int, Finding] = field(default_factory=dict)
    waiting: list[_Checked] = field(default_factory=list)
    disagreements: tuple[tuple[int, int], ...] = ()
    _numbers: dict[int, int] = field(default_factory=dict)
    abstains: bool = False

    def __post_init__(self) -> None:
        self.evidence = self._chosen()
        self.texts = {
            number: Evidence(
                f"{found.item.source.title}\n\n{found.item.text}"
                if found.passage or found.outside
                else found.item.text,
                found.is_result,
            )
            for number, found in self.evidence.items()
        }
        self.provider = self.run.model.name if self.run.model else ""

    @property
    def has_sentences(self) -> bool:
        return bool(self.kept)

    async def written(self) -> AsyncIterator[Together]:
        """The answer's events as its sentences come, those of a sentence together; `settled` follows. Raises ModelError.

        One that begins in another language than the question's is asked for once more.
        """
        for is_last in (False, True):
            async with aclosing(self._statements(is_again=is_last)) as statements:
                async for statement in statements:
                    if isinstance(statement, Thinking):
                        yield (statement,)
                        continue
                    is_first = not (is_last or self.kept or self.waiting or is_no_answer(statement.text))
                    if is_first and self._is_in_other_language(statement.text):
                        break
                    if events := await self._taken(statement):
                        yield events
                    if NO_ANSWER in statement.text or len(self.kept) + len(self.waiting) >= MOST_SENTENCES:
                        return
                else:
                    return

    async def _statements(self, *, is_again: bool) -> AsyncGenerator[CitedStatement | Thinking, None]:
        """Each as it is complete, and what the model thinks before and between them."""
        assert self.run.model is not None
        sentences, finish, has_text, is_thinking = Sentences(), "", False, False
        async for delta in self.run.model.stream(self._messages(is_again=is_again)):
            if delta.was_thought:
                sentences, has_text = Sentences(), False
                self._start_over()
            finish, has_text = finish or delta.finish, has_text or bool(delta.text.strip())
            if delta.reasoning:
                yield Thinking(content=delta.reasoning)
            if is_thinking and not delta.reasoning:
                yield Thinking(done=True)
            is_thinking = bool(delta.reasoning)
            for statement in sentences.take(delta.text):
                yield statement
        if is_thinking:
            yield Thinking(done=True)
        is_cut = finish in CUT
        for statement in sentences.rest(is_cut=is_cut):
            yield statement
        if is_cut or not has_text:
            raise ModelBroken(f"{self.provider} ended its answer early ({finish or 'nothing was written'})")

    def _start_over(self) -> None:
        """What was taken so far was thinking: none of it is of the answer."""
        for taken in (self.kept, self.references, self.query_references, self.strengths, self.dropped, self.waiting):
            taken.clear()
        for numbered in (self.spans, self.queries, self.pages, self.lost, self._numbers):
            numbered.clear()
        self.run.answer, self.abstains = None, False

    def _is_in_other_language(self, text: str) -> bool:
        return is_in_other_language(text, self._language)

    @property
    def _language(self) -> str:
        """The asker's: of what they wrote, where that tells, else of their pages."""
        run = self.run
        told = run.answers_in or language_of(run.question) or language_of(run.state.input.normalized_query)
        return told or run.language[:2]

    async def settled(self, *, is_asked: bool) -> AsyncIterator[Together]:
        """The events of the sentences that waited. is_asked: False where the judge is not asked, and facts alone decide."""
        said = await self._judged() if is_asked and self.waiting else {}
        for place, each in enumerate(self.waiting, 1):
            if events := self._decided(each, said.get(place)):
                yield events
        if any(not sentence.is_checked for sentence in self.kept):
            with override(self.run.language):
                self.run.tell(str(texts.NOT_ALL_CHECKED))

    def results(self) -> Iterator[Together]:
        """The events of results whose sentence was left out: they stay, each with its own headline."""
        for number, finding in self.lost.items():
            if number not in self._numbers:
                self.strengths.append(1.0)
                yield self._kept(CitedSentence(result_told(finding), (number,)))

    def compare_sources(self) -> None:
        """Make what contradicts the cited passages a source, too."""
        found = [(one.passage, one.item.score or 0.0) for one in self.run.findings.values() if one.passage]
        compared = with_disagreements(self._so_far(), found, today=timezone.localdate())
        passages = {passage.chunk_id: passage for passage, _score in found}
        for span in compared.citations[len(self.spans) :]:
            self.spans[span.number] = span
            passage = passages[span.chunk_id]
            self.references.append(reference(span.number, passage, span.score, start=span.start, end=span.end))
        self.disagreements = compared.disagreements
        tell_disagreements(self.run, compared)
        tell_unapproved(self.run, compared, passages)

    def closing(self) -> Iterator[Together]:
        """What ends the answer's events; nothing where there is no answer."""
        if self.pages:
            with override(self.run.language):
                self.run.tell(str(texts.FROM_OUTSIDE))
        if self.kept and self.dropped:
            with override(self.run.language):
                self.run.tell(str(texts.UNSAID_LEFT_OUT))
        if self._is_in_other_language("\n".join(sentence.text for sentence in self.kept)):
            with override(self.run.language):
                self.run.tell(str(texts.OTHER_LANGUAGE))
        if notices := tuple(self.run.fresh_notices()):
            yield notices
        if self.kept:
            pairs = {"disagreements": list(self.disagreements)} if self.disagreements else {}
            yield self._references(done=True), Answer(done=True, data={"provider": self.provider, **pairs})

    def record(self) -> None:
        """Put what was written into the run and its trace."""
        confidence = round(min(self.strengths), 4) if self.strengths else 0.0
        if self.kept:
            self.run.deliver(self._so_far(), confidence)
        kinds = sorted({reason.partition(" ")[0] for reason in self.dropped})
        unchecked = sum(not sentence.is_checked for sentence in self.kept)
        note = f"kept={len(self.kept)} unchecked={unchecked} dropped={len(self.dropped)} {' '.join(kinds)}".strip()
        add_trace(self.run, State.SYNTHESIZE, action="write", out={"confidence": confidence, "note": note})

    async def _taken(self, statement: CitedStatement) -> Together:
        """The events of a sentence that can leave now; one that is open, or comes after an open one, waits."""
        if NO_ANSWER in statement.text or is_no_answer(statement.text):
            self.abstains = not self.kept and not self.waiting
            return ()
        checked = await worked(self._compared, statement)
        if self.waiting or (checked.is_open and self.run.judge is not None):
            self.waiting.append(checked)
            return ()
        return self._decided(checked, None)

    def _compared(self, statement: CitedStatement) -> _Checked:
        numbers, finding = check_cited(
            statement.text,
            statement.numbers,
            self.texts,
            question=self.run.state.input.normalized_query,
            today=timezone.localdate(),
            also="\n".join(self.run.workings),
        )
        return _Checked(statement, numbers, finding.verdict, finding.why)

    async def _judged(self) -> dict[int, bool]:
        """What the judge says of the open sentences, by their place; nothing where it fails. It is shown what the writer was."""
        sentences = {place: each.statement.text for place, each in enumerate(self.waiting, 1) if each.is_open}
        if self.run.judge is None or not sentences:
            return {}
        question = self.run.state.input.normalized_query
        system = dated(self.run.use(prompt("judge", language_of(question) or self.run.language)), timezone.localdate())
        try:
            return await judged(
                _LooksFirst(self.run.judge, self.run),
                system,
                question,
                sentences,
                self.texts,
                today=timezone.localdate(),
                also="\n".join(self.run.workings),
            )
        except ModelError as error:
            judge_failed(self.run, error)
            return {}

    def _decided(self, each: _Checked, is_said: bool | None) -> Together:
        """The events of a sentence. is_said: by the judge; None where it was not judged."""
        if each.verdict is Verdict.CONTRADICTED or is_said is False:
            return self._left_out(each, each.why or "judge")
        is_checked = is_said is True or each.verdict is not Verdict.UNSETTLED
        if not is_checked and (self.run.profile.is_strict or not each.numbers):
            return self._left_out(each, each.why)
        self.strengths.append(JUDGED if is_said else STRENGTHS[each.verdict])
        return self._kept(CitedSentence(each.statement.text, each.numbers, is_checked, each.statement.gap))

    def _left_out(self, each: _Checked, why: str) -> Together:
        self.dropped.append(why)
        self.lost |= self._results_of(each.statement)
        return ()

    def _results_of(self, statement: CitedStatement) -> dict[int, Finding]:
        """The results of queries that a sentence cites; of one that cites nothing, all."""
        cited = [number for number in statement.numbers if number in self.evidence] or list(self.evidence)
        return {n: self.evidence[n] for n in cited if self.evidence[n].item.type == "sql_result"}

    def _kept(self, stands: CitedSentence) -> Together:
        """The events of a sentence that stands. stands: with the numbers of its evidence, in place of those that people see."""
        fresh = [number for number in stands.citations if number not in self._numbers]
        for number in fresh:
            self._cite(number, stands.text)
        numbers = tuple(self._numbers[number] for number in stands.citations)
        gap = stands.gap if self.kept else stands.gap.lstrip("\n")
        sentence = CitedSentence(stands.text, numbers, stands.is_checked, gap)
        gap = gap or (" " if self.kept else "")
        self.kept.append(sentence)
        self.run.answer = self._so_far()  # what is stored if somebody stops the run here
        mark = {} if sentence.is_checked else {"is_checked": False}
        mark |= {"is_outside": True} if self.pages.keys() & set(numbers) else {}
        answer = Answer(content=f"{gap}{sentence.marked}", data={"provider": self.provider, **mark})
        return (self._references(done=False), answer) if fresh else (answer,)

    def _so_far(self) -> CitedAnswer:
        return CitedAnswer(
            self.provider,
            tuple(self.kept),
            tuple(self.spans.values()),
            tuple(self.queries.values()),
            tuple(self.pages.values()),
            disagreements=self.disagreements,
        )

    def _references(self, *, done: bool) -> References:
        return References(
            knowledge_references=list(self.references),
            query_references=list(self.query_references),
            web_references=[web_reference(page) for page in self.pages.values()],
            done=done,
        )

    def _cite(self, number: int, sentence: str) -> None:
        """Give a piece of evidence the next number that people see; the cited span is its sentence that says most of it."""
        shown = self._numbers[number] = len(self._numbers) + 1
        item, passage = self.evidence[number].item, self.evidence[number].passage
        if outside := self.evidence[number].outside:
            self.pages[shown] = cited_page(shown, outside, sentence)
            return
        if passage is None:
            self.queries[shown] = cited_query(shown, self.evidence[number])
            self.query_references.append(query_reference(shown, self.evidence[number]))
            return
        score = item.score or 0.0
        start, end = nearest(sentence, passage.text, passage.blocks)
        self.spans[shown] = cited_span(shown, passage, score, start=start, end=end)
        self.references.append(reference(shown, passage, score, start=start, end=end))

    def _chosen(self) -> dict[int, Finding]:
        """The evidence that the model is shown, by number: what is approved before what waits for it, what is known inside before pages
        from outside, the first found first, as much as fits.
        """
        assert self.run.model is not None
        left = int(self.run.model.context_tokens * EVIDENCE_SHARE)
        chosen: dict[int, Finding] = {}
        for finding in sorted(
            self.run.findings.values(), key=lambda each: (each.outside is not None, is_unapproved(each))
        ):
            left -= count_tokens(finding.item.text) + 40
            if left < 0 or len(chosen) == MOST_EVIDENCE:
                break
            chosen[len(chosen) + 1] = finding
        return chosen

    def _messages(self, *, is_again: bool) -> list[dict[str, object]]:
        """is_again: the language is said once more, after the question."""
        run = self.run
        system = run.use(prompt("answer", self._language))
        if run.profile.tone:
            system = f"{system}\n{run.use(prompt(f'tone_{run.profile.tone}', self._language))}"
        if any(finding.outside for finding in self.evidence.values()):
            system = f"{system}\n{run.use(prompt('answer_outside', self._language))}"
        if any(is_unapproved(finding) for finding in self.evidence.values()):
            system = f"{system}\n{run.use(prompt('answer_unapproved', self._language))}"
        blocks = [
            fenced(finding.item, number=number, is_unapproved=is_unapproved(finding))
            for number, finding in self.evidence.items()
        ]
        if run.workings:
            blocks.append("\n".join(["<calculations>", *map(escaped, run.workings), "</calculations>"]))
        content = "\n".join([*blocks, "", run.state.input.normalized_query])
        if is_again or run.answers_in:
            content = f"{content}\n\n{run.use(prompt('answer_language', self._language))}"
        return [
            {"role": "system", "content": dated(system, timezone.localdate())},
            {"role": "user", "content": content},
        ]
