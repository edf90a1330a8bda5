"""The style of an element on a wide screen: the page's rules that match it, and its own style.

tinycss2 reads the sheets, cssselect2 the selectors. States that need a reader (hovered over, focused) are not met; an animation counts
with its last frame where it stays at that.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, eq, ge, gt, le, lt
from types import SimpleNamespace
from typing import Any

import tinycss2
from cssselect2 import ElementWrapper, SelectorError
from cssselect2 import compiler as compiling
from cssselect2 import parser as parsing

from knowledge.parsers.html.css_values import LENGTH, SCREEN_PX, is_colour, parse_length

_SIZES = {"width": SCREEN_PX[0], "inline-size": SCREEN_PX[0], "height": SCREEN_PX[1], "block-size": SCREEN_PX[1]}
_FEATURES = {"orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "hover": "hover",
             "any-hover": "hover", "pointer": "fine", "scripting": "enabled", "prefers-contrast": "no-preference"}  # fmt: skip
_OPERATORS = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}
_FEATURE = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_RANGE = re.compile(r"(?:(.+?)\s*(<=?|>=?|=)\s*)?([a-z-]+)\s*(?:(<=?|>=?|=)\s*(.+))?")


def is_at_rule_active(kind: str, condition: str) -> bool:
    """Tell whether the block of an at-rule applies. kind, condition: in lower case."""
    if kind == "supports":
        return not condition.startswith("not")
    if kind == "container":
        condition = condition[condition.find("(") :]
    return kind in ("layer", "scope") or (kind in ("media", "container") and matches_wide_screen(condition))


def matches_wide_screen(queries: str) -> bool:
    """Tell whether a wide screen matches one of these media queries; an empty list always matches."""
    return not queries.strip() or any(_matches_query(item.strip()) for item in queries.lower().split(","))


def _matches_query(query: str) -> bool:
    query, is_not = (query[4:], True) if query.startswith("not ") else (query, False)
    features = [_matches_feature(found.strip()) for found in _FEATURE.findall(query)]
    words = set(_FEATURE.sub(" ", query).split()) - {"and", "or", "only"}
    is_met = words <= {"screen", "all"} and (any(features) if " or " in query else all(features))
    return is_met is not is_not


def _matches_feature(feature: str) -> bool:
    name, colon, value = (part.strip() for part in feature.partition(":"))
    end, _, of = name.partition("-")
    if colon and end in ("min", "max") and of in _SIZES:
        feature = f"{of} {'>=' if end == 'min' else '<='} {value}"
    elif colon:
        return _FEATURES.get(name) == value or (name in _SIZES and _SIZES[name] == parse_length(value))
    match = _RANGE.fullmatch(feature)
    if not match or match[3] not in _SIZES:
        return _FEATURES.get(feature, "none") not in ("none", "no-preference", "light")
    size = _SIZES[match[3]]
    sides = [(parse_length(match[1]), match[2], size), (size, match[4], parse_length(match[5]))]
    return all(a is not None and b is not None and _OPERATORS[how](a, b) for a, how, b in sides if how)


Test = Callable[[Any], bool]
Declarations = Mapping[str, tuple[str, bool]]
"""By lower-case name: the value in lower case, and whether it is important."""

_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)")
_MAX_DEPTH = 10  # of rules in rules, and of brackets in brackets
_MAX_SELECTOR = 2_000  # characters; rules in rules repeat those around them
_LENGTHS = ("font-size", "opacity", "width", "height", "max-width", "max-height", "left", "top", "right", "bottom",
            "text-indent")  # fmt: skip
_COLOURS = ("color", "background-color", "-webkit-text-fill-color")
_GLOBAL = r"inherit|initial|unset|revert|revert-layer|.*var\(.*"
_DISPLAY = (r"(?:(?:none|contents|block|inline|flow(?:-root)?|flex|grid|ruby(?:-[a-z-]+)?|table(?:-[a-z-]+)?|list-item|run-in|"
            r"inline-[a-z]+|-webkit-[a-z-]+|-ms-[a-z-]+|math)(?: |$))+")  # fmt: skip
_VALID: dict[str, Callable[[str], Any]] = {  # what a browser takes, of what decides whether text is seen
    "display": re.compile(f"{_DISPLAY}|{_GLOBAL}").fullmatch,
    "visibility": re.compile(f"visible|hidden|collapse|{_GLOBAL}").fullmatch,
    "position": re.compile(f"static|relative|absolute|fixed|(?:-webkit-)?sticky|{_GLOBAL}").fullmatch,
    **dict.fromkeys(_LENGTHS, re.compile(rf"{LENGTH.pattern}|.*\(.*|[a-z-]+(?: [a-z-]+)*").fullmatch),
    **dict.fromkeys(_COLOURS, is_colour),
}


class _Element(ElementWrapper):  # type: ignore[misc]
    @property
    def previous_siblings(self) -> list[Any]:
        """Return them nearest first: the library's own recurses for each of them."""
        found, each = [], self.previous
        while each is not None:
            found.append(each)
            each = each.previous
        return found


