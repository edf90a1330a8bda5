"""Turn names of tables and columns into words: `sbCustJoinDate` → “customer join date”, `ins_type` → “insurance type”.

Databases lower-case and abbreviate names. Names are split at underscores and capitals, then by words that the schema or
databases in general use; other parts stay unchanged.
"""

import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from business.parsing.reader.units import singularise

_WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("identifiers.yaml").read_text())
_EXPANSIONS: dict[str, str] = _WORDS["abbreviations"]
_SPOKEN_UNITS = {"hrs": "hours", "mins": "minutes", "secs": "seconds", "lbs": "pounds", "pct": "percent"}
UNITS = {
    "cm": "cm", "mm": "mm", "km": "km", "miles": "mi", "kg": "kg", "lbs": "lb", "ms": "ms", "hrs": "h", "mins": "min", "secs": "s",
    "usd": "USD", "eur": "EUR", "pct": "%", "percent": "%",
}  # fmt: skip
_FLAGS = ("is", "has", "was", "are", "allow")
_OF_NAMES = ("first", "last", "middle", "full", "sur", "user")
_OF_WHAT = ("type", "kind", "category", "status", "date", "name", "number", "code")
_COUNTS = ("num", "count", "cnt", "number")
_OF_TIMES = ("date", "dt", "at", "on", "time", "ts")
_DONE = ("made", "received", "paid", "sent")
_JOINING = ("by", "of", "per", "to", "from")  # names do not end in these
_MAX_WHOLE = 5  # parts up to this length are not split
_PLURAL = re.compile(r"(?<=gno|aly|the|cri)ses$")  # diagnoses, analyses
_PREFIX = 3  # letters, the shortest prefix of a table's columns to drop


