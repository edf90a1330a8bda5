"""The words of a question, each with what it stands for: the longest phrase wins, and every word must stand for something."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.times.windows import Window, find_windows
from agent.business.ask.words.adjectives import ADJECTIVES
from agent.business.ask.words.function_words import (
    AFTER_NUMBER,
    COMPARISONS,
    EARLIER,
    FUNCTION_WORDS,
    LONGEST,
    NUMBER_WORDS,
    PERIODS,
    THEN,
    Kind,
)
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, Ref, ValueRef
from agent.business.ask.words.units import Unit, normalised, prepared, reworded, units_of


@dataclass(frozen=True)
class Item:
    """A phrase of a question. refs: what it may stand for; several where tables share a word."""

    kind: Kind
    text: str
    refs: tuple[Ref, ...] = ()
    number: float = 0.0
    sign: str = ""
    window: Window | None = None
    is_owned: bool = False  # a column named with its table: when the column is used up, the table stays


@dataclass
class Row:
    """Items that are still to be read. letters: their kinds, for regular expressions."""

    items: list[Item]
    place: int = 0

    @property
    def letters(self) -> str:
        return "".join(item.kind.value for item in self.items)

    def take(self, pattern: str) -> list[Item] | None:
        """Remove and return the first items that match."""
        found = re.search(pattern, self.letters)
        if found is None:
            return None
        taken = self.items[found.start() : found.end()]
        del self.items[found.start() : found.end()]
        self.place = found.start()
        return taken

    def put_back_owners(self, used: Iterable[Item]) -> None:
        """Put back the tables that were named together with columns that are used up."""
        owners = [
            Item(Kind.MODEL, item.text, tuple(ModelRef(ref.model) for ref in item.refs))
            for item in used
            if item.is_owned
        ]
        self.put_back(owners)

    def put_back(self, items: Iterable[Item]) -> None:
        """Put items back where the last ones were taken."""
        self.items[self.place : self.place] = items

    def drop(self, *kinds: Kind) -> bool:
        """Remove all items of these kinds; whether there were any."""
        before = len(self.items)
        self.items = [item for item in self.items if item.kind not in kinds]
        return len(self.items) < before


def read_items(question: str, lexicon: Lexicon, today: date) -> list[Item]:
    """Every item of a question, function words and unknown words included."""
    question = prepared(question)
    text = question.lower()
    items: list[Item] = []
    position = 0
    for found in find_windows(text, today):
        if _is_value(found.window.text, lexicon):
            continue
        items += _match(units_of(question_part(question, text, position, found.begin)), lexicon)
        kind = Kind.WEEKDAY if found.window.days else Kind.WINDOW
        items.append(Item(kind, found.window.text, window=found.window))
        position = found.stop
    items += _match(units_of(question_part(question, text, position, len(text))), lexicon)
    return items


def _is_value(said: str, lexicon: Lexicon) -> bool:
    """Whether a time is said as a column has it: “in April”, where months are kept by their names."""
    refs = lexicon.phrases.get(tuple(unit.text for unit in units_of(said)), ())
    return any(isinstance(ref, ValueRef) for ref in refs)


def require_known(items: list[Item]) -> None:
    """Raises NotUnderstood, naming the words that stand for nothing."""
    unknown = tuple(item.text for item in items if item.kind is Kind.UNKNOWN)
    if unknown:
        raise NotUnderstood("words that stand for nothing here", unknown=unknown)


def question_part(question: str, text: str, begin: int, stop: int) -> str:
    """A part of the question as it was written, so that quoted names keep their letters; ranges in the form that is read."""
    original = normalised(question)
    return reworded((original if len(original) == len(text) else text)[begin:stop])


def _match(units: Sequence[Unit], lexicon: Lexicon) -> list[Item]:
    items: list[Item] = []
    at = 0
    while at < len(units):
        item, length = _longest(units, at, lexicon)
        items.append(item)
        at += length
    return items


def _longest(units: Sequence[Unit], at: int, lexicon: Lexicon) -> tuple[Item, int]:
    """The item of the longest phrase that begins here, and how many units it takes."""
    if units[at].kind == "quoted":
        return Item(Kind.QUOTED, units[at].raw), 1
    if _is_letter(units, at):
        return Item(Kind.UNKNOWN, units[at].raw), 1
    for length in range(min(LONGEST, len(units) - at), 0, -1):
        item = _phrase(units[at : at + length], lexicon)
        if item is not None and _names_what_follows(units, at, length, item, lexicon):
            return Item(Kind.STOP, units[at].raw), 1
        if item is not None:
            return item, length
    return _single(units[at]), 1


def _is_letter(units: Sequence[Unit], at: int) -> bool:
    """“An A”, “grade A”: a letter that is written large within a sentence of small ones is no article."""
    return units[at].raw == "A" and at > 0 and all(unit.raw[:1].islower() for unit in units[at - 1 : at])


def _names_what_follows(units: Sequence[Unit], at: int, length: int, item: Item, lexicon: Lexicon) -> bool:
    """“The first names”: a phrase of the layer begins within “the first”, and goes on."""
    if units[at].text != "the" or length < 2 or item.refs or at + 1 == len(units):
        return False
    inner, size = _longest(units, at + 1, lexicon)
    return bool(inner.refs) and 1 + size > length


def _phrase(units: Sequence[Unit], lexicon: Lexicon) -> Item | None:
    """What a phrase stands for: the layer's words come before those that say how a question is put."""
    key = tuple(unit.text for unit in units)
    text = _text(units)
    if key in lexicon.phrases:
        return replace(_of_refs(text, lexicon.phrases[key], lexicon), is_owned=key in lexicon.owned)
    if key in ADJECTIVES:
        return Item(Kind.ADJECTIVE, text)
    for kind, signs in ((Kind.COMPARE, COMPARISONS), (Kind.AFTER, AFTER_NUMBER), (Kind.THEN, THEN)):
        if key in signs:
            return Item(kind, text, sign=signs[key])
    sign = PERIODS.get(key, "") or EARLIER.get(key, "")
    if key in FUNCTION_WORDS:
        return Item(FUNCTION_WORDS[key], text, sign=sign)
    targets = dict.fromkeys(ModelRef(role.target) for role in lexicon.roles.get(key, ()))
    return Item(Kind.ROLE, text, tuple(targets)) if targets else None


