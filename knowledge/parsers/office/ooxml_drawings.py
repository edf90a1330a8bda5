"""Content of drawings and formulas of Office files: SmartArt, equations, signs of symbol fonts, and contents in several versions."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lxml import etree

from knowledge.parsers.blocks import Block, build_list_item
from knowledge.parsers.office.ooxml_names import RELATION, A, M, parse_whole_number

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


def parse_part(part: Any) -> Any:
    """Return the XML of a part of python-docx or python-pptx, parsed by them or not; None where it is no XML."""
    element = getattr(part, "element", None)
    if element is not None:
        return element
    try:
        return etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None


def find_related_tree(part: Any, relation: str | None) -> Any:
    """Return the XML of the part that a relation of this one leads to; None where it leads to none."""
    found = part.rels.get(relation or "")
    return None if found is None or found.is_external else parse_part(found.target_part)


def find_external_address(part: Any, relation: str | None) -> str:
    """Return the address outside the file that a relation leads to; "" where it leads to none."""
    found = part.rels.get(relation or "")
    return str(found.target_ref) if found is not None and found.is_external else ""


def choose_version(versions: Any) -> Any:
    """Return the version of an alternate content that Office shows: the first whose names it knows, else the fallback for old programs."""
    for version in versions:
        if isinstance(version.tag, str) and version.tag.endswith("}Choice"):
            names = (version.get("Requires") or "").split()
            if names and all((version.nsmap.get(name) or "").startswith(_KNOWN_NAMES) for name in names):
                return version
    return next(
        (version for version in versions if isinstance(version.tag, str) and version.tag.endswith("}Fallback")), None
    )


def build_diagram_blocks(tree: Any, **fields: Any) -> list[Block]:
    """Return the words of a SmartArt drawing as items, each below the one that it belongs to. tree: its data."""
    words = {entry.get("modelId"): _read_words(entry) for entry in tree.iter(f"{DIAGRAM}pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for entry in tree.iter(f"{DIAGRAM}cxn"):
        if entry.get("type", "parOf") == "parOf":
            order = entry.get("srcOrd", "")
            below.setdefault(entry.get("srcId"), []).append((parse_whole_number(order), entry.get("destId")))
    texts: list[tuple[int, str]] = []
    seen: set[str | None] = set()

    def tell(name: str, depth: int) -> None:
        if name in seen:
            return
        seen.add(name)
        if words.get(name):
            texts.append((min(depth, _DEEPEST), words[name]))
        if depth < 2 * _DEEPEST:
            for _, inner in sorted(below.get(name, [])):
                tell(inner, depth + 1 if words.get(name) else depth)

    inner = {name for entry in below.values() for _, name in entry}
    for name in [*(word for word in words if word not in inner), *words]:
        tell(name, 0)
    return [found for depth, text in texts for found in build_list_item(text, depth=depth, **fields)]


def _read_words(point: Any) -> str:
    return "\n".join("".join(entry.itertext(f"{A}t")) for entry in point.iter(f"{A}p")).strip()


def format_formula(node: Any) -> str:
    """Return an Office formula on one line: a/b, x^2, x^(n+k), √(x+1)."""
    if node.tag == f"{M}t":
        return node.text or ""
    parts = [(child.tag.removeprefix(M), format_formula(child)) for child in node if isinstance(child.tag, str)]
    written = _STRUCTURES.get(node.tag.removeprefix(M))
    return written(node, defaultdict(str, parts)) if written else "".join(part for _, part in parts)


_STRUCTURES: dict[str, Callable[[Any, Mapping[str, str]], str]] = {
    "f": lambda _, part: f"{_bracket_part(part['num'])}/{_bracket_part(part['den'])}",
    "sSup": lambda _, part: part["e"] + _format_script(part["sup"], "^"),
    "sSub": lambda _, part: part["e"] + _format_script(part["sub"], "_"),
    "sSubSup": lambda _, part: part["e"] + _format_script(part["sub"], "_") + _format_script(part["sup"], "^"),
    "sPre": lambda _, part: _format_script(part["sub"], "_") + _format_script(part["sup"], "^") + part["e"],
    "nary": lambda node, part: (
        f"{_read_sign(node, 'chr', '∫')}{_format_script(part['sub'], '_')}{_format_script(part['sup'], '^')} {part['e']}"
    ),
    "rad": lambda _, part: f"{_format_script(part['deg'], '^')}√{_bracket_part(part['e'])}",
    "limLow": lambda _, part: part["e"] + _format_script(part["lim"], "_"),
    "limUpp": lambda _, part: part["e"] + _format_script(part["lim"], "^"),
    "d": lambda node, _: (
        _read_sign(node, "begChr", "(")
        + _join_elements(node, _read_sign(node, "sepChr", "|"))
        + _read_sign(node, "endChr", ")")
    ),
    "m": lambda node, _: "; ".join(_join_elements(row, ", ") for row in node.iterchildren(f"{M}mr")),
}


def _join_elements(node: Any, separator: str) -> str:
    return separator.join(format_formula(entry) for entry in node.iterchildren(f"{M}e"))


def _read_sign(node: Any, name: str, usual: str) -> str:
    sign = next(node.iterfind(f"{M}{node.tag.removeprefix(M)}Pr/{M}{name}"), None)
    return usual if sign is None else sign.get(f"{M}val", usual)


def _bracket_part(part: str) -> str:
    is_closed = _BRACKETS.get(part[:1]) == part[-1:] and part[1:-1].isalnum()
    return part if len(part) < 2 or part.isalnum() or is_closed else f"({part})"


def _format_script(part: str, mark: str) -> str:
    return f"{mark}({part})" if len(part) > 1 else mark + part if part else ""


def iterate_formulas(node: Any) -> Iterator[str]:
    """Return each formula of an element, on one line."""
    found = [node] if node.tag == f"{M}oMath" else node.iter(f"{M}oMath")
    yield from (" ".join(format_formula(entry).split()) for entry in found)


_SYMBOL = (
    "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
    + " " * 34
    + "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
)
_WINGDINGS = {0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓",
              0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"}  # fmt: skip


def convert_symbol(code: int, font: str) -> str:
    """Return the sign that a font of symbols draws for a code; "" for an unknown one."""
    place = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if font.lower() == "symbol":
        return _SYMBOL[place - 0x21].strip() if 0 <= place - 0x21 < len(_SYMBOL) else ""
    if font.lower().startswith("wingdings"):
        return _WINGDINGS.get(place, "")
    return "" if 0xE000 <= code <= 0xF8FF else chr(code) if 0x20 <= code < 0x110000 else ""


READ = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif", ".bmp")  # not EMF and WMF, which are drawings


def find_picture_name(blip: Any, targets: Mapping[str, str], folder: str) -> str | None:
    """Return the part that a picture comes from; None if it is outside the file or of an unread type.

    targets: what the ids of relations lead to. folder: where in the file the part that shows it lies.
    """
    target = targets.get(blip.get(f"{RELATION}embed") or "")
    if not target or "://" in target or not target.lower().endswith(READ):
        return None
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def iterate_picture_names(tree: Any, targets: Mapping[str, str], folder: str) -> Iterator[str]:
    """Return the names of all pictures, each once."""
    yield from dict.fromkeys(
        name for blip in tree.iter(f"{A}blip") if (name := find_picture_name(blip, targets, folder))
    )
