"""The slots of an answer: sentences, rows, items and blocks of code, in writing order.

Each is shown once all of it is settled.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.attribution.sentences import CitedStatement
from agent.attribution.verdict import Verdict
from agent.events import Answer, Event, Slot, SlotState
from agent.run_state.cited_answer import CitedSentence, join_sentences, parse_code_indent
from agent.run_state.measures import SLOTS


@dataclass
class SlotSentence:
    """A sentence of a slot. numbers: of its evidence in the run.

    is_settled, stands, is_checked: the outcome of its check.
    """

    statement: CitedStatement
    before: str = ""
    numbers: tuple[int, ...] = ()
    verdict: Verdict = Verdict.UNSETTLED
    why: str = ""
    is_settled: bool = False
    stands: bool = False
    is_checked: bool = False

    @property
    def is_open(self) -> bool:
        return self.verdict in (Verdict.LIKELY, Verdict.UNSETTLED)

    @property
    def is_code(self) -> bool:
        return parse_code_indent(self.statement.gap) is not None

    @property
    def is_blank(self) -> bool:
        """Return whether it has no words, like a bracket on a line of its own."""
        return not re.search(r"\w", self.statement.text)

    def settle(self, *, stands: bool, is_checked: bool = True) -> None:
        self.is_settled, self.stands, self.is_checked = True, stands, is_checked


@dataclass
class WrittenSlot:
    """One slot. is_complete: fully written. kept: the sentences shown, once it is settled.

    is_told: announced as being checked.
    """

    number: int
    parts: list[SlotSentence] = field(default_factory=list)
    is_complete: bool = False
    is_told: bool = False
    kept: list[CitedSentence] | None = None

    @property
    def is_settled(self) -> bool:
        return self.is_complete and all(part.is_settled for part in self.parts)

    @property
    def verdict(self) -> str:
        """Return what became of a settled slot, in one word."""
        if not self.kept:
            return "left_out"
        return "checked" if all(sentence.is_checked for sentence in self.kept) else "unchecked"

    @property
    def standing(self) -> list[SlotSentence]:
        """Return the sentences that passed; all lines of code or none, since half a command is a different command."""
        stands = [part for part in self.parts if part.stands]
        is_code = bool(self.parts) and self.parts[0].is_code
        return stands if len(stands) == len(self.parts) or not is_code else []


@dataclass
class Slots:
    """All slots of an answer. next: the first one not yet sent in order. outside: numbers of web pages."""

    outside: Collection[int] = ()
    slots: list[WrittenSlot] = field(default_factory=list)
    next: int = 0

    @property
    def last(self) -> WrittenSlot | None:
        return self.slots[-1] if self.slots else None

    @property
    def parts(self) -> list[SlotSentence]:
        return [part for slot in self.slots for part in slot.parts]

    @property
    def kept(self) -> list[CitedSentence]:
        """Return the sentences that passed, of all settled slots."""
        return [sentence for slot in self.slots for sentence in slot.kept or ()]

    def add(self, part: SlotSentence) -> WrittenSlot:
        """Add a sentence to the slot being written, or to a new one."""
        if self.last is None or self.last.is_complete:
            self.slots.append(WrittenSlot(len(self.slots)))
        slot = self.slots[-1]
        slot.parts.append(part)
        slot.is_complete = part.statement.closes
        return slot

    def events_of(self, slot: WrittenSlot, data: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events of a newly settled slot: in order, with all slots that waited for it, or early."""
        SLOTS.add(slot.verdict)
        if slot.number == self.next:
            yield from self._yield_in_order(data)
        elif slot.kept:
            gap, text = slot.kept[0].gap, join_sentences((sentence.gap, sentence.marked) for sentence in slot.kept)
            lines = gap[: len(gap) - len(gap.lstrip("\n"))] or " "
            facts = {**data, **self._build_slot_facts(slot, slot.kept), "state": SlotState.SETTLED.value}
            yield Slot(content=f"{lines}{text}", data=facts)
        else:
            yield _make_left_out_event(slot)

    def taken_back(self, slot: WrittenSlot) -> Iterator[Event]:
        """Yield the events that withdraw a slot from the answer."""
        was_seen = slot.is_told or bool(slot.kept)
        for part in slot.parts:
            part.settle(stands=False)
        slot.kept, slot.is_complete, self.next = [], True, len(self.slots)
        if was_seen:
            yield _make_left_out_event(slot)

    def _yield_in_order(self, data: Mapping[str, Any]) -> Iterator[Event]:
        while self.next < len(self.slots) and (kept := self.slots[self.next].kept) is not None:
            slot, is_first = self.slots[self.next], not any(item.kept for item in self.slots[: self.next])
            for sentence in kept:
                gap = sentence.gap.lstrip("\n") if is_first else sentence.gap or " "
                is_first = False
                yield Answer(
                    content=f"{gap}{sentence.marked}", data={**data, **self._build_slot_facts(slot, [sentence])}
                )
            if not kept and slot.is_told:
                yield _make_left_out_event(slot)
            self.next += 1

    def _build_slot_facts(self, slot: WrittenSlot, sentences: list[CitedSentence]) -> dict[str, Any]:
        facts: dict[str, Any] = {"slot": slot.number}
        if not all(item.is_checked for item in sentences):
            facts["is_checked"] = False
        if any(number in self.outside for item in sentences for number in item.citations):
            facts["is_outside"] = True
        return facts


def make_checking_event(slot: WrittenSlot, sources: list[str]) -> Slot:
    """Return the event of a slot that a model is checking. sources: their titles."""
    slot.is_told = True
    return Slot(data={"slot": slot.number, "state": SlotState.CHECKING.value, "sources": sources})


def _make_left_out_event(slot: WrittenSlot) -> Slot:
    return Slot(data={"slot": slot.number, "state": SlotState.LEFT_OUT.value})
