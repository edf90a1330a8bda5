"""A Word document as blocks: headings, numbered paragraphs, tables, notes, headers and footers, in the order people read them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from knowledge.parsers.blocks import Block, Picture, build_block, build_hidden_block, build_list_item
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.list_numbers import format_list_number
from knowledge.parsers.office.docx_hidden import TextSurroundings, build_page_place
from knowledge.parsers.office.docx_numbering import Numbered, Numbering
from knowledge.parsers.office.docx_styles import UNKNOWN, Styles, read_fill_colour
from knowledge.parsers.office.docx_text import PAGE_NUMBER, PartOf, Text, iterate_children
from knowledge.parsers.office.ooxml_drawings import find_related_tree, parse_part
from knowledge.parsers.office.ooxml_names import RELATION, W, is_on, parse_whole_number, value_of
from knowledge.parsers.raised import format_superscript
from knowledge.parsers.tables import EMPTY, MAX_SPAN_COLUMNS, Cell, build_table_blocks

_FLOW = {f"{W}p", f"{W}tbl", f"{W}altChunk"}
_MAX_HEADING = 300  # characters: a longer paragraph in the style of a heading is a clause
_BESIDE_A_PAGE_NUMBER = 12  # characters, as in "Page 3 of 12"
_HEADERS, _FOOTERS = "headerReference", "footerReference"


class DocxWalk:
    """One document of python-docx, read once. losses: what is in it and was not read."""

    def __init__(self, document: Any) -> None:
        part = document.part
        self._main = PartOf.of(part, part.element)
        self._body = part.element.find(f"{W}body")
        self._page = build_page_place(part.element)
        self.styles = Styles(_load_part_tree(part, "styles"))
        self._numbering = Numbering(_load_part_tree(part, "numbering"), self.styles.lists)
        self._settings = _load_part_tree(part, "settings")
        self._notes = {kind: self._load_notes(part, kind) for kind in ("footnote", "endnote")}
        self._counts = Counter[str]()
        self._comments = _index_by_id(_load_part_tree(part, "comments"), "comment")
        self.losses = Counter[str]()

    def blocks(self) -> list[Block | Picture]:
        """Return all blocks in reading order: headers first, footers last."""
        if self._body is None:
            return []
        body = self.inside(self._body, self._main, self._page)
        return [*self._read_running_lines(_HEADERS), *body, *self._read_running_lines(_FOOTERS)]

    # --- what paragraphs ask -------------------------------------------------------------------------------------

    def lose(self, kind: str) -> None:
        self.losses[kind] += 1

    def comment(self, reference: Any) -> list[Block]:
        return build_hidden_block(_read_words(self._comments.pop(reference.get(f"{W}id"), None)), HiddenReason.COMMENT)

    def note(self, reference: Any, hidden: HiddenReason | None) -> tuple[str, list[Block | Picture]]:
        """Return the mark of a note, and the note itself."""
        kind = reference.tag.removeprefix(W).removesuffix("Reference")
        found, part, form = self._notes[kind]
        note = found.pop(reference.get(f"{W}id"), None)
        if reference.get(f"{W}customMarkFollows") in ("1", "true", "on"):
            mark = number = "".join(sibling.text or "" for sibling in reference.itersiblings(f"{W}t")).strip()
            mark = ""  # it stands there by itself
        elif hidden:
            mark = number = ""
        else:
            self._counts[kind] += 1
            written = format_list_number(self._counts[kind], form)
            mark = number = format_superscript(written) if written.isdecimal() or len(written) == 1 else f"^({written})"
        return mark, self._read_note(note, part, number, hidden) if note is not None else []

    def _read_note(self, note: Any, part: PartOf, number: str, hidden: HiddenReason | None) -> list[Block | Picture]:
        inner = self.inside(note, part, TextSurroundings(hidden))
        lines = [entry for entry in inner if isinstance(entry, Block) and not entry.hidden and entry.kind in _PROSE]
        found = _join_blocks(lines, "footnote")
        if not found:
            return inner
        whole_note = [_prefix_block(found[0], f"{number} ", number)] if number else found
        return [*whole_note, *(entry for entry in inner if entry not in lines)]

    def inside(self, element: Any, part: PartOf, place: TextSurroundings) -> list[Block | Picture]:
        """Return the blocks of a body, a cell, a box or a note."""
        found: list[Block | Picture] = []
        for child in iterate_children(element, _FLOW):
            if child.tag == f"{W}p":
                found += self._paragraph(child, part, place)
            elif child.tag == f"{W}tbl":
                found += self._table(child, part, place)
            else:
                self.lose("objects")
        return list(_join_code_blocks(found))

    # --- paragraphs ----------------------------------------------------------------------------------------------

    def _paragraph(self, paragraph: Any, part: PartOf, place: TextSurroundings) -> list[Block | Picture]:
        properties = paragraph.find(f"{W}pPr")
        numbered = self._number_paragraph(properties)
        level = self.styles.level(properties)
        text = Text(paragraph, self, part, place)
        seen = text.seen
        if level and len(seen) <= _MAX_HEADING:
            number = f"{numbered.number} " if numbered and numbered.number and seen.strip() else ""
            found = build_block("heading", " ".join((number + seen).split()), level=level)
        elif numbered:
            found = build_list_item(seen, depth=numbered.depth, number=numbered.number)
        else:
            found = build_block(self.styles.kind(properties), seen)
        return [*found, *text.unseen, *text.behind]

    def _number_paragraph(self, properties: Any) -> Numbered | None:
        """Count a paragraph in its list; None where it is in none, or was deleted."""
        if properties is not None and properties.find(f"{W}rPr/{W}del") is not None:
            return None
        found = self.styles.list_of(properties)
        if found is None:
            is_refused = value_of(properties.find(f"{W}numPr"), "numId") == "0" if properties is not None else False
            depth = None if is_refused else self.styles.bullet_depth(properties)
            return None if depth is None else Numbered("", depth)
        name, level, style = found
        if style and (tied := self._numbering.level_of_style(name, style)) is not None:
            level = tied
        return self._numbering.next(name, level or 0)

    # --- tables --------------------------------------------------------------------------------------------------

    def _table(self, table: Any, part: PartOf, place: TextSurroundings) -> list[Block | Picture]:
        rows = [(row, list(iterate_children(row, {f"{W}tc"}))) for row in iterate_children(table, {f"{W}tr"})]
        is_shaded, names_first = self.styles.table_marks(table)
        place = place.in_table(table, is_shaded)
        if [len(cells) for _, cells in rows] == [1]:  # a box
            (row, [cell]) = rows[0]
            return self.inside(cell, part, place.in_row(row).in_cell(cell))
        head = _count_header_rows(rows, names_first)
        grid: list[list[Cell]] = []
        behind: list[Block | Picture] = []
        for number, (row, cells) in enumerate(rows):
            filled = [EMPTY] * _read_span(row.find(f"{W}trPr"), "gridBefore", 0)
            for cell in cells:
                properties, above = cell.find(f"{W}tcPr"), grid[-1] if grid else []
                if _is_merged_cell(properties, "vMerge") and len(filled) < len(above):
                    found = above[len(filled)]
                elif _is_merged_cell(properties, "hMerge") and filled:
                    found = filled[-1]
                else:
                    inner = place.in_row(row).in_cell(cell)
                    found = self._read_cell(cell, part, inner, behind, is_name=number < head)
                filled += [found] * _read_span(properties, "gridSpan", 1)
            grid.append(filled)
        return [*build_table_blocks(grid), *behind]

    def _read_cell(
        self, cell: Any, part: PartOf, place: TextSurroundings, behind: list[Block | Picture], *, is_name: bool
    ) -> Cell:
        """Read a cell; nested tables and other non-text content follow its table."""
        lines: list[str] = []
        is_bold = True
        for child in iterate_children(cell, _FLOW):
            if child.tag != f"{W}p":
                behind += self._table(child, part, place) if child.tag == f"{W}tbl" else []
                continue
            numbered = self._number_paragraph(child.find(f"{W}pPr"))
            text = Text(child, self, part, place)
            if text.seen.strip():
                lines.append(f"{numbered.number or '•'} {text.seen.strip()}" if numbered else text.seen.strip())
                is_bold &= text.is_bold
            behind += [*text.unseen, *text.behind]
        return Cell("\n".join(lines), is_name=is_name or (bool(lines) and is_bold))

    # --- notes, headers and footers ------------------------------------------------------------------------------

    def _load_notes(self, part: Any, kind: str) -> tuple[dict[str, Any], PartOf, str]:
        """Return the notes of a kind by their ids, the part they stand in, and the format of their numbers."""
        held = _find_related_part(part, f"{kind}s")
        tree = parse_part(held) if held is not None else None
        sources = [self._settings, *part.element.iter(f"{W}sectPr")]
        formats = (value_of(source.find(f"{W}{kind}Pr"), "numFmt") for source in sources if source is not None)
        form = next((entry for entry in formats if entry), "decimal" if kind == "footnote" else "lowerRoman")
        return _index_by_id(tree, kind), PartOf.of(held, tree) if tree is not None else self._main, form

    def _read_running_lines(self, kind: str) -> list[Block | Picture]:
        """Return headers or footers shown by some section, each text once."""
        has_even = self._settings is not None and is_on(self._settings.find(f"{W}evenAndOddHeaders"))
        found: dict[str, list[Block]] = {}
        named: dict[str, str] = {}  # a section without one of its own goes on with the one before
        seen: set[str] = set()
        for section in self._body.iter(f"{W}sectPr"):
            for entry in section.iterchildren(W + kind):
                named[entry.get(f"{W}type", "default")] = entry.get(f"{RELATION}id", "")
            has_first = is_on(section.find(f"{W}titlePg"))
            shown = ["default", *(["first"] if has_first else []), *(["even"] if has_even else [])]
            for relation in dict.fromkeys(named[entry] for entry in shown if entry in named):
                tree = find_related_tree(self._main.part, relation) if relation not in seen else None
                seen.add(relation)
                if tree is not None:
                    part = PartOf.of(self._main.part.rels[relation].target_part, tree)
                    text, unseen = self._read_header_lines(tree, part)
                    found.setdefault(text, [*build_block("running", text), *unseen])
        return [each for blocks in found.values() for each in blocks]

    def _read_header_lines(self, element: Any, part: PartOf) -> tuple[str, list[Block]]:
        """Return the lines of a header without page numbers, one for each table row, and its hidden text."""
        lines: list[str] = []
        unseen: list[Block] = []
        for child in iterate_children(element, {f"{W}p", f"{W}tbl"}):
            if child.tag == f"{W}tbl":
                rows = [
                    [self._read_header_lines(cell, part) for cell in iterate_children(row, {f"{W}tc"})]
                    for row in iterate_children(child, {f"{W}tr"})
                ]
                lines += ["\t".join(cell_text for cell_text, _ in row if cell_text) for row in rows]
                unseen += [each for row in rows for _, hidden in row for each in hidden]
                continue
            text = Text(child, self, part, self._page)
            boxed = [entry for entry in text.behind if isinstance(entry, Block)]
            lines += [_remove_page_numbers(text.seen), *(entry.text for entry in boxed if not entry.hidden)]
            unseen += [*text.unseen, *(entry for entry in boxed if entry.hidden)]
        return "\n".join(line for line in lines if line.strip()), unseen


_PROSE = ("paragraph", "item", "quotation", "heading", "code")


def _remove_page_numbers(text: str) -> str:
    parts = re.split(r"([\t\n]+)", text)
    kept = [
        "" if PAGE_NUMBER in entry and len(entry.replace(PAGE_NUMBER, "").strip()) <= _BESIDE_A_PAGE_NUMBER else entry
        for entry in parts
    ]
    return "".join(kept).strip()


def _join_blocks(lines: list[Block], kind: Any) -> list[Block]:
    """Join blocks of text into one, keeping their links."""
    text, links = "", []
    for entry in lines:
        text += "\n" if text else ""
        links += [(start + len(text), end + len(text), address) for start, end, address in entry.links]
        text += entry.text
    return [Block(kind, text, links=tuple(links))] if text else []


def _prefix_block(block: Block, before: str, number: str) -> Block:
    links = tuple((start + len(before), end + len(before), address) for start, end, address in block.links)
    return replace(block, text=before + block.text, links=links, number=number)


def _join_code_blocks(found: list[Block | Picture]) -> Iterator[Block | Picture]:
    lines: list[Block] = []
    for entry in [*found, None]:
        if isinstance(entry, Block) and entry.kind == "code" and not entry.hidden:
            lines.append(entry)
            continue
        yield from _join_blocks(lines, "code")
        lines = []
        if entry is not None:
            yield entry


def _count_header_rows(rows: list[tuple[Any, list[Any]]], names_first: bool) -> int:
    """Count the rows that Word marks as header: repeated on each page, set off by the table's style, or the only shaded ones."""
    marked = 0
    while marked < len(rows) and is_on(rows[marked][0].find(f"{W}trPr/{W}tblHeader")):
        marked += 1
    fills = [{read_fill_colour(cell.find(f"{W}tcPr/{W}shd")) for cell in cells} for _, cells in rows]
    plain = {None, "auto", UNKNOWN, "FFFFFF", "ffffff"}
    shaded = next((count for count, fill in enumerate(fills) if fill & plain or not fill), len(fills))
    if any(fill & set().union(*fills[:shaded]) for fill in fills[shaded:]):
        shaded = 0  # every other row is
    return max(marked, shaded, int(names_first))


def _is_merged_cell(properties: Any, name: str) -> bool:
    """Tell whether a cell continues the one above or before it."""
    merged = value_of(properties, name)
    return merged is not None and merged != "restart"


def _read_span(properties: Any, name: str, usual: int) -> int:
    return min(max(parse_whole_number(value_of(properties, name)), usual), MAX_SPAN_COLUMNS)


def _find_related_part(part: Any, kind: str) -> Any:
    found = (rel for rel in part.rels.values() if not rel.is_external and rel.reltype.endswith(f"/{kind}"))
    return next((entry.target_part for entry in found), None)


def _load_part_tree(part: Any, kind: str) -> Any:
    held = _find_related_part(part, kind)
    return parse_part(held) if held is not None else None


def _index_by_id(tree: Any, kind: str) -> dict[str, Any]:
    return {} if tree is None else {entry.get(f"{W}id", ""): entry for entry in tree.iterchildren(W + kind)}


def _read_words(tree: Any) -> str:
    if tree is None:
        return ""
    return "\n".join("".join(t.text or "" for t in entry.iter(f"{W}t")) for entry in tree.iter(f"{W}p"))
