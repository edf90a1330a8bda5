"""What the styles of a page say of an element: rules with selectors of tags, classes, ids and attributes, and its own style.

Pseudo-classes and siblings are not understood: rules with them are left out, as if the page did not have them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SCREEN_PX = 1280.0  # the width that media queries are asked about

_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_COMPOUND = re.compile(r"(\*|[\w-]+)?((?:[#.][\w-]+|\[\s*[\w-]+\s*(?:=\s*[^\]]*)?\])*)")
_PART = re.compile(r"([#.])([\w-]+)|\[\s*([\w-]+)\s*(?:=\s*[\"']?([^\"'\]]*)[\"']?\s*)?\]")
_MEDIA_WIDTH = re.compile(r"\(\s*(min|max)-width\s*:\s*([\d.]+)(px|em|rem)\s*\)")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)")
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class _Compound:
    """What one element must be. attributes: None where any value will do."""

    tag: str
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    attributes: tuple[tuple[str, str | None], ...]

    def fits(self, element: Any) -> bool:
        return (
            self.tag in ("", "*", element.tag)
            and all(element.get("id") == name for name in self.ids)
            and (not self.classes or set(self.classes) <= set((element.get("class") or "").split()))
            and all(element.get(name) is not None and value in (None, element.get(name)) for name, value in self.attributes)
        )  # fmt: skip

    @property
    def key(self) -> str:
        """What the rules of an element are looked up by."""
        named = [f"#{name}" for name in self.ids] + [f".{name}" for name in self.classes]
        return named[0] if named else self.tag or "*"


@dataclass(frozen=True)
class _Rule:
    """steps: from the element outwards, each with whether it must be the direct parent of the one before."""

    steps: tuple[tuple[_Compound, bool], ...]
    declarations: Mapping[str, str]
    order: int

    @property
    def weight(self) -> tuple[int, int, int, int]:
        compounds = [compound for compound, _ in self.steps]
        return (
            sum(len(each.ids) for each in compounds),
            sum(len(each.classes) + len(each.attributes) for each in compounds),
            sum(each.tag not in ("", "*") for each in compounds),
            self.order,
        )

    def fits(self, element: Any) -> bool:
        return self.steps[0][0].fits(element) and _fits_above(self.steps[1:], element)


def _fits_above(steps: tuple[tuple[_Compound, bool], ...], element: Any) -> bool:
    """Whether elements around this one fit. Of several that do the nearest is taken: exact for descendants, near for `>`."""
    above = element.getparent()
    for compound, is_direct in steps:
        while above is not None and not compound.fits(above):
            if is_direct:
                return False
            above = above.getparent()
        if above is None:
            return False
        above = above.getparent()
    return True


class Stylesheet:
    """The rules of a page, looked up by what their last selector names."""

    def __init__(self, sources: list[str]) -> None:
        self._rules: dict[str, list[_Rule]] = defaultdict(list)
        order = 0
        for source in sources:
            for selectors, body in _rules(_COMMENT.sub("", source)):
                declarations = declared(body)
                for selector in selectors.split(","):
                    steps = _steps(selector)
                    if steps and declarations:
                        self._rules[steps[0][0].key].append(_Rule(steps, declarations, order))
                        order += 1

    def style_of(self, element: Any) -> dict[str, str]:
        """What rules and the element's own style say of it, the stronger over the weaker. Names in lower case."""
        classes = (element.get("class") or "").split()
        keys = ["*", element.tag, f"#{element.get('id')}", *(f".{name}" for name in dict.fromkeys(classes))]
        rules = [rule for key in keys for rule in self._rules.get(key, ()) if rule.fits(element)]
        rules.sort(key=lambda rule: rule.weight)
        layers = [*(rule.declarations for rule in rules), declared(element.get("style") or "")]
        style: dict[str, str] = {}
        for is_important in (False, True):
            for layer in layers:
                style.update(
                    {name: _IMPORTANT.sub("", v) for name, v in layer.items() if bool(_IMPORTANT.search(v)) == is_important}
                )  # fmt: skip
        return style


def declared(body: str) -> dict[str, str]:
    """Declarations as names and values; values in lower case."""
    pairs = (each.split(":", 1) for each in body.lower().split(";") if ":" in each)
    return {name.strip(): value.strip() for name, value in pairs}


def resolved(style: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The style with custom properties put in; what is not known stays as it is written."""

    def value_of(found: re.Match[str]) -> str:
        return variables.get(found[1], found[2] or found[0]).strip()

    return {name: _VARIABLE.sub(value_of, value) for name, value in style.items()}


def _rules(source: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of every rule that a screen would apply."""
    blocks: list[tuple[str, bool]] = []  # what is open: its prelude, and whether what stands in it applies
    start = 0
    for brace in re.finditer(r"[{}]", source):
        between, start = source[start : brace.start()], brace.end()
        if brace[0] == "{":
            prelude = between.rsplit(";", 1)[-1].strip()
            applies = (not blocks or blocks[-1][1]) and _on_a_screen(prelude)
            blocks.append((prelude, applies))
        elif blocks:
            prelude, applies = blocks.pop()
            if applies and not prelude.startswith("@"):
                yield prelude, between


def _on_a_screen(prelude: str) -> bool:
    """Whether a block counts: a rule does, and so does a media query that a wide screen meets."""
    query = prelude.lower()
    if not query.startswith("@media"):
        return not query.startswith(("@keyframes", "@-webkit-keyframes", "@font-face", "@page"))
    return any(_meets(each) for each in query.removeprefix("@media").split(","))


def _meets(query: str) -> bool:
    for bound, number, unit in _MEDIA_WIDTH.findall(query):
        px = float(number) * (1 if unit == "px" else 16)
        if (bound == "min" and px > SCREEN_PX) or (bound == "max" and px < SCREEN_PX):
            return False
    left = _MEDIA_WIDTH.sub("", query).replace("and", "").replace("only", "").split()
    return set(left) <= {"screen", "all"}


def _steps(selector: str) -> tuple[tuple[_Compound, bool], ...]:
    """A selector from its last part outwards; () for one that is not understood."""
    selector = re.sub(r"^:root\b", "html", selector.strip())
    words = re.sub(r"\s*>\s*", " > ", selector).split()
    steps: list[tuple[_Compound, bool]] = []
    is_direct = False
    for word in reversed(words):
        if word == ">":
            is_direct = True
            continue
        match = _COMPOUND.fullmatch(word)
        if not match:
            return ()
        found = _PART.findall(match[2])
        steps.append(
            (
                _Compound(
                    (match[1] or "").lower(),
                    tuple(name for kind, name, _, _ in found if kind == "#"),
                    tuple(name for kind, name, _, _ in found if kind == "."),
                    tuple((name.lower(), value or None) for kind, _, name, value in found if not kind),
                ),
                is_direct,
            )
        )
        is_direct = False
    return tuple(steps)
