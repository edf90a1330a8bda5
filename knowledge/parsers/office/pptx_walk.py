"""A presentation as blocks, slide by slide: title, texts by their levels, tables, charts, pictures, notes, running footers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pptx.enum.shapes import PP_PLACEHOLDER

from knowledge.parsers.blocks import Block, Picture, build_block, build_hidden_block, build_list_item, remove_link_marks
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.list_numbers import format_slide_number
from knowledge.parsers.office.ooxml_charts import build_chart_blocks
from knowledge.parsers.office.ooxml_drawings import (
    CHART,
    DIAGRAM,
    NEW_CHART,
    VERSIONS,
    build_diagram_blocks,
    choose_version,
    find_external_address,
    find_related_tree,
    iterate_formulas,
    iterate_picture_names,
    parse_part,
)
from knowledge.parsers.office.ooxml_names import RELATION, A, M, parse_whole_number
from knowledge.parsers.office.pptx_hidden import P, Sight, iterate_layout_elements, level_of
from knowledge.parsers.pieces import StyledPiece, collect_hidden_blocks, join_visible_text
from knowledge.parsers.tables import Cell, Grid, build_table_blocks

_CHINESE = re.compile("[\u4e00-\u9fff]")
_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
_RUNNING = (PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
_BULLETS = ("buNone", "buChar", "buBlip", "buAutoNum")
_PLAIN_TEXT = (PP_PLACEHOLDER.SUBTITLE,)


class PptxWalk:
    """One presentation of python-pptx, read once. losses: what is in it and was not read."""

    def __init__(self, presentation: Any) -> None:
        self._slides = presentation.slides
        self._size = presentation.slide_width, presentation.slide_height
        self._seen: set[str] = set()  # running footers
        self.losses = Counter[str]()

    def blocks(self) -> Iterator[Block | Picture]:
        """Yield every slide: its blocks, its pictures, the speaker's notes, its comments. Of a hidden slide nothing is seen."""
        for number, slide in enumerate(self._slides, start=1):
            _choose_versions(slide.shapes.element)
            is_hidden = slide.element.get("show") in ("0", "false")
            page = _Slide(self, slide, number, Sight(slide, self._size))
            page.read()
            if not is_hidden:
                page.found += page.pictures()
                page.found += page.running(self._seen)
            for note in [*page.found, *_read_notes(slide, number), *_read_comments(slide, number)]:
                if not is_hidden or isinstance(note, Picture):
                    yield note
                else:
                    yield replace(note, hidden=note.hidden or HiddenReason.SLIDE)