def _single(unit: Unit) -> Item:
    if unit.kind == "number":
        return Item(Kind.NUMBER, unit.raw, number=unit.value)
    if unit.text in NUMBER_WORDS:
        return Item(Kind.NUMBER, unit.raw, number=float(NUMBER_WORDS[unit.text]))
    return Item(Kind.UNKNOWN, unit.raw)


def _of_refs(text: str, refs: tuple[Ref, ...], lexicon: Lexicon) -> Item:
    """The kind of a phrase of the layer; a word for tables and columns at once is the table, for values at once the column.

    A table that is called like a sum of its own keeps how many there are in a column: check-ins are that sum.
    """
    added = {ref.model for ref in refs if isinstance(ref, MeasureRef) and lexicon.measure(ref).agg == "sum"}
    refs = tuple(ref for ref in refs if not isinstance(ref, ModelRef) or ref.model not in added)
    for kind, wanted in ((Kind.MODEL, ModelRef), (Kind.MEASURE, MeasureRef), (Kind.DIMENSION, DimensionRef)):
        chosen = tuple(ref for ref in refs if isinstance(ref, wanted))
        if chosen:
            item = Item(kind, text, chosen)
            return replace(item, kind=_dimension_kind(item, lexicon)) if kind is Kind.DIMENSION else item
    return Item(Kind.VALUE, text, tuple(ref for ref in refs if isinstance(ref, ValueRef)))


def _dimension_kind(item: Item, lexicon: Lexicon) -> Kind:
    kinds = {lexicon.dimension(ref).type for ref in item.refs if isinstance(ref, DimensionRef)}
    if kinds == {"time"}:
        return Kind.TIME
    return Kind.QUANTITY if kinds == {"number"} else Kind.DIMENSION


def _text(units: Sequence[Unit]) -> str:
    return ("" if all(unit.kind == "han" for unit in units) else " ").join(unit.raw for unit in units)
