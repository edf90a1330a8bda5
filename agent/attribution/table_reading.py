"""A sentence as it speaks of a table: its clauses, each with the cells, conditions and times that it names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import product

from agent.attribution.quantities import Quantity, quantities
from agent.attribution.tables import Span, Table, number_of
from agent.attribution.vocabulary import Vocabulary, chinese_words, renderings
from agent.attribution.words import says
from agent.text.words import root
from business.parsing.reader.times import COMPARED, mark_times, place_of
from business.parsing.reader.units import normalised
from knowledge.text.terms import terms

_PLACE = 0xF0000  # the first name, as one private character; those of times lie elsewhere
_LONGEST = 6  # characters of a Chinese word that is looked for
_PRIVATE = re.compile(r"[\ue000-\uf8ff\U000f0000-\U000ffffd]")
_ENDS = re.compile(r"[;:!?。](?!\d)|,(?!\d{3})|\.(?=\s|$)|(?<=\d)\.$")
_JOINS = re.compile(r"\band\b|\bbut\b|而|并|\bwhile\b")
_MAY = re.compile(r"\bmay\b")  # the verb, which is no month
_PREDICATES = ("most", "least", "up", "down", "same")


@dataclass(frozen=True)
class Name:
    """What a text names: a value of a column, of a condition, or of the scope. column: -1 for what is no cell."""

    value: str
    column: int = -1


@dataclass(frozen=True)
class Clause:
    """text: with every name and time as one private character. names, spans: those in it, in order."""

    text: str
    names: tuple[Name, ...]
    spans: tuple[Span, ...] = ()

    @cached_property
    def quantities(self) -> list[Quantity]:
        return quantities(self.text)

    def says(self, *classes: str) -> bool:
        return says(self.text, *classes)

    @property
    def cells(self) -> list[Name]:
        return [name for name in self.names if name.column >= 0]


@dataclass(frozen=True)
class Reading:
    """clauses: in order. spans: the times that the sentence names. rest: its text without names and times."""

    clauses: tuple[Clause, ...]
    names: tuple[Name, ...]
    spans: tuple[Span, ...]
    rest: str


def read_claim(sentence: str, table: Table, today: date) -> Reading:
    """The sentence as far as it speaks of the table."""
    masked, names = _named(normalised(_MAY.sub("can", sentence)), table)
    masked, moments = mark_times(masked, today, None)
    clauses = tuple(
        Clause(
            part,
            tuple(names[ord(sign) - _PLACE] for sign in part if ord(sign) >= _PLACE),
            tuple(moments[place_of(sign)].span for sign in part if "\ue000" <= sign < chr(COMPARED)),
        )
        for part in _parts(_with_columns(masked, table))
    )
    return Reading(clauses, tuple(names), tuple(moment.span for moment in moments), _PRIVATE.sub(" ", masked))


def _named(text: str, table: Table) -> tuple[str, list[Name]]:
    """The text with each value that it names as one character, the longest first, and these values in that order."""
    names: list[Name] = []
    for name in sorted(_values(table), key=lambda each: -len(each.value)):
        for shape in _shapes(name.value, text):
            while (found := shape.search(text)) is not None:
                text = f"{text[: found.start()]}{chr(_PLACE + len(names))}{text[found.end() :]}"
                names.append(name)
    return text, names


def _values(table: Table) -> set[Name]:
    cells = {
        Name(cell, place)
        for row in table.rows
        for place, cell in enumerate(row)
        if cell and number_of(cell) is None and not table.is_single
    }
    said = {Name(each.value) for each in table.conditions if each.value and number_of(each.value) is None}
    return cells | {name for name in said if name.value not in {cell.value for cell in cells}}


def _shapes(value: str, text: str) -> Iterator[re.Pattern[str]]:
    """How a value may stand in a text: as it is, without an ending that only tells an aspect, or in the other language."""
    plain = normalised(value)
    bare = plain.removesuffix("中").removesuffix("的")
    for said in dict.fromkeys((plain, bare)):
        if len(said) > 1:
            yield re.compile(rf"(?<![a-z0-9]){re.escape(said)}(?:s|es)?(?![a-z0-9])")
    if re.search(r"[\u3400-\u9fff]", plain):
        yield from _in_english(plain, text)
    else:
        yield from _in_chinese(plain, text)


def _in_english(value: str, text: str) -> Iterator[re.Pattern[str]]:
    """Neighbouring words of the text of which each means a word of the value."""
    meanings = [set().union(*renderings(word)) for word in chinese_words(value)]
    words = list(re.finditer(r"[a-z]+", text))
    if not meanings or not all(meanings):
        return
    for first in range(len(words) - len(meanings) + 1):
        here = words[first : first + len(meanings)]
        if all({root(t) for t in terms(word[0])} & said for word, said in zip(here, meanings, strict=True)):
            yield re.compile(re.escape(text[here[0].start() : here[-1].end()]))


def _in_chinese(value: str, text: str) -> Iterator[re.Pattern[str]]:
    """The Chinese words of the text that mean the value, names of places before all."""
    roots = frozenset(root(term) for term in terms(value))
    for run in re.findall(r"[\u3400-\u9fff]+", text):
        for size, start in product(range(_LONGEST, 1, -1), range(len(run))):
            if len(word := run[start : start + size]) == size and roots in renderings(word):
                yield re.compile(word)


def _parts(text: str) -> Iterator[str]:
    """Clauses: cut at punctuation, and at an "and" that has something said on both of its sides."""
    for part in filter(str.strip, _ENDS.split(text)):
        joints = [each for each in _JOINS.finditer(part) if _says_something(part[: each.start()])]
        joint = next((each for each in joints if _says_something(part[each.end() :])), None)
        yield from (part,) if joint is None else (part[: joint.start()], part[joint.end() :])


def _with_columns(text: str, table: Table) -> str:
    """The text without the colon behind the name of a column: what stands there is of that column."""
    for name in table.columns:
        if plain := normalised(name.replace("_", " ")).strip():
            text = re.sub(rf"((?:^|[;,])\s*{re.escape(plain)})\s*:", r"\1 ", text)
    return text


def _says_something(text: str) -> bool:
    return bool(quantities(text)) or says(text, *_PREDICATES)


def columns_named(clause: Clause, table: Table) -> list[int]:
    """The columns that a clause speaks of, by their names in either language; the first column names the rows and is not asked."""
    found = []
    for place, name in enumerate(table.columns):
        plain = normalised(name.replace("_", " "))
        is_share = says(plain, "share") and clause.says("share")
        known = Vocabulary(_PRIVATE.sub(" ", clause.text))
        if is_share or known.says(plain):
            found.append(place)
    return found


def rows_of(table: Table, names: Sequence[Name]) -> list[int]:
    """The rows that have, in each column that is named, one of the values named of it; all where none is."""
    by_column: dict[int, set[str]] = {}
    for name in names:
        by_column.setdefault(name.column, set()).add(name.value)
    return [
        place
        for place, row in enumerate(table.rows)
        if all(row[column] in values for column, values in by_column.items())
    ]


def without_quantities(text: str) -> str:
    """The text without its numbers and their units."""
    for found in reversed(quantities(text)):
        text = f"{text[: found.start]} {text[found.end :]}"
    return text
