"""What the styles of a page say of an element when it is opened on a wide screen: the rules that fit it, and its own style.

States that need a reader (hovered over, focused) are not met; an animation counts with its last frame where it stays at that.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.parsers.css_media import applies
from knowledge.parsers.css_selectors import NotUnderstood, Selector, selectors, unescaped
from knowledge.parsers.css_values import LENGTH, is_colour

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_PAGE_COMMENT = re.compile(r"<!--|-->")
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|\\.|[(){}\[\];:]", re.DOTALL)
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)")
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.IGNORECASE)
_MOST_DEPTH = 10  # of rules in rules
_WORDS = re.compile(r"[a-z-]+(?: [a-z-]+)*")
_KEYWORDS = {
    "display": re.compile(r"(?:(?:none|contents|block|inline|flow(?:-root)?|flex|grid|ruby(?:-[a-z-]+)?|table(?:-[a-z-]+)?|list-item|"
                          r"run-in|inline-[a-z]+|-webkit-[a-z-]+|-ms-[a-z-]+|math)(?: |$))+|inherit|initial|unset|revert|revert-layer"),
    "visibility": re.compile(r"visible|hidden|collapse|inherit|initial|unset|revert|revert-layer"),
    "position": re.compile(r"static|relative|absolute|fixed|(?:-webkit-)?sticky|inherit|initial|unset|revert|revert-layer"),
}  # fmt: skip
_LENGTHS = frozenset(
    (
        "font-size",
        "opacity",
        "width",
        "height",
        "max-width",
        "max-height",
        "left",
        "top",
        "right",
        "bottom",
        "text-indent",
    )
)
_COLOURS = frozenset(("color", "background-color", "-webkit-text-fill-color"))


@dataclass(frozen=True)
class _Rule:
    selector: Selector
    declarations: Mapping[str, str]
    weight: tuple[bool, int, int, int, int]  # outside of layers, the selector's, the order


class Stylesheet:
    """The rules of a page, looked up by what their last selector names."""

    def __init__(self, sources: list[str]) -> None:
        self._rules: dict[str, list[_Rule]] = defaultdict(list)
        self._last_frames: dict[str, Mapping[str, str]] = {}
        order = 0
        for source in sources:
            for prelude, body, is_layered in self._read(_PAGE_COMMENT.sub(" ", _COMMENT.sub(" ", source))):
                declarations = declared(body)
                for selector in _understood(prelude) if declarations else ():
                    rule = _Rule(selector, declarations, (not is_layered, *selector.weight, order))
                    self._rules[selector.key].append(rule)
                    order += 1

    def style_of(self, element: Any) -> dict[str, str]:
        """What rules and the element's own style say of it, the stronger over the weaker. Names in lower case."""
        classes = (element.get("class") or "").split()
        keys = ["*", element.tag, f"#{element.get('id')}", *(f".{name}" for name in dict.fromkeys(classes))]
        rules = [rule for key in keys for rule in self._rules.get(key, ()) if rule.selector.fits(element)]
        rules.sort(key=lambda rule: rule.weight)
        own = element.get("style")
        layers = [*(rule.declarations for rule in rules), *([declared(_COMMENT.sub(" ", own))] if own else [])]
        style: dict[str, str] = {}
        for is_important in (False, True):
            for layer in layers:
                style.update(
                    {name: _IMPORTANT.sub("", v) for name, v in layer.items() if bool(_IMPORTANT.search(v)) == is_important}
                )  # fmt: skip
        return self._at_rest(style)

    def _at_rest(self, style: dict[str, str]) -> dict[str, str]:
        """As it looks when an animation that stays at its last frame is over."""
        words = f"{style.get('animation', '')} {style.get('animation-name', '')}".replace(",", " ").split()
        fill = f"{style.get('animation', '')} {style.get('animation-fill-mode', '')}"
        if words and ("forwards" in fill or "both" in fill):
            for word in words:
                style |= self._last_frames.get(word, {})
        return style

    def _read(
        self, source: str, around: str = "", *, is_layered: bool = False, depth: int = 0
    ) -> Iterator[tuple[str, str, bool]]:
        """Selectors and declarations of every rule that a screen would apply, rules in rules included."""
        own: list[str] = []
        for prelude, body in _statements(source):
            name = prelude.lower()
            if body is None:
                own.append(prelude)
            elif depth > _MOST_DEPTH:
                continue
            elif name.startswith(("@keyframes", "@-webkit-keyframes")):
                frames = {
                    each.strip(): declared(said or "") for to, said in _statements(body) for each in to.split(",")
                }
                self._last_frames[name.split()[-1]] = frames.get("to") or frames.get("100%") or {}
            elif name.startswith("@"):
                if applies(name):
                    layered = is_layered or name.startswith("@layer")
                    yield from self._read(body, around, is_layered=layered, depth=depth + 1)
            else:
                yield from self._read(body, _nested(prelude, around), is_layered=is_layered, depth=depth + 1)
        if own and around:
            yield around, ";".join(own), is_layered


def _understood(prelude: str) -> list[Selector]:
    try:
        return selectors(prelude)
    except NotUnderstood:
        return []


def _nested(prelude: str, around: str) -> str:
    """The selector of a rule in a rule, as it would stand outside."""
    if not around:
        return prelude
    above = f":is({around})"
    return prelude.replace("&", above) if "&" in prelude else f"{above} {prelude}"


def _statements(source: str) -> Iterator[tuple[str, str | None]]:
    """Declarations (without a body) and blocks, at the first level; what is open at the end is closed by it."""
    begin = depth = inside = 0  # inside: round and square brackets
    prelude, body_from = "", 0
    for token in _TOKEN.finditer(source):
        match token[0]:
            case "(" | "[":
                inside += 1
            case ")" | "]":
                inside = max(0, inside - 1)
            case "{":
                inside = 0
                if not depth:
                    prelude, body_from = source[begin : token.start()].strip(), token.end()
                depth += 1
            case "}" if depth:
                depth, inside = depth - 1, 0
                if not depth:
                    yield prelude, source[body_from : token.start()]
                    begin = token.end()
            case ";" if not depth and not inside:
                yield source[begin : token.start()].strip(), None
                begin = token.end()
    if depth:
        yield prelude, source[body_from:]
    elif source[begin:].strip():
        yield source[begin:].strip(), None


def declared(body: str) -> dict[str, str]:
    """Declarations as names and values, in lower case; those that a browser would drop are left out."""
    found: dict[str, str] = {}
    for statement, block in _statements(body):
        name, colon, value = statement.partition(":")
        name, value = unescaped(name).strip().lower(), unescaped(value).strip().lower()
        if block is None and colon and value and _is_valid(name, _IMPORTANT.sub("", value)):
            weaker = _IMPORTANT.search(found.get(name, "")) and not _IMPORTANT.search(value)
            found.update({} if weaker else {name: value})
    return found


def _is_valid(name: str, value: str) -> bool:
    """Whether a browser takes the value; asked of what decides whether text is seen."""
    if "var(" in value:
        return True
    if name in _KEYWORDS:
        return _KEYWORDS[name].fullmatch(value) is not None
    if name in _COLOURS:
        return is_colour(value)
    if name in _LENGTHS:
        return LENGTH.fullmatch(value) is not None or "(" in value or _WORDS.fullmatch(value) is not None
    return True


def resolved(style: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The style with custom properties put in; what is not known stays as it is written."""

    def value_of(found: re.Match[str]) -> str:
        return variables.get(found[1], found[2] or found[0]).strip()

    return {name: _VARIABLE.sub(value_of, value) for name, value in style.items()}
