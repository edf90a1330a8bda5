"""A DOCX file as python-docx can read it: it sees runs that stand directly in a paragraph, and no others.

Tracked insertions, content controls, fields, smart tags, readings beside characters, text boxes and formulas hold text elsewhere.
"""

import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

from lxml import etree

from knowledge.parsers.docx_hidden import Styles, is_seen, may_hide, take_unseen
from knowledge.parsers.hidden import Hidden
from knowledge.parsers.ooxml_pictures import blips, name_of, targets_in
from knowledge.parsers.raised import lowered, raised

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_KNOWN_NAMES = (
    "http://schemas.microsoft.com/office/",
    "http://schemas.openxmlformats.org/",
    "urn:schemas-microsoft-com:",
)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_MAIN, _STYLES, _RELATIONS = "word/document.xml", "word/styles.xml", "word/_rels/document.xml.rels"
_WRAPPERS = (
    "ins",
    "moveTo",
    "smartTag",
    "customXml",
    "fldSimple",
    "dir",
    "bdo",
)  # their content counts as if they were not there
_SEEN_TO = re.compile(rf":(?:oMath|ruby|sdt|txbxContent|AlternateContent|{'|'.join(_WRAPPERS)})[\s/>]".encode())


def readable(path: Path) -> tuple[BytesIO, Hidden]:
    """The file, with text that would be passed over in runs of its own, with marks for pictures, and without what nobody sees.

    The file itself where there is neither.
    """
    with ZipFile(path) as archive:
        names = archive.namelist()
        main = archive.read(_MAIN) if _MAIN in names else b""
        styles = archive.read(_STYLES) if _STYLES in names else b""
        targets = targets_in(archive.read(_RELATIONS) if _RELATIONS in names else b"") if b":blip" in main else {}
        is_placed = b":vertAlign" in main or b":vertAlign" in styles
        if not (targets or is_placed or _SEEN_TO.search(main) or may_hide(main) or (main and may_hide(styles))):
            return BytesIO(path.read_bytes()), Hidden()
        tree = _tree(main)
        _choose(tree)
        looks = Styles(_tree(styles) if styles else None)
        _write_places_out(tree, looks)
        hidden = take_unseen(tree, looks)
        _mark_pictures(tree, targets, hidden, looks)
        if not hidden.pieces and not is_placed and not _SEEN_TO.search(main):
            return BytesIO(path.read_bytes()), hidden
        _unwrap(tree)
        _write_readings_out(tree)
        _write_formulas_out(tree)
        _set_boxes_below(tree)
        copy = BytesIO()
        with ZipFile(copy, "w", ZIP_STORED) as written:
            for name in archive.namelist():
                written.writestr(name, etree.tostring(tree) if name == _MAIN else archive.read(name))
    copy.seek(0)
    return copy, hidden


def _mark_pictures(tree: Any, targets: Mapping[str, str], hidden: Hidden, styles: Styles) -> None:
    """Leave a mark after each run that shows a picture and is seen."""
    for blip in list(blips(tree)):
        name = name_of(blip, targets, "word")
        run = next(blip.iterancestors(f"{_WORD}r"), None)
        if name and run is not None and is_seen(run, styles):
            marked = etree.Element(f"{_WORD}r")
            marked.append(_text(hidden.picture(name)))
            run.addnext(marked)


def _tree(part: bytes) -> Any:
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))


def linear(node: Any) -> str:
    """An Office formula on one line: a/b, x^2, x_i; other structures as their parts in order."""
    parts = [linear(child) for child in node if isinstance(child.tag, str)]
    match node.tag.removeprefix(_MATH):
        case "t":
            return node.text or ""
        case "f":
            return "/".join(f"({part})" if len(part) > 1 else part for part in parts if part)
        case "sSup":
            return "^".join(part for part in parts if part)
        case "sSub":
            return "_".join(part for part in parts if part)
        case _:
            return "".join(parts)


def _unwrap(tree: Any) -> None:
    """Wrappers give way to what they hold; so do content controls, less tables of contents and prompts nobody filled in."""
    for wrapper in list(tree.iter(*(_WORD + name for name in _WRAPPERS))):
        _replace(wrapper, list(wrapper))
    for control in list(tree.iter(f"{_WORD}sdt")):
        content = control.find(f"{_WORD}sdtContent")
        _replace(control, [] if content is None or _says_nothing(control) else list(content))


def _says_nothing(control: Any) -> bool:
    properties = control.find(f"{_WORD}sdtPr")
    if properties is None:
        return False
    gallery = properties.find(f"{_WORD}docPartObj/{_WORD}docPartGallery")
    is_contents = gallery is not None and gallery.get(f"{_WORD}val") == "Table of Contents"
    return is_contents or properties.find(f"{_WORD}showingPlcHdr") is not None


def _replace(node: Any, others: list[Any]) -> None:
    parent = node.getparent()
    place = parent.index(node)
    parent[place : place + 1] = others


def _write_readings_out(tree: Any) -> None:
    """Characters with their pronunciation above them: the characters."""
    for ruby in list(tree.iter(f"{_WORD}ruby")):
        base = ruby.findall(f"{_WORD}rubyBase")
        _replace(ruby, [_text("".join(t.text or "" for part in base for t in part.iter(f"{_WORD}t")))])


def _write_places_out(tree: Any, styles: Styles) -> None:
    """Superscripts and subscripts in characters of their own."""
    for text in tree.iter(f"{_WORD}t"):
        run = text.getparent()
        place = styles.of_run(run).place if run.tag == f"{_WORD}r" else None
        if place in ("superscript", "subscript"):
            text.text = (raised if place == "superscript" else lowered)(text.text or "")


def _write_formulas_out(tree: Any) -> None:
    for formula in list(tree.iter(f"{_MATH}oMath")):
        run = etree.Element(f"{_WORD}r")
        run.append(_text(f" {linear(formula)} "))
        parent = formula.getparent()
        if parent.tag == f"{_MATH}oMathPara":
            parent.addprevious(run)
        else:
            parent.replace(formula, run)


def _choose(tree: Any) -> None:
    """Of contents in several versions the one that Word shows: the first whose names it knows, else the fallback for old programs."""
    for versions in list(tree.iter(f"{_COMPATIBLE}AlternateContent")):
        kept = next((each for each in versions.iterchildren(f"{_COMPATIBLE}Choice") if _is_known(each)), None)
        if kept is None:
            kept = versions.find(f"{_COMPATIBLE}Fallback")
        if versions.getparent() is not None:
            _replace(versions, [] if kept is None else list(kept))


def _is_known(choice: Any) -> bool:
    names = (choice.get("Requires") or "").split()
    return bool(names) and all((choice.nsmap.get(name) or "").startswith(_KNOWN_NAMES) for name in names)


def _set_boxes_below(tree: Any) -> None:
    """What a text box holds follows the paragraph that it is anchored in."""
    for box in list(tree.iter(f"{_WORD}txbxContent")):
        anchor = next(box.iterancestors(f"{_WORD}p"), None)
        if anchor is not None:
            for held in reversed(list(box)):
                anchor.addnext(held)


def _text(words: str) -> Any:
    text = etree.Element(f"{_WORD}t", {_SPACE: "preserve"})
    text.text = words
    return text