@dataclass(frozen=True)
class _CssRule:
    fits: Test
    declarations: Declarations
    weight: tuple[bool, tuple[int, int, int], int]  # outside of layers, the selector's, the order


class Stylesheet:
    """The rules of a page, indexed by the id, class or tag of their last selector."""

    def __init__(self, tree: Any, sources: Iterable[str]) -> None:
        self._rules: dict[str, list[_CssRule]] = defaultdict(list)
        self._last_frames: dict[str, Declarations] = {}
        self._order = 0
        self._named = {sign + name for element in tree.iter("*") for sign, names in (
            ("", element.tag), ("#", element.get("id")), (".", element.get("class"))) if names for name in names.split()}  # fmt: skip
        for source in sources:
            self._read_rules(tinycss2.parse_stylesheet(source, skip_comments=True, skip_whitespace=True))
        page = _Element.from_html_root(tree).iter_subtree() if self._rules else ()
        self._wrapped = {item.etree_element: item for item in page}

    def style_of(self, element: Any) -> dict[str, str]:
        """Return the element's style from rules and its own, the stronger over the weaker. Names in lower case."""
        own = element.get("style")
        layers = [parse_declarations(tinycss2.parse_blocks_contents(own))] if own else []
        if wrapped := self._wrapped.get(element):
            keys = ["*", element.tag, f"#{element.get('id')}", *(f".{name}" for name in wrapped.classes)]
            rules = [rule for key in keys for rule in self._rules.get(key, ()) if rule.fits(wrapped)]
            rules.sort(key=lambda rule: rule.weight)
            layers = [*(rule.declarations for rule in rules), *layers]
        style: dict[str, str] = {}
        for important in (False, True):
            for layer in layers:
                style |= {name: value for name, (value, is_so) in layer.items() if is_so is important}
        return self._apply_last_frame(style) if "animation" in style or "animation-name" in style else style

    def _apply_last_frame(self, style: dict[str, str]) -> dict[str, str]:
        """Return the style after an animation that stays at its last frame."""
        words = f"{style.get('animation', '')} {style.get('animation-name', '')}".replace(",", " ").split()
        fill = f"{style.get('animation', '')} {style.get('animation-fill-mode', '')}"
        if "forwards" in fill or "both" in fill:
            for word in words:
                style |= {name: value for name, (value, _) in self._last_frames.get(word, {}).items()}
        return style

    def _read_rules(self, nodes: Sequence[Any], around: str = "", *, is_layered: bool = False, depth: int = 0) -> None:
        """Keep every rule that a screen would apply, nested ones included."""
        if around and (own := parse_declarations(nodes)):
            self._add_rule(around, own, is_layered=is_layered)
        for node in nodes:
            if node.type not in ("at-rule", "qualified-rule") or node.content is None or depth > _MAX_DEPTH:
                continue
            prelude = _serialise_tokens(node.prelude)
            inside = tinycss2.parse_blocks_contents
            if node.type == "qualified-rule":
                self._read_rules(
                    inside(node.content),
                    _expand_nested_selector(prelude, around),
                    is_layered=is_layered,
                    depth=depth + 1,
                )
            elif node.lower_at_keyword.endswith("keyframes"):
                frames = {name.strip(): parse_declarations(inside(item.content)) for item in tinycss2.parse_rule_list(node.content)
                          if item.type == "qualified-rule" for name in _serialise_tokens(item.prelude).split(",")}  # fmt: skip
                self._last_frames[prelude.lower()] = frames.get("to") or frames.get("100%") or {}
            elif is_at_rule_active(node.lower_at_keyword, prelude.lower()):
                rules = inside(node.content) if around else tinycss2.parse_rule_list(node.content)
                is_layer = is_layered or node.lower_at_keyword == "layer"
                self._read_rules(rules, around, is_layered=is_layer, depth=depth + 1)

    def _add_rule(self, prelude: str, declarations: Declarations, *, is_layered: bool) -> None:
        if len(prelude) > _MAX_SELECTOR:
            return
        try:
            found = [item for item in parsing.parse(prelude) if item.pseudo_element is None]
            found = [item for item in found if _find_required_names(item.parsed_tree) <= self._named]
            tests = [_build_test(item.parsed_tree) for item in found]
        except (SelectorError, NotImplementedError, RecursionError):  # browsers drop what they do not understand
            return
        for selector, fits in zip(found, tests, strict=True):
            self._order += 1
            rule = _CssRule(fits, declarations, (not is_layered, selector.specificity, self._order))
            last = getattr(selector.parsed_tree, "right", selector.parsed_tree)
            self._rules[next(iter(_list_selector_names(last)), "*")].append(rule)


