"""The numbers that Word shows before paragraphs: they are not in the text, only in list definitions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowledge.parsers.list_numbers import format_list_number
from knowledge.parsers.office.ooxml_names import VAL, W, is_on, parse_whole_number, value_of

_PLACE = re.compile(r"%([1-9])")
DEEPEST = 8
_MAX_TEXT = 100  # characters in front of a paragraph


@dataclass(frozen=True)
class Numbered:
    """The label of a paragraph. number: "" for a bullet. depth: from 0."""

    number: str
    depth: int


class _Level:
    """One level of a list: how its numbers look, and where they begin."""

    def __init__(self, tree: Any) -> None:
        custom = next((item.get(f"{W}format") for item in tree.iter(f"{W}numFmt") if item.get(VAL) == "custom"), None)
        self.form = custom or value_of(tree, "numFmt") or "decimal"
        self.text = (value_of(tree, "lvlText") or "")[:_MAX_TEXT]
        self.start = parse_whole_number(value_of(tree, "start"))  # none is 0, as the standard has it
        self.style = value_of(tree, "pStyle")
        self.is_legal = is_on(tree.find(f"{W}isLgl"))
        restart = value_of(tree, "lvlRestart")
        self.restart = parse_whole_number(restart) if restart is not None else None

    @property
    def is_bullet(self) -> bool:
        return self.form == "bullet" or (self.form == "none" and not self.text)

    def restarts_after(self, level: int) -> bool:
        """Tell whether a paragraph of a higher level restarts this one's numbers."""
        return self.restart is None or level < self.restart


class Numbering:
    """Counts the paragraphs of each list. Paragraphs are asked about in their order."""

    def __init__(self, tree: Any | None, linked_styles: dict[str, str]) -> None:
        """Read the definitions of lists. linked_styles: list by the id of the list style that names it."""
        self._levels: dict[str, dict[int, _Level]] = {}  # by abstract list
        self._lists: dict[str, str] = {}  # list → abstract list
        self._own: dict[str, dict[int, _Level]] = {}  # what a list has of its own
        self._starts: dict[str, dict[int, int]] = {}  # where a list begins anew
        self._counts: dict[str, dict[int, int]] = {}  # by abstract list, where lists go on
        if tree is None:
            return
        named = {}
        for child in tree.iterchildren(f"{W}abstractNum"):
            name = child.get(f"{W}abstractNumId", "")
            self._levels[name] = dict(_read_levels(child))
            named[name] = value_of(child, "numStyleLink")
        for child in tree.iterchildren(f"{W}num"):
            self._add_list(child)
        for name, style in named.items():
            if style and (other := self._lists.get(linked_styles.get(style, ""))):
                self._levels[name] = self._levels[other]

    def _add_list(self, tree: Any) -> None:
        name = tree.get(f"{W}numId", "")
        self._lists[name] = value_of(tree, "abstractNumId") or ""
        self._own[name] = {}
        self._starts[name] = {}
        for child in tree.iterchildren(f"{W}lvlOverride"):
            level = parse_whole_number(child.get(f"{W}ilvl"))
            self._own[name].update(_read_levels(child))
            start = value_of(child, "startOverride")
            if start is not None:
                self._starts[name][level] = parse_whole_number(start)

    def level_of_style(self, list_id: str, style: str) -> int | None:
        """Return the level that a style is tied to in a list."""
        levels = self._levels.get(self._lists.get(list_id, ""), {})
        return next((level for level, item in levels.items() if item.style == style), None)

    def next(self, list_id: str, level: int) -> Numbered | None:
        """Count a paragraph; None where the list is not defined."""
        abstract = self._lists.get(list_id)
        levels = self._levels.get(abstract or "", {}) | self._own.get(list_id, {})
        if abstract is None or level not in levels:
            return None
        counts = self._counts.setdefault(abstract, {})
        for higher in range(level):
            if higher in levels:
                counts.setdefault(higher, levels[higher].start)
        start = self._starts[list_id].pop(level, None)
        counts[level] = start if start is not None else counts.get(level, levels[level].start - 1) + 1
        for deeper in [count for count in counts if count > level]:
            if deeper in levels and levels[deeper].restarts_after(level):
                del counts[deeper]
        return Numbered(_format_number(levels, level, counts), min(level, DEEPEST))


def _format_number(levels: dict[int, _Level], level: int, counts: dict[int, int]) -> str:
    own = levels[level]
    if own.is_bullet:
        return ""

    def number(found: re.Match[str]) -> str:
        place = int(found[1]) - 1
        form = levels[place].form if place in levels else "decimal"
        if form in ("bullet", "none"):
            return ""
        return format_list_number(counts.get(place, 1), "decimal" if own.is_legal else form)

    return _PLACE.sub(number, own.text).strip()


def _read_levels(tree: Any) -> Iterator[tuple[int, _Level]]:
    for child in tree.iterchildren(f"{W}lvl"):
        if 0 <= (level := parse_whole_number(child.get(f"{W}ilvl"))) <= DEEPEST:
            yield level, _Level(child)
