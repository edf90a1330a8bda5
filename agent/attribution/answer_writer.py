"""Write an answer, checking each sentence before it is shown.

Each sentence of the model is compared with what it cites; a judge checks beside the stream what facts leave open. Each
sentence has its slot (`agent.attribution.slots`). A sentence that facts settle is sent at once; of an open one only the
sources are sent until the judge has read it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.utils import timezone
from django.utils.translation import override

from agent import texts
from agent.attribution.answer_language import answer_language_of, is_in_other_language
from agent.attribution.check import Evidence, check_cited_sentence
from agent.attribution.citations import Citations
from agent.attribution.disagreement import add_disagreement_notices
from agent.attribution.judge import LooksFirst, OpenSentence, judge_sentences
from agent.attribution.sentences import CitedStatement, Sentences, is_no_answer
from agent.attribution.slots import Slots, SlotSentence, WrittenSlot, make_checking_event
from agent.attribution.standing import add_unapproved_notice
from agent.attribution.verdict import SentenceCheck as Compared
from agent.attribution.verdict import Verdict
from agent.events import Answer, Event, Thinking
from agent.evidence.items import format_result_text
from agent.notices import record_judge_failure
from agent.prompting import append_date, load_prompt
from agent.providers.base import CUT, Delta, ModelBroken, ModelError
from agent.run_state.cited_answer import CitedSentence
from agent.run_state.run import Finding, Run
from agent.run_state.state import State
from agent.run_state.threads import run_cpu_bound_call
from agent.workflow import Together, add_trace_step
from knowledge.text.language import detect_language

MAX_SENTENCES = 24
MAX_CALLS = 2  # concurrent calls of the judge
BATCH = 4  # open sentences per further judge call while the writer continues; chosen by hand
NO_ANSWER = "NO_ANSWER"
# for ordering answers alone; by hand
STRENGTHS: Final = {Verdict.SUPPORTED: 1.0, Verdict.LIKELY: 0.8, Verdict.UNSETTLED: 0.3}
JUDGED = 0.9


@dataclass(frozen=True)
class _Claim:
    """The judge's verdict on a sentence; is_said: None at the end of a call without a verdict on it."""

    part: SlotSentence
    is_said: bool | None


_ENDED: Final = object()  # the model's stream is over
_STARTED_OVER: Final = object()


