"""An HTML page read from top to bottom (an lxml tree): its blocks in the order of the page, each followed by its hidden text."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from knowledge.parsers.blocks import (
    Block,
    BlockKind,
    build_block,
    build_hidden_block,
    build_list_item,
    mark_link,
    remove_link_marks,
)
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.html.hidden import InheritedLook, Looks
from knowledge.parsers.html.parts import (
    count_header_rows,
    find_footnotes,
    is_header_cell,
    is_layout_table,
    iterate_item_numbers,
    sections_of,
    span_of,
)
from knowledge.parsers.html.text import BLOCKS, DROPPED, HEADINGS, LINE, WORD, HiddenPiece, Mode, Open, TextReader
from knowledge.parsers.raised import format_subscript, format_superscript
from knowledge.parsers.tables import Cell, Grid, build_table_blocks

_STRUCTURES = frozenset((*HEADINGS, "figcaption", "caption", "blockquote"))
_OF_TABLES = frozenset(("caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"))
_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([^\s]+)")
_UNREAD_MATHS = frozenset(
    ("mfrac", "msqrt", "mroot", "mtable", "munder", "mover", "munderover", "msubsup", "mmultiscripts")
)


class HtmlReader(TextReader):
    """One pass through a page. losses: unreadable parts of it."""

    def __init__(self, tree: Any) -> None:
        super().__init__()
        self.losses: dict[str, int] = {}
        self._looks = Looks(tree)
        self._found: list[Block | HiddenPiece] = []
        self._kind: BlockKind = "paragraph"
        self._item: tuple[int, str] | None = None  # depth and number of an item without text yet
        self._depth = 0
        self._nested: list[tuple[Any, InheritedLook, str]] = []  # tables inside cells
        self._targets = {href[1:] for href in tree.xpath("//a/@href[starts-with(., '#')]")}
        self._notes = dict(find_footnotes(tree, self._targets))
        self._due: list[Any] = []
        self._numbers: dict[Any, str] = {}  # of the notes, as the text refers to them
        self._written_notes: set[Any] = set()
        for node in [*reversed(list(tree.itersiblings(preceding=True))), tree, *tree.itersiblings()]:
            self._element(node, InheritedLook())
        self._end_block()
        self._due += self._notes  # without a visible reference
        self._append_pending_content()

    @property
    def blocks(self) -> Iterator[Block]:
        for entry in self._found:
            yield from [entry] if isinstance(entry, Block) else build_hidden_block(entry.text, entry.reason)

    # --- blocks ----------------------------------------------------------------------------------------------------

    def _end_paragraph(self) -> None:
        """End a paragraph."""
        self._apart = True
        if self._mode == "blocks":
            self._end_block()
        else:
            self._parts.append(LINE)

    def _end_block(self) -> None:
        """End a block, followed by its hidden text and the notes that it refers to."""
        self._apart = True
        text = self._said()
        if text and self._item:
            depth, number = self._item
            self._item = None
            self._found += build_list_item(text, depth=depth, number=number)
        elif text:
            self._found += build_block(self._kind, text)
        self._append_pending_content()

    def _append_pending_content(self) -> None:
        self._found += self._behind
        self._behind = []
        while self._due:
            self._write_footnote(self._due.pop(0))
        nested, self._nested = self._nested, []
        for table, look, row_name in nested:
            self._found += build_block("caption", row_name)
            self._read_table(table, look)

    def _write_footnote(self, element: Any, look: InheritedLook | None = None) -> None:
        """Write a footnote, once."""
        if self._notes.pop(element, None) is None:
            return
        self._written_notes.add(element)
        if look is None:
            look = InheritedLook()
            for around in [*reversed(list(element.iterancestors())), element]:
                look = self._looks.of(around, look)
        number = self._numbers.get(element, "")
        text = self._read_flat_text(element, look)
        self._found += build_block("footnote", f"{number} {text}".strip() if text else "", number=number)
        self._append_pending_content()

    # --- elements --------------------------------------------------------------------------------------------------

    def _element(self, element: Any, above: InheritedLook) -> None:
        tag = element.tag
        if not isinstance(tag, str):
            self._read_comment(element)
            return
        if tag in DROPPED or (tag == "title" and next(element.iterancestors("svg"), None) is None):
            return
        look = self._looks.of(element, above)
        if tag in ("svg", "canvas"):
            self._count_drawing(element)
        if look.reason:
            self._hide_element(element, look.reason)
        elif element in self._notes and self._mode != "flat":
            if self._notes[element] not in self._targets:
                self._end_block()
                self._write_footnote(element, look)
        elif element in self._written_notes:
            return
        elif (handler := _HANDLERS.get(tag)) and not (self._mode == "flat" and tag in _STRUCTURES):
            handler(self, element, look)
        elif tag in BLOCKS or tag in _STRUCTURES:
            self._end_paragraph()
            self._inside(element, look)
            self._end_paragraph()
        else:
            self._inside(element, look)

    def _read_transformed(
        self, element: Any, look: InheritedLook, written: Callable[[str], str], *, is_raised: bool = False
    ) -> None:
        opened = Open(written, len(self._parts), is_raised)
        self._open.append(opened)
        self._inside(element, look)
        self._open.remove(opened)
        self._close(opened)

    def _read_title(self, element: Any, look: InheritedLook) -> None:
        self._end_block()
        text = self._read_flat_text(element, look)
        if level := HEADINGS.get(element.tag):
            self._found += build_block("heading", text.replace("\n", " "), level=level)
        else:
            self._found += build_block("caption", text)
        self._append_pending_content()

    def _read_quotation(self, element: Any, look: InheritedLook) -> None:
        self._read_structure(element, look, kind="quotation")

    def _read_structure(
        self, element: Any, look: InheritedLook, *, kind: BlockKind = "paragraph", mode: Mode = "blocks"
    ) -> None:
        """Read an element that makes its own blocks, after the text before it."""
        self._end_block()
        kept = self._kind, self._mode
        self._kind, self._mode = kind, mode
        self._inside(element, look)
        self._end_block()
        self._kind, self._mode = kept

    def _read_code(self, element: Any, look: InheritedLook) -> None:
        kept, self._is_code = self._is_code, True
        if self._mode == "flat":
            self._end_paragraph()
            self._inside(element, look)
            self._end_paragraph()
        else:
            self._is_code = kept
            self._end_block()
            self._is_code = True
            named = " ".join(entry.get("class") or "" for entry in (element, *element.iterchildren("code")))
            language = found[1] if (found := _LANGUAGE.search(named)) else ""
            mode, self._mode = self._mode, "item"
            self._inside(element, look)
            text = self._said().replace(LINE, "\n")
            self._mode = mode
            self._found += build_block("code", text, language=language)
            self._append_pending_content()
        self._is_code = kept

    def _read_list(self, element: Any, look: InheritedLook) -> None:
        if self._mode != "flat":
            self._end_block()
        self._depth += 1
        numbers = iterate_item_numbers(element)
        self._text(element.text, look)
        for child in element:
            if child.tag == "li":
                self._read_list_item(child, look, next(numbers))
            else:
                self._element(child, look)
            self._text(child.tail, look)
        self._depth -= 1
        self._end_paragraph()

    def _read_list_item(self, element: Any, above: InheritedLook, number: str) -> None:
        look = self._looks.of(element, above)
        if look.reason or element in self._notes or element in self._written_notes:
            self._element(element, above)
            return
        if self._mode == "flat":
            self._end_paragraph()
            self._parts.append(f"{number} " if number else "")
            self._inside(element, look)
            self._end_paragraph()
            return
        self._end_block()
        self._item = (self._depth - 1, number)
        self._read_structure(element, look, kind=self._kind, mode="item")
        self._item = None

    def _read_link(self, element: Any, look: InheritedLook) -> None:
        address = remove_link_marks(element.get("href") or "")
        target = address[1:] if address.startswith("#") else ""
        if address.startswith("#") and not WORD.search("".join(element.itertext())):
            return  # "¶" beside a heading, "↩" after a note
        note = next((entry for entry, name in self._notes.items() if name == target), None) if target else None
        if note is not None and note not in self._numbers:
            text = "".join(element.itertext()).strip()
            is_raised = any(opened.is_raised for opened in self._open) or element.find(".//sup") is not None
            self._numbers[note] = format_superscript(text) if is_raised else text
            self._due.append(note)
        if any(opened.is_raised for opened in self._open):
            self._inside(element, look)
        else:
            self._read_transformed(element, look, lambda words: _mark_linked_words(words, address))

    def _read_sup_or_sub(self, element: Any, look: InheritedLook) -> None:
        self._read_transformed(
            element, look, format_superscript if element.tag == "sup" else format_subscript, is_raised=True
        )

    def _add_line_end(self, element: Any, look: InheritedLook) -> None:
        self._apart = True
        self._parts.append(LINE)

    def _read_picture(self, element: Any, look: InheritedLook) -> None:
        if element.get("alt"):
            self._apart = True
            self._take(element.get("alt"), look.why_unseen or HiddenReason.PICTURE)
            self._apart = True

    def _read_ruby(self, element: Any, look: InheritedLook) -> None:
        """Set off a ruby reading from the characters before it."""
        self._read_transformed(element, look, lambda words: f"({words.strip()})" if words.strip() else words)

    def _count_drawing(self, element: Any) -> None:
        is_figure = element.get("role") == "img" or next(element.iterancestors("figure"), None) is not None
        if is_figure and not "".join(element.itertext()).strip():
            self.losses["charts"] = self.losses.get("charts", 0) + 1

    def _read_formula(self, element: Any, look: InheritedLook) -> None:
        formula = element.get("alttext") or element.findtext(".//annotation")
        if formula:
            self._text(formula, look)
        elif next(element.iterdescendants(*_UNREAD_MATHS), None) is not None:
            self.losses["equations"] = self.losses.get("equations", 0) + 1
        else:
            self._inside(element, look)

    def _read_math_script(self, element: Any, look: InheritedLook) -> None:
        """Read a base and its index, of a formula."""
        self._text(element.text, look)
        for place, child in enumerate(element):
            if place == 0:
                self._element(child, look)
            else:
                self._read_transformed(
                    child,
                    self._looks.of(child, look),
                    format_superscript if element.tag == "msup" else format_subscript,
                    is_raised=True,
                )

    # --- tables ----------------------------------------------------------------------------------------------------

    def _read_table(self, element: Any, look: InheritedLook) -> None:
        if self._mode == "flat":
            self._nested.append((element, look, ""))
            return
        self._end_block()
        if is_layout_table(element):
            self._read_structure(element, look, kind=self._kind)
            return
        kept, self._nested = self._nested, []
        for caption in element.iterchildren("caption"):
            self._element(caption, look)
        rows = self._read_rows(element, look)
        self._found += build_table_blocks(rows, header_rows=count_header_rows(element, rows))
        self._end_block()
        self._nested = kept

    def _read_rows(self, table: Any, look: InheritedLook) -> list[list[Cell]]:
        grid = Grid()
        is_headed = next(table.iterchildren("thead"), None) is not None
        self._read_stray_content(table, look)
        for section, rows in sections_of(table):
            around = look if section is table else self._looks.of(section, look)
            if section is not table:
                self._read_stray_content(section, around)
            for row in rows:
                row_look = self._looks.of(row, around)
                if row_look.reason:
                    self._hide_element(row, row_look.reason)
                    continue
                self._read_stray_content(row, row_look)
                found = list(row.iterchildren("td", "th"))
                cells: list[tuple[Cell, int, int]] = []
                for entry in found:
                    cell_look = self._looks.of(entry, row_look)
                    if cell_look.reason:
                        self._hide_element(entry, cell_look.reason)
                        continue
                    before = len(self._nested)
                    text = self._read_flat_text(entry, cell_look)
                    row_name = next((cell.text for cell, _, _ in cells if cell.plain), "")
                    self._nested[before:] = [(inner, of, row_name) for inner, of, _ in self._nested[before:]]
                    named = is_header_cell(
                        entry, section, is_headed=is_headed, is_alone=len(found) == 1 and bool(grid.rows)
                    )
                    cells.append(
                        (Cell(text, is_name=named), span_of(entry, "colspan"), span_of(entry, "rowspan") or 1_000)
                    )
                grid.add_row(cells)
            grid.end_section()
        return grid.rows

    def _read_stray_content(self, element: Any, look: InheritedLook) -> None:
        """Read content misplaced between rows and cells; it follows the table."""
        self._text(element.text, look)
        for child in element:
            if child.tag not in _OF_TABLES:
                self._element(child, look)
            self._text(child.tail, look)


def _mark_linked_words(words: str, address: str) -> str:
    bare = words.strip()
    return words.replace(bare, mark_link(bare, address), 1) if bare else words


_HANDLERS: dict[str, Callable[[HtmlReader, Any, InheritedLook], None]] = {
    **dict.fromkeys((*HEADINGS, "figcaption", "caption"), HtmlReader._read_title),
    **dict.fromkeys(("ul", "ol", "menu"), HtmlReader._read_list),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), HtmlReader._read_code),
    **dict.fromkeys(("sup", "sub"), HtmlReader._read_sup_or_sub),
    **dict.fromkeys(("msup", "msub"), HtmlReader._read_math_script),
    "blockquote": HtmlReader._read_quotation,
    "a": HtmlReader._read_link,
    "br": HtmlReader._add_line_end,
    "img": HtmlReader._read_picture,
    "rt": HtmlReader._read_ruby,
    "math": HtmlReader._read_formula,
    "table": HtmlReader._read_table,
}
