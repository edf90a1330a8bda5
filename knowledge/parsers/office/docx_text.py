"""The text of one paragraph of a Word document: visible text, hidden text, and what is anchored in it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from knowledge.parsers.blocks import Block, Picture, build_block, build_hidden_block, remove_link_marks
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.office.docx_hidden import TextSurroundings
from knowledge.parsers.office.docx_styles import Styles
from knowledge.parsers.office.ooxml_charts import build_chart_blocks
from knowledge.parsers.office.ooxml_drawings import (
    CHART,
    DIAGRAM,
    NEW_CHART,
    VERSIONS,
    build_diagram_blocks,
    choose_version,
    convert_symbol,
    find_external_address,
    find_picture_name,
    find_related_tree,
    iterate_formulas,
)
from knowledge.parsers.office.ooxml_names import RELATION, VAL, A, M, W, is_on
from knowledge.parsers.pieces import StyledPiece, collect_hidden_blocks, join_visible_text

_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_OLD = "{urn:schemas-microsoft-com:office:office}"
_WORD_ART = "{urn:schemas-microsoft-com:vml}textpath"
_THROUGH = {W + name for name in ("ins", "moveTo", "smartTag", "customXml", "dir", "bdo")}
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_HYPERLINK = re.compile(r'^\s*HYPERLINK\s+"([^"]*)"')
_PAGE_NUMBER = re.compile(r"^\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)
PAGE_NUMBER = "\x00"  # stands for the number of a page, until `cleaned` removes it
_NO_PICTURE = (HiddenReason.DELETED, HiddenReason.NOT_DISPLAYED)


def is_placeholder_control(control: Any) -> bool:
    """Tell whether a content control holds a table of contents, or an unfilled prompt."""
    properties = control.find(f"{W}sdtPr")
    if properties is None:
        return False
    gallery = properties.find(f"{W}docPartObj/{W}docPartGallery")
    is_contents = gallery is not None and gallery.get(VAL) == "Table of Contents"
    return is_contents or is_on(properties.find(f"{W}showingPlcHdr"))


def iterate_children(element: Any, wanted: set[str]) -> Iterator[Any]:
    """Yield the children of these names, also those inside of wrapper elements."""
    for child in element:
        if child.tag in wanted:
            yield child
        elif child.tag in _THROUGH:
            yield from iterate_children(child, wanted)
        elif child.tag == f"{W}sdt" and not is_placeholder_control(child):
            yield from iterate_children(
                child.find(f"{W}sdtContent") if child.find(f"{W}sdtContent") is not None else (), wanted
            )
        elif child.tag == VERSIONS and (one := choose_version(child)) is not None:
            yield from iterate_children(one, wanted)


class DocxFields:
    """The effect of a part's fields on its runs: some are code, which is not shown, some links, some page numbers."""

    def __init__(self, tree: Any) -> None:
        self.code: set[Any] = set()
        self.addresses: dict[Any, str] = {}
        self.page_numbers: set[Any] = set()
        opened: list[_Field] = []
        if next(tree.iter(f"{W}fldChar"), None) is None:
            return
        for element in tree.iter(f"{W}r", f"{W}fldChar", f"{W}instrText"):
            kind = element.get(f"{W}fldCharType")
            if element.tag == f"{W}r":
                for item in opened:
                    (item.shown if item.is_separated else item.code).append(element)
            elif element.tag == f"{W}instrText" and opened:
                opened[-1].says += element.text or ""
            elif kind == "begin":
                opened.append(_Field())
            elif kind == "separate" and opened:
                opened[-1].is_separated = True
            elif kind == "end" and opened:  # an unclosed field hides nothing
                self._close_field(opened.pop())

    def _close_field(self, ended: "_Field") -> None:
        self.code.update(ended.code)
        if found := _HYPERLINK.match(ended.says):
            self.addresses.update(dict.fromkeys(ended.shown, found[1]))
        elif _PAGE_NUMBER.match(ended.says):
            self.page_numbers.update(ended.shown)


@dataclass
class _Field:
    says: str = ""
    is_separated: bool = False
    code: list[Any] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)


