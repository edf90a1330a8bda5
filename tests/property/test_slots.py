"""Slots of an answer, whatever order the writer and the judge go on in: no open sentence is told before its verdict, none waits for
another's, and whoever adds up the pieces reads what is stored.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.attribution.answer_writer import Writer
from agent.events import Answer, Event, Slot
from agent.evidence.items import make_hit_finding
from agent.providers.base import Delta, Message, Prices, Shape
from agent.run_state.cited_answer import join_sentences
from agent.run_state.run import Run
from authz.principal import Principal
from knowledge.retrieval.search import Scope, search
from tests.integration.agent.conversations import LEAVE, make_library, make_reader

pytestmark = pytest.mark.django_db

THIRTY = "Employees have 30 days of annual leave in each calendar year"
QUOTE = "30 days of annual leave"
OPEN = "Staff can be away for a whole month, as word{} has it"
WRONG = "Employees have 99 days of annual leave in each calendar year"
ASKED = re.compile(r'<sentence number="(\d+)"[^>]*>\n(?:<before>.*</before>\n)?.*?(word\d+)')
SENTENCES = st.sampled_from(["facts", "wrong", "open", "open", "uncited"])
VERDICTS = st.sampled_from(["S", "N", "C", "nothing", "breaks"])


class Steps:
    """Lets whoever waits go on as the schedule says; at its end everybody goes on."""

    def __init__(self) -> None:
        self.allowed = {"writer": asyncio.Semaphore(0), "judge": asyncio.Semaphore(0)}
        self.is_free = False

    async def take(self, who: str) -> None:
        if not self.is_free:
            await self.allowed[who].acquire()

    async def play(self, schedule: Sequence[str]) -> None:
        for who in schedule:
            self.allowed[who].release()
            await asyncio.sleep(0)
        self.free()

    def free(self, *whom: str) -> None:
        self.is_free = not whom
        for who in whom or self.allowed:
            for _place in range(2_000):
                self.allowed[who].release()


class Judge:
    """A judge that goes on as it is let, a few characters at a time. told: the sentences whose verdict is out."""

    name, context_tokens, prices = "judge", 8_000, Prices()

    def __init__(self, steps: Steps, verdicts: Mapping[str, str]) -> None:
        self.steps, self.verdicts = steps, verdicts
        self.told: set[str] = set()
        self.asked: list[str] = []
        self.now = self.most = 0

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            asked = ASKED.findall(messages[-1]["content"])
            self.asked += [word for _number, word in asked]
            for number, word in asked:
                verdict = self.verdicts[word]
                if verdict == "breaks":
                    break
                line = "Well.\n" if verdict == "nothing" else f'{number} {verdict} "{QUOTE}"\n'
                for piece in (line[:3], line[3:-1]):
                    await self.steps.take("judge")
                    yield Delta(text=piece)
                self.told.add(word)
                yield Delta(text="\n")
            self.told |= {word for _number, word in asked}  # it says no more: they stay unjudged
        finally:
            self.now -= 1

    async def aclose(self) -> None:
        pass


def words_of(kinds: Sequence[str]) -> tuple[list[str], str]:
    """The sentences that the writer writes, and the words of those that are open."""
    said = []
    for place, kind in enumerate(kinds):
        text = {"facts": THIRTY, "wrong": WRONG}.get(kind, OPEN.format(place))
        said.append(f"{text}." if kind == "uncited" else f"{text} [1].")
    return said, " ".join(said)


def made_run(judge: Judge | None) -> Run:
    base, _manual, _secret = make_library()
    principal = Principal.of(make_reader(base))
    run = Run(uuid4(), uuid4(), principal, LEAVE, Scope(), "en", judge=judge)
    run.state.input.normalized_query = LEAVE
    run.found = search(principal, LEAVE, scope=Scope(), top_k=3)
    run.add(make_hit_finding(hit) for hit in run.found.hits)
    return run


def open_words(text: str) -> set[str]:
    return set(re.findall(r"word\d+", text))


async def deltas(steps: Steps, text: str, size: int) -> AsyncIterator[Delta]:
    for at in range(0, len(text), size):
        await steps.take("writer")
        yield Delta(text=text[at : at + size])
    yield Delta(finish="stop")


async def collected(writer: Writer, judge: Judge, source: AsyncIterator[Delta]) -> list[Event]:
    """All events; each is looked at when it comes, with what a stop would store now."""
    events: list[Event] = []

    def look() -> None:
        kept = writer.run.answer.text if writer.run.answer else ""
        said = "".join(event.model_dump_json() for event in events) + kept + writer.run.state.model_dump_json()
        assert open_words(said) <= judge.told

    async for together in writer.written(source):
        events += together
        look()
    async for together in writer.settled():
        events += together
        look()
    return events


def in_order(events: Sequence[Event]) -> str:
    return "".join(event.content for event in events if isinstance(event, Answer))


@pytest.fixture
def run_of(db: None) -> Run:
    return made_run(None)


@settings(max_examples=25, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(SENTENCES, VERDICTS), min_size=1, max_size=9),
    st.lists(st.sampled_from(["writer", "judge"]), max_size=80),
    st.integers(3, 60),
)
def test_no_letter_of_an_open_sentence_is_anywhere_before_its_verdict(
    run_of: Run, sentences: list[tuple[str, str]], schedule: list[str], size: int
) -> None:
    said, text = words_of([kind for kind, _verdict in sentences])
    verdicts = {f"word{place}": verdict for place, (_kind, verdict) in enumerate(sentences)}

    async def played() -> tuple[Writer, Judge, list[Event]]:
        steps = Steps()
        judge = Judge(steps, verdicts)
        run = Run(uuid4(), uuid4(), run_of.principal, LEAVE, Scope(), "en", judge=judge)
        run.state.input.normalized_query, run.found = LEAVE, run_of.found
        run.add(run_of.findings.values())
        writer = Writer(run)
        playing = asyncio.create_task(steps.play(schedule))
        events = await collected(writer, judge, deltas(steps, text, size))
        await playing
        return writer, judge, events

    writer, judge, events = async_to_sync(played)()
    answer = writer.run.answer
    assert in_order(events) == (answer.text if answer else "")
    assert len(writer.slots.slots) == len(said)
    assert judge.most <= 2
    slots = [event.data["slot"] for event in events if isinstance(event, Answer)]
    assert slots == sorted(set(slots))
    early = {e.data["slot"]: e.content for e in events if isinstance(e, Slot) and e.data["state"] == "settled"}
    later = {event.data["slot"]: event.content for event in events if isinstance(event, Answer)}
    assert {slot: text.strip() for slot, text in early.items()} == {slot: later[slot].strip() for slot in early}
    kept = [kind == "facts" or (kind != "wrong" and verdict not in ("N", "C")) for kind, verdict in sentences]
    unbroken = not any(verdict == "breaks" for _kind, verdict in sentences)
    if unbroken:
        assert slots == [place for place, stands in enumerate(kept) if stands]


def test_a_judge_that_says_nothing_delays_no_settled_slot(run_of: Run) -> None:
    """It goes on only when all that facts settle has been told, so that this would never end if any of it waited."""
    kinds = ["facts", "open", "facts", "wrong", "facts"]
    _said, text = words_of(kinds)

    async def played() -> list[Event]:
        steps = Steps()
        judge = Judge(steps, {"word1": "S"})
        run_of.judge = judge
        writer, events = Writer(run_of), list[Event]()
        steps.free("writer")
        async with asyncio.timeout(60):
            async for together in writer.written(deltas(steps, text, 7)):
                events += together
            assert not judge.told
            steps.free()
            async for together in writer.settled():
                events += together
        return events

    events = async_to_sync(played)()
    told = [(event.response_type, event.data["slot"]) for event in events if isinstance(event, Answer | Slot)]
    assert told == [
        ("answer", 0), ("slot", 1), ("slot", 2), ("slot", 3), ("slot", 4), ("answer", 1), ("answer", 2), ("answer", 4),
    ]  # fmt: skip
    assert [e.data["state"] for e in events if isinstance(e, Slot)] == ["checking", "settled", "left_out", "settled"]


def test_without_the_wait_for_the_verdict_the_property_fails(run_of: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard that is switched off: an open sentence is taken for settled."""
    from agent.attribution.slots import SlotSentence

    monkeypatch.setattr(SlotSentence, "is_open", property(lambda _part: False))
    monkeypatch.setattr(run_of.profile.__class__, "is_strict", False)

    async def played() -> None:
        steps = Steps()
        judge = Judge(steps, {"word0": "S"})
        run_of.judge = judge
        steps.free()
        await collected(Writer(run_of), judge, deltas(steps, words_of(["open", "facts"])[1], 9))

    with pytest.raises(AssertionError):
        async_to_sync(played)()


