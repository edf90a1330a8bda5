"""What Office files keep in drawings and formulas: SmartArt, equations, signs of symbol fonts, and contents in several versions."""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from knowledge.parsers.blocks import Block, item

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
NEW_CHART = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
VERSIONS = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_KNOWN_NAMES = (
    "http://schemas.microsoft.com/office/",
    "http://schemas.openxmlformats.org/",
    "urn:schemas-microsoft-com:",
)
_DEEPEST = 8
_BRACKETS = {"(": ")", "[": "]", "{": "}", "|": "|"}


def tree_of(part: Any) -> Any:
    """The XML of a part of python-docx or python-pptx, whether they read it themselves or not; None where it is none."""
    element = getattr(part, "element", None)
    if element is not None:
        return element
    try:
        return etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None


def related_tree(part: Any, relation: str | None) -> Any:
    """The XML of the part that a relation of this one leads to; None where it leads to none."""
    found = part.rels.get(relation or "")
    return None if found is None or found.is_external else tree_of(found.target_part)


def address_of(part: Any, relation: str | None) -> str:
    """The address outside the file that a relation leads to; "" where it leads to none."""
    found = part.rels.get(relation or "")
    return str(found.target_ref) if found is not None and found.is_external else ""


def chosen(versions: Any) -> Any:
    """Of contents in several versions the one that Office shows: the first whose names it knows, else the fallback for old programs."""
    for each in versions:
        if isinstance(each.tag, str) and each.tag.endswith("}Choice"):
            names = (each.get("Requires") or "").split()
            if names and all((each.nsmap.get(name) or "").startswith(_KNOWN_NAMES) for name in names):
                return each
    return next((each for each in versions if isinstance(each.tag, str) and each.tag.endswith("}Fallback")), None)


def diagram_blocks(tree: Any, **fields: Any) -> list[Block]:
    """The words of a SmartArt drawing as items, each below the one that it belongs to. tree: its data."""
    words = {each.get("modelId"): _words(each) for each in tree.iter(f"{DIAGRAM}pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for each in tree.iter(f"{DIAGRAM}cxn"):
        if each.get("type", "parOf") == "parOf":
            order = each.get("srcOrd", "")
            below.setdefault(each.get("srcId"), []).append((int(order) if order.isdecimal() else 0, each.get("destId")))
    said: list[tuple[int, str]] = []
    seen: set[str | None] = set()

    def tell(name: str, depth: int) -> None:
        if name in seen:
            return
        seen.add(name)
        if words.get(name):
            said.append((min(depth, _DEEPEST), words[name]))
        if depth < 2 * _DEEPEST:
            for _, inner in sorted(below.get(name, [])):
                tell(inner, depth + 1 if words.get(name) else depth)

    inner = {name for each in below.values() for _, name in each}
    for name in [*(each for each in words if each not in inner), *words]:
        tell(name, 0)
    return [found for depth, text in said for found in item(text, depth=depth, **fields)]


def _words(point: Any) -> str:
    return "\n".join("".join(each.itertext(f"{A}t")) for each in point.iter(f"{A}p")).strip()


def linear(node: Any) -> str:
    """An Office formula on one line: a/b, x^2, x^(n+k), √(x+1)."""
    parts = {child.tag.removeprefix(M): linear(child) for child in node if isinstance(child.tag, str)}
    inner, below, above = (parts.get(name, "") for name in ("e", "sub", "sup"))
    match node.tag.removeprefix(M):
        case "t":
            return node.text or ""
        case "f":
            return f"{_grouped(parts.get('num', ''))}/{_grouped(parts.get('den', ''))}"
        case "sSup" | "sSub" | "sSubSup" | "nary" | "sPre":
            sign = _sign(node, "chr", "∫") if node.tag == f"{M}nary" else inner
            placed = _placed(below, "_") + _placed(above, "^")
            return f"{sign}{placed} {inner}" if node.tag == f"{M}nary" else sign + placed
        case "rad":
            return f"{_placed(parts.get('deg', ''), '^')}√{_grouped(inner)}"
        case "limLow" | "limUpp":
            return inner + _placed(parts.get("lim", ""), "_" if node.tag == f"{M}limLow" else "^")
        case "d":
            between = _sign(node, "sepChr", "|").join(linear(each) for each in node.iterchildren(f"{M}e"))
            return _sign(node, "begChr", "(") + between + _sign(node, "endChr", ")")
        case "m":
            rows = (
                ", ".join(linear(each) for each in row.iterchildren(f"{M}e")) for row in node.iterchildren(f"{M}mr")
            )
            return "; ".join(rows)
        case _:
            return "".join(linear(child) for child in node if isinstance(child.tag, str))


def _sign(node: Any, name: str, usual: str) -> str:
    said = next(node.iterfind(f"{M}{node.tag.removeprefix(M)}Pr/{M}{name}"), None)
    return usual if said is None else said.get(f"{M}val", usual)


def _grouped(part: str) -> str:
    is_closed = _BRACKETS.get(part[:1]) == part[-1:] and part[1:-1].isalnum()
    return part if len(part) < 2 or part.isalnum() or is_closed else f"({part})"


def _placed(part: str, mark: str) -> str:
    return f"{mark}({part})" if len(part) > 1 else mark + part if part else ""


def formulas(node: Any) -> Iterator[str]:
    """Each formula of an element, on one line."""
    found = [node] if node.tag == f"{M}oMath" else node.iter(f"{M}oMath")
    yield from (" ".join(linear(each).split()) for each in found)


_SYMBOL = (
    "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
    + " " * 34
    + "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
)
_WINGDINGS = {0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓",
              0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"}  # fmt: skip


def symbol(code: int, font: str) -> str:
    """The sign that a font of symbols draws for a code; "" for one that is not known."""
    place = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if font.lower() == "symbol":
        return _SYMBOL[place - 0x21].strip() if 0 <= place - 0x21 < len(_SYMBOL) else ""
    if font.lower().startswith("wingdings"):
        return _WINGDINGS.get(place, "")
    return "" if 0xE000 <= code <= 0xF8FF else chr(code) if 0x20 <= code < 0x110000 else ""