class ParagraphContext(Protocol):
    """The interface of the document that a paragraph is read in."""

    styles: Styles

    def lose(self, kind: str) -> None: ...
    def note(self, reference: Any, hidden: HiddenReason | None) -> tuple[str, list[Block | Picture]]: ...
    def comment(self, reference: Any) -> list[Block]: ...
    def inside(self, box: Any, part: "PartOf", place: TextSurroundings) -> list[Block | Picture]: ...


@dataclass(frozen=True)
class PartOf:
    """A part of the file that text stands in. folder: where it lies in the file, for the names of pictures."""

    part: Any
    fields: DocxFields
    targets: dict[str, str]

    @classmethod
    def of(cls, part: Any, tree: Any) -> "PartOf":
        targets = {key: rel.target_ref for key, rel in part.rels.items() if not rel.is_external}
        return cls(part, DocxFields(tree), targets)


class Text:
    """One paragraph, read. behind: what follows it, in order. is_bold: whether all visible text is bold."""

    def __init__(self, paragraph: Any, source: ParagraphContext, part: PartOf, place: TextSurroundings) -> None:
        self._source, self._part = source, part
        self._properties = paragraph.find(f"{W}pPr")
        self._pieces: list[StyledPiece] = []
        self.behind: list[Block | Picture] = []
        self.is_bold = True
        self._read_children(paragraph, place.in_paragraph(self._properties, source.styles), "")

    @property
    def seen(self) -> str:
        """Return the text that people see, with its links."""
        return join_visible_text(self._pieces)

    @property
    def unseen(self) -> list[Block]:
        """Return the hidden text, one block for each run of the same reason."""
        return collect_hidden_blocks(self._pieces)

    def _read_children(self, element: Any, place: TextSurroundings, address: str) -> None:
        for child in element:
            tag = child.tag
            if tag == f"{W}r":
                self._read_run(child, place, address)
            elif tag in _THROUGH:
                self._read_children(child, place, address)
            elif tag == f"{W}del":
                self._read_children(child, place.because(HiddenReason.DELETED), address)
            elif tag == f"{W}hyperlink":
                self._read_children(child, place, self._find_link_address(child) or address)
            elif tag == f"{W}fldSimple":
                self._read_simple_field(child, place, address)
            elif tag == f"{W}sdt" and not is_placeholder_control(child):
                for content in child.iterchildren(f"{W}sdtContent"):
                    self._read_children(content, place, address)
            elif tag in (f"{M}oMath", f"{M}oMathPara"):
                self._read_formula(child, place)
            elif tag == VERSIONS and (one := choose_version(child)) is not None:
                self._read_children(one, place, address)

    def _find_link_address(self, link: Any) -> str:
        address, anchor = find_external_address(self._part.part, link.get(f"{RELATION}id")), link.get(f"{W}anchor")
        return f"{address}#{anchor}" if address and anchor else address

    def _read_simple_field(self, element: Any, place: TextSurroundings, address: str) -> None:
        code = element.get(f"{W}instr", "")
        if _PAGE_NUMBER.match(code):
            self._add_piece(PAGE_NUMBER, None)
        else:
            found = _HYPERLINK.match(code)
            self._read_children(element, place, found[1] if found else address)

    def _read_formula(self, element: Any, place: TextSurroundings) -> None:
        formulas_found = list(iterate_formulas(element))
        if not any(formulas_found):
            self._source.lose("equations")
        separator = "\n" if element.tag == f"{M}oMathPara" else " "
        for item in formulas_found:
            self._add_piece(f"{separator}{item}{separator}", place.hidden)

    def _add_piece(
        self, text: str, hidden: HiddenReason | None, raised_to: str | None = None, address: str = ""
    ) -> None:
        if text:
            self._pieces.append(StyledPiece(remove_link_marks(text), hidden, raised_to, address))

    def _read_run(self, run: Any, place: TextSurroundings, address: str) -> None:
        fields = self._part.fields
        look = self._source.styles.look(run.find(f"{W}rPr"), self._properties)
        hidden = HiddenReason.NOT_DISPLAYED if run in fields.code else place.why(look)
        if run in fields.page_numbers:
            return self._add_piece(PAGE_NUMBER, hidden)
        address = fields.addresses.get(run, address)
        for child in run:
            name = child.tag.removeprefix(W) if isinstance(child.tag, str) else ""
            if name in ("t", "delText"):
                self._add_piece(child.text, hidden, look.place, address)
                self.is_bold &= bool(hidden or look.is_bold or not (child.text or "").strip())
            elif name in _SIGNS:
                self._add_piece(_SIGNS[name], hidden, None, address)
            elif name == "sym":
                self._add_piece(_read_symbol(child), hidden, look.place, address)
            elif name in ("footnoteReference", "endnoteReference"):
                number, note = self._source.note(child, hidden)
                self._add_piece(number, hidden)
                self.behind += note
            elif name == "fldChar":
                self._add_piece(_render_check_box(child), hidden)
            elif name == "commentReference":
                self.behind += self._source.comment(child)
            elif name == "ruby":  # characters with their pronunciation above them
                for base in child.iterchildren(f"{W}rubyBase"):
                    self._read_children(base, place, address)
            elif name in ("drawing", "pict", "object", child.tag):
                self._read_drawings([child], place.because(hidden if hidden in _NO_PICTURE else None))
        return None

    def _read_drawings(self, elements: Iterable[Any], place: TextSurroundings) -> None:
        """Read drawings: boxes, pictures, charts, SmartArt, embedded files."""
        for element in elements:
            if not isinstance(element.tag, str):
                continue
            if element.tag == VERSIONS:
                self._read_drawings(choose_version(element) if choose_version(element) is not None else (), place)
            elif element.tag == f"{W}txbxContent":
                self.behind += self._source.inside(element, self._part, TextSurroundings(place.hidden, behind=""))
            elif read := _READERS.get(element.tag):
                read(self, element, place)
            else:
                self._read_drawings(element, place.in_shape(element))

    def _read_picture(self, blip: Any, place: TextSurroundings) -> None:
        name = find_picture_name(blip, self._part.targets, str(self._part.part.partname).rpartition("/")[0])
        if name and not place.hidden:
            self.behind.append(Picture(0, name=name))

    def _read_chart(self, chart: Any, place: TextSurroundings) -> None:
        tree = find_related_tree(self._part.part, chart.get(f"{RELATION}id")) if chart.tag == CHART else None
        found = build_chart_blocks(tree, hidden=place.hidden) if tree is not None else []
        self.behind += found
        if not found:
            self._source.lose("charts")

    def _read_diagram(self, parts: Any, place: TextSurroundings) -> None:
        tree = find_related_tree(self._part.part, parts.get(f"{RELATION}dm"))
        self.behind += build_diagram_blocks(tree, hidden=place.hidden) if tree is not None else []

    def _read_word_art(self, art: Any, place: TextSurroundings) -> None:
        self.behind += build_block("paragraph", remove_link_marks(art.get("string", "")), hidden=place.hidden)

    def _count_object(self, embedded: Any, _place: TextSurroundings) -> None:
        self._source.lose("equations" if embedded.get("ProgID", "").startswith("Equation") else "objects")

    def _read_description(self, properties: Any, _place: TextSurroundings) -> None:
        self.behind += build_hidden_block(remove_link_marks(properties.get("descr", "")), HiddenReason.PICTURE)


_READERS: dict[str, Callable[[Text, Any, TextSurroundings], None]] = {
    f"{A}blip": Text._read_picture,
    CHART: Text._read_chart,
    NEW_CHART: Text._read_chart,
    f"{DIAGRAM}relIds": Text._read_diagram,
    _WORD_ART: Text._read_word_art,
    f"{_OLD}OLEObject": Text._count_object,
    f"{_DRAWN}docPr": Text._read_description,
}


def _render_check_box(field: Any) -> str:
    """Return the box that a field of an older form draws."""
    box = field.find(f"{W}ffData/{W}checkBox")
    if box is None:
        return ""
    state = box.find(f"{W}checked") if box.find(f"{W}checked") is not None else box.find(f"{W}default")
    return "☒" if is_on(state) else "☐"


def _read_symbol(sign: Any) -> str:
    code = sign.get(f"{W}char", "")
    return convert_symbol(int(code, 16), sign.get(f"{W}font", "")) if re.fullmatch("[0-9A-Fa-f]{1,6}", code) else ""