class Identifiers:
    """Converts the names of one schema. names: of all its tables and columns."""

    def __init__(self, tables: Iterable[str], columns: Iterable[str]) -> None:
        self._tables = tuple(tables)
        self._columns = tuple(columns)
        self.table = cache(self._expand_table_name)

    @cached_property
    def prefix(self) -> str:
        """Return the meaningless prefix of all tables: `sb`, `tbl`; "" for none."""
        return _find_common_prefix([name.lower() for name in self._tables], least=2)

    @cached_property
    def _known(self) -> frozenset[str]:
        own = [part for name in (*self._tables, *self._columns) for part in _split_identifier(name)]
        tables = [name.lower().removeprefix(self.prefix) for name in self._tables]
        whole = [part for part in own if len(part) <= _MAX_WHOLE and len(part) > 2]
        return frozenset(
            [*_WORDS["common"].split(), *_EXPANSIONS, *tables, *map(singularise, tables), *map(singularise, whole)]
        )

    @cached_property
    def _stems(self) -> set[tuple[str, ...]]:
        """Return the tables' names in words, by the stems of the words."""
        return {tuple(map(singularise, phrase.split())) for name in self._tables for phrase in self.table(name)}

    def _expand_table_name(self, name: str) -> tuple[str, ...]:
        """Return a table's name in words, the fullest first: `wallet_transactions_daily` → “wallet transactions”."""
        bare = name[len(self.prefix) :] if len(name) > len(self.prefix) else name
        words = self._split_name(bare, is_table=True)
        while len(words) > 1 and words[-1] in ("daily", "log", "table", "data", "history", "hist", "tbl"):
            words = words[:-1]
        while len(words) > 1 and words[0] in ("dim", "fact", "tbl", "t", "tb", "stg"):
            words = words[1:]
        other = _PLURAL.sub("sis", words[-1]) if _PLURAL.search(words[-1]) else re.sub("sis$", "ses", words[-1])
        return tuple(dict.fromkeys([*_build_synonyms(words), *_build_synonyms([*words[:-1], other])]))

    def column(self, name: str, table: str, prefix: str = "") -> tuple[str, ...]:
        """Return a column's name in words, the fullest first. prefix: of all the table's columns."""
        words = self._split_name(name.lower().removeprefix(prefix) or name)
        unit = words[-1] if len(words) > 1 and words[-1] in UNITS else ""
        words = words[:-1] if unit else words
        if len(words) > 1 and words[0] in _FLAGS:
            words = words[1:]
        found = list(_build_synonyms(words))
        owners = {tuple(singularise(word) for word in phrase.split()) for phrase in self.table(table)}
        owners |= {
            owner[-1:] if owner[-1] not in _DONE else owner[:1] for owner in owners
        }  # payments_made.payment_amount
        for owner in owners | {(singularise(table.lower()),)}:
            if len(words) > len(owner) and tuple(map(singularise, words[: len(owner)])) == owner:
                found += _build_synonyms(words[len(owner) :])
        if len(words) > 1 and words[-1] == "name" and words[-2] not in _OF_NAMES:
            found += _build_synonyms(words[:-1])
        if len(words) > 1 and words[-1] in _OF_TIMES and words[-2].endswith("ed"):
            found += _build_synonyms(words[:-1])  # reported_dt
        found += self._remove_table_kind(words)
        if len(words) == 2 and words[-1] in _OF_WHAT and words[-1] != "number":  # a house number counts no houses
            found += [f"{words[1]} of {words[0]}"]
        if unit:
            found += [f"{phrase} in {_SPOKEN_UNITS.get(unit, unit)}" for phrase in found]
        return tuple(dict.fromkeys(phrase for phrase in found if phrase != "id" or words == ["id"]))

    def _remove_table_kind(self, words: list[str]) -> list[str]:
        """Return names without their kind.

        `num_citations` → “number of citations”, “citations”, if no table has that name; `total_gpa` → “gpa”.
        """
        if len(words) < 2:
            return []
        if words[0] == "total":
            return [" ".join(words[1:])]
        noun = words[1:] if words[0] in _COUNTS else words[:-1] if words[-1] in _COUNTS else []
        if words[-1] == "number":
            return [] if words[0] in _COUNTS else [" ".join(noun)]
        if not noun or tuple(map(singularise, noun)) in self._stems:
            return []
        return [f"number of {' '.join(noun)}", " ".join(noun)]

    def prefix_of(self, columns: Iterable[str]) -> str:
        """Return the prefix of all columns of a table: `sbcust`; "" for none."""
        return _find_common_prefix([column.lower() for column in columns], least=_PREFIX)

    def _split_name(self, name: str, *, is_table: bool = False) -> list[str]:
        """Return the words of a name; of one that is all spaces, "unnamed"."""
        return [
            word for part in _split_identifier(name) for word in self._split_name_part(part, is_table=is_table)
        ] or ["unnamed"]

    def _split_name_part(self, part: str, *, is_table: bool) -> list[str]:
        """Split a part of a name into the fewest known words, if possible; a table's preferably into several."""
        is_known = part in self._known or singularise(part) in self._known
        if len(part) <= _MAX_WHOLE or (is_known and not is_table):
            return [part]
        ways: list[list[str] | None] = [[]]
        for stop in range(1, len(part) + 1):
            found = [
                [*way, part[begin:stop]]
                for begin, way in enumerate(ways)
                if way is not None
                and stop - begin < len(part)
                and (part[begin:stop] in self._known or singularise(part[begin:stop]) in self._known)
            ]
            ways.append(min(found, key=len, default=None))
        shortest = ways[-1] or [part]
        return [part] if is_table and singularise(shortest[-1]) in _JOINING else shortest


def _split_identifier(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+|\s+|-", " ", name)
    return [part.lower() for part in spaced.split()]


def _find_common_prefix(names: list[str], *, least: int) -> str:
    """Return the common prefix of several names, without its underscore; "" unless it leaves two letters of each."""
    if len(names) < 3:
        return ""
    first, last = min(names), max(names)
    size = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    prefix = first[:size]
    is_whole = all(len(name) >= size + 2 for name in names)
    return prefix if size >= least and is_whole else ""


def _build_synonyms(words: list[str]) -> tuple[str, ...]:
    """Return words as a phrase, expanded and unchanged."""
    plain = " ".join(words)
    return tuple(dict.fromkeys([" ".join(_EXPANSIONS.get(word, word) for word in words), plain]))
