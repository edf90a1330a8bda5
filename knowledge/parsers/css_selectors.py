"""Which elements of a page a CSS selector is about, as the page stands when it is opened: nothing is hovered over or focused."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from knowledge.parsers.css_values import split

Test = Callable[[Any], bool]
Weight = tuple[int, int, int]

_NAME = r"(?:[-\w\u0080-\U0010ffff]|\\[0-9a-fA-F]{1,6}\s?|\\.)+"
_SIMPLE = re.compile(
    rf"(?P<tag>{_NAME}|\*)|#(?P<id>{_NAME})|\.(?P<class>{_NAME})|::(?P<part>[\w-]+)|:(?P<pseudo>[\w-]+)(?P<open>\()?"
    rf"|\[\s*(?P<name>{_NAME})\s*(?:(?P<how>[~|^$*]?=)\s*(?P<value>\"[^\"]*\"|'[^']*'|{_NAME})\s*(?P<flag>[iIsS])?\s*)?\]"
)
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_NTH = re.compile(r"([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|([+-]?\d+)")
_ANY_OF = frozenset({"is", "where", "matches", "any", "-webkit-any", "-moz-any"})
_OLD_PARTS = frozenset({"before", "after", "first-line", "first-letter"})
_NEVER = frozenset(
    (
        *("hover", "focus", "focus-within", "focus-visible", "active", "visited", "target", "target-within", "open"),
        *("popover-open", "modal", "fullscreen", "autofill", "indeterminate", "placeholder-shown", "user-invalid", "playing"),
    )
)  # fmt: skip
_MOST_DEPTH = 8  # of brackets in brackets


class NotUnderstood(ValueError):
    """A selector that browsers drop, or that says nothing of elements."""


def unescaped(text: str) -> str:
    """Letters in the place of `\\70` and `\\p`."""

    def letter(found: re.Match[str]) -> str:
        code = int(found[1], 16) if found[1] else 0
        return (chr(code) if 0 < code < 0x110000 else "\ufffd") if found[1] else found[2]

    return _ESCAPE.sub(letter, text) if "\\" in text else text


@dataclass
class _Compound:
    """What one element must be. key: what its rules are looked up by."""

    tests: list[Test] = field(default_factory=list)
    key: str = "*"
    weight: Weight = (0, 0, 0)

    def add(self, test: Test | None, weight: Weight, key: str = "") -> None:
        if test:
            self.tests.append(test)
        self.weight = _sum(self.weight, weight)
        if key and not (self.key.startswith(("#", ".")) and not key.startswith("#")):
            self.key = key

    def fits(self, element: Any) -> bool:
        return all(test(element) for test in self.tests)


class Selector:
    """One selector, without commas. Raises NotUnderstood."""

    def __init__(self, source: str, depth: int = 0) -> None:
        self._steps: list[
            tuple[_Compound, str]
        ] = []  # from the element outwards, each with how it stands to the one before
        self._known: dict[tuple[int, Any], bool] = {}
        source, place, combinator = source.strip(), 0, ""
        steps: list[tuple[_Compound, str]] = []
        while place < len(source):
            compound, place = _compound(source, place, depth)
            steps.append((compound, combinator))
            if gap := _COMBINATOR.match(source, place):
                combinator, place = gap[1] or " ", gap.end()
            elif place < len(source):
                raise NotUnderstood(source)
        if not steps:
            raise NotUnderstood(source)
        combinators = [combinator for _, combinator in steps][1:]
        self._steps = [
            (steps[-1][0], ""),
            *zip([c for c, _ in reversed(steps[:-1])], reversed(combinators), strict=True),
        ]
        self.key = self._steps[0][0].key
        self.weight: Weight = (0, 0, 0)
        for compound, _ in self._steps:
            self.weight = _sum(self.weight, compound.weight)

    def fits(self, element: Any) -> bool:
        return self._steps[0][0].fits(element) and self._around(1, element)

    def _around(self, step: int, element: Any) -> bool:
        """Whether what stands around the element is as the steps from this one on want it."""
        if step == len(self._steps):
            return True
        combinator = self._steps[step][1]
        following = _parent if combinator in (" ", ">") else _before
        if combinator in (">", "+"):
            other = following(element)
            return other is not None and self._fits_from(step, other)
        passed, found = [], False
        while (element := following(element)) is not None:
            if (known := self._known.get((-step, element))) is not None:
                found = known
                break
            passed.append(element)
            if self._fits_from(step, element):
                found = True
                break
        for each in passed:  # whether one of them or of those beyond fits: nobody asks twice
            self._known[-step, each] = found
        return found

    def _fits_from(self, step: int, element: Any) -> bool:
        return self._steps[step][0].fits(element) and self._around(step + 1, element)


def selectors(source: str, depth: int = 0) -> list[Selector]:
    """Those of a list. Raises NotUnderstood where one of them is not understood: browsers drop the list."""
    return [Selector(each, depth) for each in split(source)]


def _compound(source: str, place: int, depth: int) -> tuple[_Compound, int]:
    found, begin = _Compound(), place
    while match := _SIMPLE.match(source, place):
        if match["tag"] and place > begin:
            break
        place = match.end()
        if match["open"]:
            end = _closing(source, place)
            _pseudo(found, match["pseudo"].lower(), source[place:end].strip(), depth)
            place = end + 1
        elif match["pseudo"]:
            _pseudo(found, match["pseudo"].lower(), None, depth)
        else:
            _plain(found, match)
    if place == begin:
        raise NotUnderstood(source)
    return found, place


def _plain(found: _Compound, match: re.Match[str]) -> None:
    if match["part"]:
        raise NotUnderstood(match["part"])
    if match["tag"]:
        tag = unescaped(match["tag"]).lower()
        found.add(None if tag == "*" else lambda e: e.tag == tag, (0, 0, int(tag != "*")), tag)
    elif match["id"]:
        name = unescaped(match["id"])
        found.add(lambda e: e.get("id") == name, (1, 0, 0), f"#{name}")
    elif match["class"]:
        name = unescaped(match["class"])
        found.add(lambda e: name in (e.get("class") or "").split(), (0, 1, 0), f".{name}")
    else:
        value = match["value"]
        value = None if value is None else unescaped(value[1:-1] if value[0] in "\"'" else value)
        found.add(_attribute(unescaped(match["name"]).lower(), match["how"], value, match["flag"]), (0, 1, 0))


_COMPARED: dict[str, Callable[[str, str], bool]] = {
    "=": lambda said, wanted: said == wanted,
    "~=": lambda said, wanted: wanted in said.split(),
    "|=": lambda said, wanted: said == wanted or said.startswith(f"{wanted}-"),
    "^=": lambda said, wanted: bool(wanted) and said.startswith(wanted),
    "$=": lambda said, wanted: bool(wanted) and said.endswith(wanted),
    "*=": lambda said, wanted: bool(wanted) and wanted in said,
}


def _attribute(name: str, how: str | None, value: str | None, flag: str | None) -> Test:
    def case(text: str) -> str:
        return text.lower() if flag in ("i", "I") else text

    wanted = case(value or "")

    def test(element: Any) -> bool:
        said = element.get(name)
        if said is None or how is None:
            return said is not None
        return _COMPARED[how](case(said), wanted)

    return test


def _pseudo(found: _Compound, name: str, inside: str | None, depth: int) -> None:
    if depth > _MOST_DEPTH or name in _OLD_PARTS:
        raise NotUnderstood(name)
    if inside is None:
        found.add(_state(name), (0, 1, 0))
    elif name in _ANY_OF or name == "not":
        inner = _forgiving(inside, depth)
        weight = max((each.weight for each in inner), default=(0, 0, 0))
        is_not = name == "not"
        found.add(lambda e: any(each.fits(e) for each in inner) is not is_not, (0, 0, 0) if name == "where" else weight)
    elif name == "has":
        inner = _forgiving(re.sub(r"(^|,)\s*>", r"\1", inside), depth)
        found.add(lambda e: any(each.fits(below) for below in e.iterdescendants("*") for each in inner), (0, 1, 0))
    elif name == "lang":
        wanted = tuple(each.strip("\"' ").lower() for each in inside.split(","))
        found.add(lambda e: _language(e).startswith(wanted), (0, 1, 0))
    elif name.startswith("nth-"):
        found.add(_nth(name, inside, depth), (0, 1, 0))
    else:
        raise NotUnderstood(name)


def _forgiving(inside: str, depth: int) -> list[Selector]:
    """Those of a list that are understood."""
    found = []
    for each in split(inside):
        try:
            found.append(Selector(each, depth + 1))
        except NotUnderstood:
            continue
    return found


def _state(name: str) -> Test:
    places = {"first": "nth-child", "last": "nth-last-child"}
    where, _, kind = name.partition("-")
    if where in places and kind in ("child", "of-type"):
        return _nth(places[where].replace("child", kind), "1", 0)
    if where == "only" and kind in ("child", "of-type"):
        first, last = _state(f"first-{kind}"), _state(f"last-{kind}")
        return lambda e: first(e) and last(e)
    simple: dict[str, Test] = {
        "root": lambda e: e.getparent() is None,
        "scope": lambda e: e.getparent() is None,
        "empty": lambda e: len(e) == 0 and not e.text,
        "link": lambda e: e.tag in ("a", "area") and e.get("href") is not None,
        "any-link": lambda e: e.tag in ("a", "area") and e.get("href") is not None,
        "checked": lambda e: e.get("checked") is not None or e.get("selected") is not None,
        "disabled": lambda e: e.get("disabled") is not None,
        "enabled": lambda e: e.tag in ("input", "button", "select", "textarea") and e.get("disabled") is None,
    }
    if name in simple:
        return simple[name]
    if name in _NEVER:
        return lambda _element: False
    raise NotUnderstood(name)


def _nth(name: str, inside: str, depth: int) -> Test:
    formula, _, among = inside.partition(" of ")
    step, start = _formula(formula.strip().lower())
    inner = selectors(among, depth + 1) if among else []
    of_type, from_end = name.endswith("of-type"), name.startswith("nth-last")
    known: dict[Any, dict[Any, int]] = {}  # by parent

    def places(parent: Any) -> dict[Any, int]:
        counts: dict[str, int] = {}
        found = {}
        for each in reversed(list(parent.iterchildren("*"))) if from_end else parent.iterchildren("*"):
            if inner and not any(one.fits(each) for one in inner):
                continue
            kind = each.tag if of_type else ""
            found[each] = counts[kind] = counts.get(kind, 0) + 1
        return found

    def test(element: Any) -> bool:
        parent = element.getparent()
        if parent is None:
            return (1 - start) % step == 0 if step else start == 1
        if parent not in known:
            known[parent] = places(parent)
        place = known[parent].get(element)
        if place is None:
            return False
        return place == start if step == 0 else (place - start) % step == 0 and (place - start) / step >= 0

    return test


def _formula(said: str) -> tuple[int, int]:
    """2n+1 as (2, 1)."""
    said = {"odd": "2n+1", "even": "2n"}.get(said, said)
    match = _NTH.fullmatch(said)
    if not match:
        raise NotUnderstood(said)
    if match[4]:
        return 0, int(match[4])
    step = int(match[1] + "1" if match[1] in ("", "+", "-") else match[1])
    return step, int(f"{match[2]}{match[3]}") if match[3] else 0


def _closing(source: str, place: int) -> int:
    depth = 1
    for index in range(place, len(source)):
        depth += (source[index] == "(") - (source[index] == ")")
        if not depth:
            return index
    raise NotUnderstood(source)


def _parent(element: Any) -> Any:
    return element.getparent()


def _before(element: Any) -> Any:
    return next(element.itersiblings("*", preceding=True), None)


def _language(element: Any) -> str:
    said = next((each.get("lang") for each in (element, *element.iterancestors()) if each.get("lang")), "")
    return str(said).lower()


def _sum(a: Weight, b: Weight) -> Weight:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