def test_what_is_said_before_a_tool_call_without_a_source_is_not_shown_nor_said_twice(run_of: Run) -> None:
    """Two streams of one run: the second repeats what the first has said."""
    from agent.providers.base import CallPiece

    async def stream(text: str, *calls: CallPiece) -> AsyncIterator[Delta]:
        yield Delta(text=text)
        yield Delta(calls=calls, finish="tool_calls" if calls else "stop")

    async def played() -> list[Event]:
        steps = Steps()
        steps.free()
        run_of.judge = judge = Judge(steps, {})
        writer, events = Writer(run_of), list[Event]()
        called = stream(f"{THIRTY} [1]. Let me look for word7 in the handbook.", CallPiece(0, "c1", "search", "{}"))
        for source in (called, stream(f"{THIRTY} [1]. A sick note is due on the third day of absence [1].")):
            async for together in writer.written(source):
                events += together
        assert not judge.asked
        return events

    events = async_to_sync(played)()
    assert in_order(events) == f"{THIRTY}.[1] A sick note is due on the third day of absence.[1]"


def test_an_item_is_one_slot_and_a_block_of_code_is_shown_whole_or_not_at_all(run_of: Run) -> None:
    written = f"""- {THIRTY} [1]. A sick note is due on the third day of absence [1].
- {WRONG} [1].

```
A sick note is due on the third day of absence [1]
Employees have 99 days of annual leave in each calendar year [1]
```
"""

    async def played() -> tuple[Writer, list[Event]]:
        async def stream() -> AsyncIterator[Delta]:
            yield Delta(text=written, finish="stop")

        writer = Writer(run_of)
        return writer, [event async for together in writer.written(stream()) for event in together]

    writer, events = async_to_sync(played)()
    assert [event.data["slot"] for event in events if isinstance(event, Answer)] == [0, 0]
    assert len(writer.slots.slots) == 3
    assert join_sentences((item.gap, item.marked) for item in writer.slots.kept) == (
        f"- {THIRTY}.[1] A sick note is due on the third day of absence.[1]"
    )