@dataclass
class Writer:
    """One answer being written, over all model streams of a run; evidence is read from the run at each sentence.

    dropped: number of sentences left out, by reason. lost: the query results that these were about. abstains: the model
    says that nothing answers, with the agreed word or in its own words; a sentence that answers may still follow.
    is_in_other_language: the first sentence was not in the asker's language; a second attempt is accepted as it is.
    """

    run: Run
    dropped: list[str] = field(default_factory=list)
    lost: dict[int, Finding] = field(default_factory=dict)
    strengths: list[float] = field(default_factory=list)
    abstains: bool = False
    is_in_other_language: bool = False
    _heard: asyncio.Queue[object] = field(default_factory=asyncio.Queue)
    _uncited: list[SlotSentence] = field(default_factory=list)  # open sentences that wait for the end of the stream
    _waiting: list[SlotSentence] = field(default_factory=list)  # for the judge
    _calls: int = 0  # judge calls in progress
    _asked: int = 0  # sentences that the judge was asked about
    _is_writing: bool = False
    _has_calls: bool = False  # this stream calls tools
    _is_enough: bool = False  # nothing more of this stream is taken
    _begins_at: int = 0  # the first slot of this stream
    _earlier: frozenset[str] = frozenset()  # what earlier streams said
    _before: str = ""

    def __post_init__(self) -> None:
        self.provider = self.run.model.name if self.run.model else ""
        self.citations = Citations(self.provider)
        self.slots = Slots(self.citations.pages)

    @property
    def has_sentences(self) -> bool:
        return bool(self.slots.kept)

    @property
    def has_parts(self) -> bool:
        """Return whether the answer has any sentence, settled or not."""
        return bool(self.slots.parts)

    async def written(self, deltas: AsyncIterator[Delta]) -> AsyncIterator[Together]:
        """Yield the events of one stream, those of a slot together, and of the judge's verdicts meanwhile. Raises ModelError.

        The stream ends early, with nothing shown, where it begins in another language than the question.
        """
        self._begin_stream()
        reading = asyncio.create_task(self._read_stream(deltas))
        reading.add_done_callback(lambda _task: self._heard.put_nowait(_ENDED))
        try:
            while not self._is_enough and (item := await self._heard.get()) is not _ENDED:
                if events := await self._events_of(item):
                    yield events
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            self._forget_stream()
        failure = None if reading.cancelled() else reading.exception()
        if events := self._close_stream(is_broken=failure is not None):
            yield events
        if failure:
            raise failure

    async def settled(self) -> AsyncIterator[Together]:
        """Yield the events of the sentences that the judge is still reading."""
        while self._calls:
            if events := await self._events_of(await self._heard.get()):
                yield events
        if any(not sentence.is_checked for sentence in self.slots.kept):
            with override(self.run.language):
                self.run.tell(str(texts.NOT_ALL_CHECKED))

    def results(self) -> Iterator[Together]:
        """Yield the events of the results whose sentence was left out: each is shown with its own headline."""
        for number, finding in self.lost.items():
            if number not in self.citations.shown:
                part = SlotSentence(CitedStatement(format_result_text(finding), (number,)), numbers=(number,))
                part.settle(stands=True)
                self.strengths.append(1.0)
                yield tuple(self._show_slot(self.slots.add(part)))

    def compare_sources(self) -> None:
        """Add the passages that contradict the cited ones to the sources."""
        found = [(one.passage, one.item.score or 0.0) for one in self.run.findings.values() if one.passage]
        compared = self.citations.compare(found, self.slots.kept, today=timezone.localdate())
        add_disagreement_notices(self.run, compared)
        add_unapproved_notice(self.run, compared, {passage.chunk_id: passage for passage, _score in found})

    def closing(self) -> Iterator[Together]:
        """Yield the closing events of the answer; none where there is no answer."""
        kept = self.slots.kept
        headings = {
            texts.FROM_OUTSIDE: bool(self.citations.pages),
            texts.UNSAID_LEFT_OUT: bool(kept and self.dropped),
            texts.OTHER_LANGUAGE: self._is_wrong_language("\n".join(sentence.text for sentence in kept)),
        }
        with override(self.run.language):
            for text in (text for text, is_so in headings.items() if is_so):
                self.run.tell(str(text))
        if notices := tuple(self.run.fresh_notices()):
            yield notices
        if kept:
            pairs = self.citations.disagreements
            data = {"provider": self.provider} | ({"disagreements": list(pairs)} if pairs else {})
            yield self.citations.event(done=True), Answer(done=True, data=data)

    def record(self) -> None:
        kept, confidence = self.slots.kept, round(min(self.strengths, default=0.0), 4)
        if kept:
            self.run.deliver(self.citations.answer(kept), confidence)
        kinds = sorted({reason.partition(" ")[0] for reason in self.dropped})
        unchecked = sum(not sentence.is_checked for sentence in kept)
        note = f"kept={len(kept)} unchecked={unchecked} dropped={len(self.dropped)} {' '.join(kinds)}".strip()
        add_trace_step(self.run, State.ACT, action="write", out={"confidence": confidence, "note": note})

    def _begin_stream(self) -> None:
        statements = (part.statement.text for slot in self.slots.slots if slot.kept != [] for part in slot.parts)
        self._earlier, self._before = frozenset(statements), ""
        self._is_writing, self._has_calls, self._is_enough = True, False, False
        self._begins_at = len(self.slots.slots)

    def _forget_stream(self) -> None:
        """Remove the items of an unfinished stream from the queue; keep the judge's verdicts."""
        for item in [self._heard.get_nowait() for _place in range(self._heard.qsize())]:
            if isinstance(item, _Claim | asyncio.Task):
                self._heard.put_nowait(item)

    async def _read_stream(self, deltas: AsyncIterator[Delta]) -> None:
        """Put the model's sentences and thoughts into the queue. Raises ModelError."""
        sentences, finish, has_text, is_thinking = Sentences(), "", False, False
        async for delta in deltas:
            if delta.was_thought:
                sentences, has_text = Sentences(), False
                self._heard.put_nowait(_STARTED_OVER)
            finish, has_text = finish or delta.finish, has_text or bool(delta.text.strip())
            self._has_calls |= bool(delta.calls)
            if delta.reasoning or is_thinking:
                self._heard.put_nowait(Thinking(content=delta.reasoning, done=not delta.reasoning))
            is_thinking = bool(delta.reasoning)
            for statement in sentences.take(delta.text):
                self._heard.put_nowait(statement)
        if is_thinking:
            self._heard.put_nowait(Thinking(done=True))
        is_cut = finish in CUT
        for statement in sentences.rest(is_cut=is_cut):
            self._heard.put_nowait(statement)
        if is_cut or not (has_text or self._has_calls):
            raise ModelBroken(f"{self.provider} ended its answer early ({finish or 'nothing was written'})")

    async def _events_of(self, item: object) -> Together:
        """Return the events that follow from a queue item. Raises the error of a failed judge call."""
        if isinstance(item, CitedStatement):
            return await self._accept_sentence(item)
        if isinstance(item, Thinking):
            return (item,)
        if isinstance(item, _Claim):
            if not item.part.is_settled:
                self._settle_sentence(item.part, item.is_said)
            return self._show_settled_slots()
        if isinstance(item, asyncio.Task):  # a call of the judge
            self._calls -= 1
            item.result()
            self._call_judge()
            return ()
        return self._withdraw_stream()

    async def _accept_sentence(self, statement: CitedStatement) -> Together:
        """Return the events of a new sentence: itself where facts settle it, else a notice that it is being checked."""
        if self._is_skippable_sentence(statement):
            if statement.closes and self.slots.last:
                self.slots.last.is_complete = True
            return self._show_settled_slots()
        part = SlotSentence(statement, self._before)
        self._before = statement.text
        part.numbers, found = await run_cpu_bound_call(self._compare_with_evidence, statement)
        part.verdict, part.why = found.verdict, found.why
        self.slots.add(part)
        is_cited = not set(statement.numbers).isdisjoint(part.numbers)
        if part.is_blank:
            part.settle(stands=True)
        elif part.is_open and not is_cited:
            self._uncited.append(part)
        elif part.is_open and self.run.judge is not None:
            self._waiting.append(part)
        else:
            self._settle_sentence(part, None)
        self._is_enough = sum(entry.stands or not entry.is_settled for entry in self.slots.parts) >= MAX_SENTENCES
        return (*self._announce_checks(), *self._show_settled_slots())

    def _is_skippable_sentence(self, statement: CitedStatement) -> bool:
        """Return whether to drop a sentence: it gives no answer, is in another language, or is a repetition."""
        if NO_ANSWER in statement.text or is_no_answer(statement.text):
            self.abstains = not any(part.stands or not part.is_settled for part in self.slots.parts)
            self._is_enough = NO_ANSWER in statement.text
            return True
        if not (self.slots.parts or self.is_in_other_language) and self._is_wrong_language(statement.text):
            self.is_in_other_language = self._is_enough = True
            return True
        return statement.text in self._earlier

    def _compare_with_evidence(self, statement: CitedStatement) -> tuple[tuple[int, ...], Compared]:
        return check_cited_sentence(
            statement.text,
            statement.numbers,
            {number: _make_evidence(found) for number, found in self.run.numbered.items()},
            question=self.run.state.input.normalized_query,
            today=timezone.localdate(),
            also="\n".join(self.run.workings),
        )

    def _announce_checks(self) -> Iterator[Event]:
        """Send the waiting sentences to the judge, and announce each slot as being checked."""
        waiting = list(self._waiting)
        self._call_judge()
        for slot in self.slots.slots[self._begins_at :]:
            sources = [part.numbers for part in slot.parts if any(part is entry for entry in waiting)]
            if sources and not slot.is_told:
                numbers = dict.fromkeys(number for some in sources for number in some)
                yield make_checking_event(slot, [self.run.numbered[number].item.source.title for number in numbers])

    def _call_judge(self) -> None:
        """Send the waiting sentences to the judge: the first at once, later ones in batches, in at most two calls at a time."""
        is_early = self._asked and self._is_writing and len(self._waiting) < BATCH
        if not self._waiting or is_early or self._calls == MAX_CALLS:
            return
        batch = dict(enumerate(self._waiting, self._asked + 1))
        self._waiting, self._calls, self._asked = [], self._calls + 1, self._asked + len(batch)
        task = asyncio.create_task(self._collect_verdicts(batch))
        self.run.beside.add(task)
        task.add_done_callback(self.run.beside.discard)
        task.add_done_callback(self._heard.put_nowait)

    async def _collect_verdicts(self, parts: Mapping[int, SlotSentence]) -> None:
        """Put the judge's verdicts into the queue as they come; none where a call fails. parts: by their number in the run."""
        run, today = self.run, timezone.localdate()
        assert run.judge is not None
        question = run.state.input.normalized_query
        try:
            system = append_date(run.use(load_prompt("judge", detect_language(question) or run.language)), today)
            sentences = [self._make_open_sentence(number, part) for number, part in parts.items()]
            judge, also = LooksFirst(run.judge, run), "\n".join(run.workings)
            async for number, is_said in judge_sentences(judge, system, question, sentences, today=today, also=also):
                self._heard.put_nowait(_Claim(parts[number], is_said))
        except ModelError as error:
            record_judge_failure(run, error)
        for part in parts.values():
            self._heard.put_nowait(_Claim(part, None))

    def _make_open_sentence(self, number: int, part: SlotSentence) -> OpenSentence:
        known = self.run.numbered
        evidence = {entry: _make_evidence(known[entry]) for entry in part.numbers if entry in known}
        return OpenSentence(number, part.statement.text, part.before, evidence)

    def _settle_sentence(self, part: SlotSentence, is_said: bool | None) -> None:
        """Decide about a sentence. is_said: the judge's verdict; None where there is none."""
        is_checked = is_said is True or part.verdict is not Verdict.UNSETTLED
        is_wrong = part.verdict is Verdict.CONTRADICTED or is_said is False
        if is_wrong or (not is_checked and (self.run.profile.is_strict or not part.numbers)):
            part.settle(stands=False)
            self.dropped.append(part.why or "judge")
            self.lost |= self._find_cited_results(part.statement)
            return
        part.settle(stands=True, is_checked=is_checked)
        self.strengths.append(JUDGED if is_said else STRENGTHS[part.verdict])

    def _find_cited_results(self, statement: CitedStatement) -> dict[int, Finding]:
        """Return the query results that a sentence cites; all results for a sentence without citations."""
        known = self.run.numbered
        cited = [number for number in statement.numbers if number in known] or list(known)
        return {number: known[number] for number in cited if known[number].is_result}

    def _close_stream(self, *, is_broken: bool) -> Together:
        """Return the events of the end of a stream. A sentence without citations is dropped where a tool call follows."""
        self._is_writing = False
        if self.slots.last:
            self.slots.last.is_complete = True
        uncited, self._uncited = self._uncited, []
        for part in uncited:
            if self._has_calls:
                part.settle(stands=False)
            elif part.numbers and self.run.judge is not None:
                self._waiting.append(part)
            else:
                self._settle_sentence(part, None)
        if is_broken:
            for part in self._waiting:
                self._settle_sentence(part, None)
            self._waiting = []
        return (*self._announce_checks(), *self._show_settled_slots())

    def _withdraw_stream(self) -> Together:
        """Take back the text of this stream, which turned out to be thinking."""
        slots = self.slots.slots[self._begins_at :]
        events = [element for slot in slots for element in self.slots.taken_back(slot)]
        self._waiting, self._uncited, self.abstains = [], [], False
        if not self._begins_at:
            self.citations = Citations(self.provider)
            self.slots.outside, self.run.answer = self.citations.pages, None
            self.strengths, self.dropped, self.lost = [], [], {}
        return tuple(events)

    def _show_settled_slots(self) -> Together:
        """Return the events of all settled slots that were not shown yet."""
        return tuple(
            event
            for slot in self.slots.slots[self.slots.next :]
            if slot.kept is None and slot.is_settled
            for event in self._show_slot(slot)
        )

    def _show_slot(self, slot: WrittenSlot) -> Iterator[Event]:
        """Yield the events of a settled slot, with the sources that it cites first."""
        known, is_fresh = self.run.numbered, False
        slot.kept = []
        for part in slot.standing:
            if not known.keys() >= set(part.numbers):
                continue  # its sources are no longer readable
            for number in part.numbers:
                is_fresh |= self.citations.cite(number, known[number], part.statement.text)
            numbers = tuple(self.citations.shown[number] for number in part.numbers)
            statement = part.statement
            slot.kept.append(CitedSentence(statement.text, numbers, part.is_checked, statement.gap, slot.number))
        if slot.kept:
            self.run.answer = self.citations.answer(self.slots.kept)  # stored if the run is stopped here
        if is_fresh:
            yield self.citations.event(done=False)
        yield from self.slots.events_of(slot, {"provider": self.provider})

    def _is_wrong_language(self, text: str) -> bool:
        return is_in_other_language(text, answer_language_of(self.run))


def _make_evidence(found: Finding) -> Evidence:
    text = found.item.text
    return Evidence(
        f"{found.item.source.title}\n\n{text}" if found.passage or found.outside or found.verified else text,
        found.is_result,
    )