_SIGNS = (
    (parsing.IDSelector, "#", "ident"),
    (parsing.ClassSelector, ".", "class_name"),
    (parsing.LocalNameSelector, "", "lower_local_name"),
)


def _list_selector_names(compound: Any) -> list[str]:
    """Return the ids, classes and tag that an element must have, the rarest first."""
    found = (
        (sign, getattr(entry, name))
        for kind, sign, name in _SIGNS
        for entry in compound.simple_selectors
        if isinstance(entry, kind)
    )
    return [sign + name for sign, name in found]


def _find_required_names(node: Any) -> set[str]:
    """Return what a page must contain for a selector to match anything."""
    if isinstance(node, parsing.CombinedSelector):
        return _find_required_names(node.left) | _find_required_names(node.right)
    return set(_list_selector_names(node))


def _build_test(node: Any) -> Test:
    """Return the test of a selector. An element's surroundings are tested once; the library's own test repeats that."""
    if isinstance(node, parsing.CombinedSelector):
        return _combine_tests(node.combinator, _build_test(node.left), _build_test(node.right))
    plain, tests = [], []
    for item in node.simple_selectors:
        if "of" in (
            getattr(part, "value", "") for part in getattr(item, "arguments", ())
        ):  # counts again for each element
            raise SelectorError("not read")
        if hasattr(item, "selector_list") and not isinstance(item, parsing.RelationalSelector):
            inner = [_build_test(one.parsed_tree) for one in item.selector_list]
            is_not = isinstance(item, parsing.NegationSelector)
            tests.append(partial(_matches_any, inner, is_not=is_not))
        else:
            plain.append(item)
    if plain:
        tree = SimpleNamespace(parsed_tree=parsing.CompoundSelector(plain), specificity=None, pseudo_element=None)
        tests.insert(0, compiling.CompiledSelector(tree).test)
    return tests[0] if len(tests) == 1 else lambda element: all(test(element) for test in tests)


def _matches_any(tests: list[Test], element: Any, *, is_not: bool) -> bool:
    return any(test(element) for test in tests) is not is_not


def _combine_tests(combinator: str, left: Test, right: Test) -> Test:
    """Return the test of two selectors joined by a combinator."""
    follow = attrgetter("parent" if combinator in " >" else "previous")
    known: dict[Any, bool] = {}  # by element: whether it fits, or one beyond it

    def test(element: Any) -> bool:
        if not right(element) or (other := follow(element)) is None:
            return False
        if combinator in ">+":
            return left(other)
        passed, found = [], False
        while other is not None and not found:
            if (before := known.get(other.etree_element)) is not None:
                found = before
                break
            passed.append(other.etree_element)
            found = left(other)
            other = follow(other)
        known.update(dict.fromkeys(passed, found))
        return found

    return test


def _expand_nested_selector(prelude: str, around: str) -> str:
    """Return the selector of a nested rule as it would be written outside."""
    if not around:
        return prelude
    above = f":is({around})"
    return prelude.replace("&", above) if "&" in prelude else f"{above} {prelude}"


def _serialise_tokens(tokens: Sequence[Any]) -> str:
    """Return a value or a selector as text without comments; "" for thousands of nested brackets."""
    try:
        return str(tinycss2.serialize([token for token in tokens if token.type != "comment"]).strip())
    except RecursionError:
        return ""


def parse_declarations(nodes: Sequence[Any]) -> Declarations:
    """Return the declarations of a block, without those that a browser would drop."""
    found: dict[str, tuple[str, bool]] = {}
    for node in nodes:
        if node.type != "declaration":
            continue
        value = _serialise_tokens(node.value).lower()
        is_weaker = found.get(node.lower_name, ("", False))[1] and not node.important
        if value and not is_weaker and _VALID.get(node.lower_name, bool)(value):
            found[node.lower_name] = (value, node.important)
    return found


def substitute_variables(style: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the style with custom properties substituted; unknown ones stay as written."""

    def value_of(found: re.Match[str]) -> str:
        return variables.get(found[1], found[2] or found[0]).strip()

    return {name: _VARIABLE.sub(value_of, value) if "var(" in value else value for name, value in style.items()}