class _Slide:
    """One slide. found: its blocks in reading order."""

    def __init__(self, walk: PptxWalk, slide: Any, number: int, sight: Sight) -> None:
        self._walk, self._slide, self._number, self._sight = walk, slide, number, sight
        self._footers: list[list[Block]] = []
        self._unseen: set[Any] = set()
        self.found: list[Block | Picture] = []

    def read(self) -> None:
        for shape in _sort_shapes(self._slide.shapes):
            self._read_shape(shape, None)

    def pictures(self) -> list[Picture]:
        """Return the pictures that are seen, in the order they are drawn."""
        for element in self._unseen:
            element.getparent().remove(element)
        targets = {key: rel.target_ref for key, rel in self._slide.part.rels.items() if not rel.is_external}
        return [
            Picture(0, self._number, name)
            for name in iterate_picture_names(self._slide.shapes.element, targets, "ppt/slides")
        ]

    def running(self, texts: set[str]) -> list[Block]:
        """Return its footers that no earlier slide has."""
        new = [each for footer in self._footers for each in footer if each.text not in texts]
        texts.update(entry.text for entry in new)
        return new

    def _read_shape(self, shape: Any, hidden: HiddenReason | None) -> None:
        why = self._sight.why_shape(shape)
        if why and not hidden:
            self._unseen.add(shape.element)
        hidden = hidden or why
        described = next((entry.get("descr", "") for entry in shape.element.iter(f"{P}cNvPr")), "")
        inner = getattr(shape, "shapes", None)
        if inner is not None:
            for entry in _sort_shapes(inner):
                self._read_shape(entry, hidden)
        elif shape.element.tag == f"{P}graphicFrame":
            self._read_frame(shape, hidden)
        elif shape.has_text_frame:
            self._read_text(shape, hidden)
        self.found += build_hidden_block(remove_link_marks(described), HiddenReason.PICTURE, page=self._number)

    def _read_text(self, shape: Any, hidden: HiddenReason | None) -> None:
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if kind == PP_PLACEHOLDER.SLIDE_NUMBER:
            return
        paragraphs = [self._read_paragraph(entry, shape, hidden) for entry in shape.element.iterfind(f"{P}txBody/{A}p")]
        unseen = [each for pieces in paragraphs for each in collect_hidden_blocks(pieces, page=self._number)]
        if kind in _TITLES:
            title = " ".join(" ".join(map(join_visible_text, paragraphs)).split())
            self.found += build_block("heading", title, level=1, page=self._number)
        elif kind in _RUNNING:
            self._footers += [build_block("running", "\n".join(map(join_visible_text, paragraphs)), page=self._number)]
        else:
            self.found += self._build_list_blocks(shape, paragraphs)
        self.found += unseen

    def _build_list_blocks(self, shape: Any, paragraphs: list[list[StyledPiece]]) -> Iterator[Block]:
        """Return items for paragraphs with bullets or numbers, else paragraphs."""
        counts: dict[int, tuple[str, int]] = {}
        for element, pieces in zip(shape.element.iterfind(f"{P}txBody/{A}p"), paragraphs, strict=True):
            text, level = join_visible_text(pieces), level_of(element)
            if not text.strip():
                continue
            mark = _find_list_mark(element, shape, self._slide)
            counts = {entry: count for entry, count in counts.items() if entry <= level}
            if mark is None or not mark.tag.endswith("}buAutoNum"):
                counts.pop(level, None)
                found = build_block("paragraph", text) if mark is None else build_list_item(text, depth=level)
            else:
                scheme, start = mark.get("type", ""), mark.get("startAt", "1")
                last = counts.get(level, ("", 0))
                number = last[1] + 1 if last[0] == scheme else parse_whole_number(start)
                counts[level] = scheme, number
                found = build_list_item(text, depth=level, number=format_slide_number(number, scheme))
            yield from (replace(entry, page=self._number) for entry in found)

    def _read_paragraph(self, paragraph: Any, shape: Any, hidden: HiddenReason | None) -> list[StyledPiece]:
        pieces: list[StyledPiece] = []
        whole = next((entry.find(f"{A}hlinkClick") for entry in shape.element.iter(f"{P}cNvPr")), None)
        for child in paragraph:
            if child.tag == f"{A}br":
                pieces.append(StyledPiece("\n", hidden))
            elif child.tag in (f"{A}r", f"{A}fld"):
                if child.get("type") != "slidenum":
                    pieces.append(self._read_run(child, shape, hidden, whole))
            elif isinstance(child.tag, str) and next(child.iter(f"{M}oMath"), None) is not None:
                formulas_found = list(iterate_formulas(child))
                pieces += [StyledPiece(f" {entry} ", hidden) for entry in formulas_found]
                self._walk.losses["equations"] += not any(formulas_found)
        return pieces

    def _read_run(self, run: Any, shape: Any, hidden: HiddenReason | None, whole: Any) -> StyledPiece:
        properties = run.find(f"{A}rPr")
        place, link = "", whole
        if properties is not None:
            baseline = properties.get("baseline", "0").strip("%")
            place = "" if not baseline.strip("-0") else "subscript" if baseline.startswith("-") else "superscript"
            link = properties.find(f"{A}hlinkClick") if properties.find(f"{A}hlinkClick") is not None else whole
        address = find_external_address(self._slide.part, link.get(f"{RELATION}id")) if link is not None else ""
        text = remove_link_marks(run.findtext(f"{A}t") or "")
        return StyledPiece(text, hidden or self._sight.why_run(run, shape), place, address)

    def _read_frame(self, shape: Any, hidden: HiddenReason | None) -> None:
        """Read a table, a chart, SmartArt; count an embedded file."""
        fields: dict[str, Any] = {"page": self._number, "hidden": hidden}
        for element in shape.element.iter(f"{A}tbl", CHART, NEW_CHART, f"{DIAGRAM}relIds", f"{P}oleObj"):
            if element.tag == f"{A}tbl":
                self._read_table(element, shape, hidden)
                return
            if element.tag == f"{P}oleObj":
                self._walk.losses["objects"] += 1
                return
            name = "dm" if element.tag == f"{DIAGRAM}relIds" else "id"
            tree = find_related_tree(self._slide.part, element.get(RELATION + name))
            if element.tag == f"{DIAGRAM}relIds":
                self.found += build_diagram_blocks(tree, **fields) if tree is not None else []
                continue
            found = build_chart_blocks(tree, **fields) if tree is not None and element.tag == CHART else []
            self._walk.losses["charts"] += not found
            self.found += found

    def _read_table(self, table: Any, shape: Any, hidden: HiddenReason | None) -> None:
        properties = table.find(f"{A}tblPr")
        head = int(properties is not None and properties.get("firstRow") in ("1", "true"))
        grid, unseen = Grid(), []
        for number, row in enumerate(table.iterfind(f"{A}tr")):
            cells = []
            for cell in row.iterfind(f"{A}tc"):
                if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
                    continue
                pieces = [self._read_paragraph(entry, shape, hidden) for entry in cell.iterfind(f"{A}txBody/{A}p")]
                unseen += [found for piece in pieces for found in collect_hidden_blocks(piece, page=self._number)]
                columns, rows = (parse_whole_number(cell.get(name, "1")) for name in ("gridSpan", "rowSpan"))
                if number < head:
                    head = max(head, number + rows)  # cells spanning down from a header row have header cells beside
                text = "\n".join(cell_text for piece in pieces if (cell_text := join_visible_text(piece)).strip())
                cells.append((Cell(text, is_name=number < head or _is_bold(cell)), columns, rows))
            grid.add_row(cells)
        self.found += [*build_table_blocks(grid.rows, page=self._number), *unseen]


def _sort_shapes(shapes: Iterable[Any]) -> list[Any]:
    """Return the title first, then from the top down and from left to right."""
    return sorted(shapes, key=lambda entry: (not _is_title(entry), entry.top or 0, entry.left or 0))


def _is_title(shape: Any) -> bool:
    return shape.is_placeholder and shape.placeholder_format.type in _TITLES


def _choose_versions(tree: Any) -> None:
    for versions in list(tree.iter(VERSIONS)):
        parent = versions.getparent()
        if parent is not None:
            kept = choose_version(versions)
            place = parent.index(versions)
            parent[place : place + 1] = [] if kept is None else list(kept)


def _find_list_mark(paragraph: Any, shape: Any, slide: Any) -> Any:
    """Return the bullet or number of a paragraph; None where it has none."""
    named = f"{A}lvl{level_of(paragraph) + 1}pPr"
    sources = [paragraph.find(f"{A}pPr")]
    if shape.is_placeholder:
        kind = shape.placeholder_format.type
        bodies = [
            entry.find(f"{P}txBody/{A}lstStyle/{named}")
            for entry in (shape.element, *iterate_layout_elements(shape, slide))
        ]
        styles = slide.slide_layout.slide_master.element.find(f"{P}txStyles/{P}bodyStyle/{named}")
        sources += [*bodies, None if kind in _PLAIN_TEXT else styles]
    else:
        sources.append(shape.element.find(f"{P}txBody/{A}lstStyle/{named}"))
    for style in sources:
        for name in _BULLETS if style is not None else ():
            found = style.find(f"{A}{name}")
            if found is not None:
                return None if name == "buNone" else found
    return None


def _is_bold(cell: Any) -> bool:
    runs = [entry for entry in cell.iter(f"{A}r") if (entry.findtext(f"{A}t") or "").strip()]
    properties = (entry.find(f"{A}rPr") for entry in runs)
    return bool(runs) and all(entry is not None and entry.get("b") in ("1", "true") for entry in properties)


def _read_notes(slide: Any, number: int) -> list[Block]:
    """Return the speaker's notes, labelled as notes wherever they are quoted."""
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    text = remove_link_marks(frame.text.strip()) if frame is not None else ""
    label = "备注：" if _CHINESE.search(text) else "Speaker notes: "
    return build_block("paragraph", label + text, page=number) if text else []


def _read_comments(slide: Any, number: int) -> Iterator[Block]:
    for rel in slide.part.rels.values():
        if rel.is_external or not rel.reltype.endswith("/comments"):
            continue
        tree = parse_part(rel.target_part)
        texts = (
            [found for found in tree.iter() if str(found.tag).endswith(("}text", "}txBody"))]
            if tree is not None
            else []
        )
        for text in texts:
            yield from build_hidden_block(
                remove_link_marks("".join(text.itertext())), HiddenReason.COMMENT, page=number
            )
