"""An HTML page read from top to bottom (an lxml tree): its blocks in the order of the page, each followed by its hidden text."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from knowledge.parsers.blocks import Block, BlockKind, block, hidden_block, item, linked, unmarked
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.html.hidden import Look, Looks
from knowledge.parsers.html.parts import header_rows, is_layout, is_name, notes_of, numbers_of, sections_of, span_of
from knowledge.parsers.html.text import BLOCKS, DROPPED, HEADINGS, LINE, WORD, Mode, Open, Piece, TextReader
from knowledge.parsers.raised import lowered, raised
from knowledge.parsers.tables import Cell, Grid, table_blocks

_STRUCTURES = frozenset((*HEADINGS, "figcaption", "caption", "blockquote"))
_OF_TABLES = frozenset(("caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"))
_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([^\s]+)")
_UNREAD_MATHS = frozenset(
    ("mfrac", "msqrt", "mroot", "mtable", "munder", "mover", "munderover", "msubsup", "mmultiscripts")
)


class Reader(TextReader):
    """One pass through a page. losses: unreadable parts of it."""

    def __init__(self, tree: Any) -> None:
        super().__init__()
        self.losses: dict[str, int] = {}
        self._looks = Looks(tree)
        self._found: list[Block | Piece] = []
        self._kind: BlockKind = "paragraph"
        self._item: tuple[int, str] | None = None  # depth and number of an item without text yet
        self._depth = 0
        self._nested: list[tuple[Any, Look, str]] = []  # tables inside cells
        self._targets = {href[1:] for href in tree.xpath("//a/@href[starts-with(., '#')]")}
        self._notes = dict(notes_of(tree, self._targets))
        self._due: list[Any] = []
        self._numbers: dict[Any, str] = {}  # of the notes, as the text refers to them
        self._written_notes: set[Any] = set()
        for node in [*reversed(list(tree.itersiblings(preceding=True))), tree, *tree.itersiblings()]:
            self._element(node, Look())
        self._flush()
        self._due += self._notes  # without a visible reference
        self._settle()

    @property
    def blocks(self) -> Iterator[Block]:
        for entry in self._found:
            yield from [entry] if isinstance(entry, Block) else hidden_block(entry.text, entry.reason)

    # --- blocks ----------------------------------------------------------------------------------------------------

    def _boundary(self) -> None:
        """End a paragraph."""
        self._apart = True
        if self._mode == "blocks":
            self._flush()
        else:
            self._parts.append(LINE)

    def _flush(self) -> None:
        """End a block, followed by its hidden text and the notes that it refers to."""
        self._apart = True
        text = self._said()
        if text and self._item:
            depth, number = self._item
            self._item = None
            self._found += item(text, depth=depth, number=number)
        elif text:
            self._found += block(self._kind, text)
        self._settle()

    def _settle(self) -> None:
        self._found += self._behind
        self._behind = []
        while self._due:
            self._note(self._due.pop(0))
        nested, self._nested = self._nested, []
        for table, look, row_name in nested:
            self._found += block("caption", row_name)
            self._table(table, look)

    def _note(self, element: Any, look: Look | None = None) -> None:
        """Write a footnote, once."""
        if self._notes.pop(element, None) is None:
            return
        self._written_notes.add(element)
        if look is None:
            look = Look()
            for around in [*reversed(list(element.iterancestors())), element]:
                look = self._looks.of(around, look)
        number = self._numbers.get(element, "")
        text = self._flat(element, look)
        self._found += block("footnote", f"{number} {text}".strip() if text else "", number=number)
        self._settle()

    # --- elements --------------------------------------------------------------------------------------------------

    def _element(self, element: Any, above: Look) -> None:
        tag = element.tag
        if not isinstance(tag, str):
            self._comment(element)
            return
        if tag in DROPPED or (tag == "title" and next(element.iterancestors("svg"), None) is None):
            return
        look = self._looks.of(element, above)
        if tag in ("svg", "canvas"):
            self._drawing(element)
        if look.reason:
            self._hide(element, look.reason)
        elif element in self._notes and self._mode != "flat":
            if self._notes[element] not in self._targets:
                self._flush()
                self._note(element, look)
        elif element in self._written_notes:
            return
        elif (handler := _HANDLERS.get(tag)) and not (self._mode == "flat" and tag in _STRUCTURES):
            handler(self, element, look)
        elif tag in BLOCKS or tag in _STRUCTURES:
            self._boundary()
            self._inside(element, look)
            self._boundary()
        else:
            self._inside(element, look)

    def _written(self, element: Any, look: Look, written: Callable[[str], str], *, is_raised: bool = False) -> None:
        opened = Open(written, len(self._parts), is_raised)
        self._open.append(opened)
        self._inside(element, look)
        self._open.remove(opened)
        self._close(opened)

    def _title(self, element: Any, look: Look) -> None:
        self._flush()
        text = self._flat(element, look)
        if level := HEADINGS.get(element.tag):
            self._found += block("heading", text.replace("\n", " "), level=level)
        else:
            self._found += block("caption", text)
        self._settle()

    def _quotation(self, element: Any, look: Look) -> None:
        self._structure(element, look, kind="quotation")

    def _structure(self, element: Any, look: Look, *, kind: BlockKind = "paragraph", mode: Mode = "blocks") -> None:
        """Read an element that makes its own blocks, after the text before it."""
        self._flush()
        kept = self._kind, self._mode
        self._kind, self._mode = kind, mode
        self._inside(element, look)
        self._flush()
        self._kind, self._mode = kept

    def _code(self, element: Any, look: Look) -> None:
        kept, self._is_code = self._is_code, True
        if self._mode == "flat":
            self._boundary()
            self._inside(element, look)
            self._boundary()
        else:
            self._is_code = kept
            self._flush()
            self._is_code = True
            named = " ".join(entry.get("class") or "" for entry in (element, *element.iterchildren("code")))
            language = found[1] if (found := _LANGUAGE.search(named)) else ""
            mode, self._mode = self._mode, "item"
            self._inside(element, look)
            text = self._said().replace(LINE, "\n")
            self._mode = mode
            self._found += block("code", text, language=language)
            self._settle()
        self._is_code = kept

    def _list(self, element: Any, look: Look) -> None:
        if self._mode != "flat":
            self._flush()
        self._depth += 1
        numbers = numbers_of(element)
        self._text(element.text, look)
        for child in element:
            if child.tag == "li":
                self._list_item(child, look, next(numbers))
            else:
                self._element(child, look)
            self._text(child.tail, look)
        self._depth -= 1
        self._boundary()

    def _list_item(self, element: Any, above: Look, number: str) -> None:
        look = self._looks.of(element, above)
        if look.reason or element in self._notes or element in self._written_notes:
            self._element(element, above)
            return
        if self._mode == "flat":
            self._boundary()
            self._parts.append(f"{number} " if number else "")
            self._inside(element, look)
            self._boundary()
            return
        self._flush()
        self._item = (self._depth - 1, number)
        self._structure(element, look, kind=self._kind, mode="item")
        self._item = None

    def _link(self, element: Any, look: Look) -> None:
        address = unmarked(element.get("href") or "")
        target = address[1:] if address.startswith("#") else ""
        if address.startswith("#") and not WORD.search("".join(element.itertext())):
            return  # "¶" beside a heading, "↩" after a note
        note = next((entry for entry, name in self._notes.items() if name == target), None) if target else None
        if note is not None and note not in self._numbers:
            text = "".join(element.itertext()).strip()
            is_raised = any(opened.is_raised for opened in self._open) or element.find(".//sup") is not None
            self._numbers[note] = raised(text) if is_raised else text
            self._due.append(note)
        if any(opened.is_raised for opened in self._open):
            self._inside(element, look)
        else:
            self._written(element, look, lambda words: _linked(words, address))

    def _raised(self, element: Any, look: Look) -> None:
        self._written(element, look, raised if element.tag == "sup" else lowered, is_raised=True)

    def _line_end(self, element: Any, look: Look) -> None:
        self._apart = True
        self._parts.append(LINE)

    def _picture(self, element: Any, look: Look) -> None:
        if element.get("alt"):
            self._apart = True
            self._take(element.get("alt"), look.why_unseen or HiddenReason.PICTURE)
            self._apart = True

    def _reading(self, element: Any, look: Look) -> None:
        """Set off a ruby reading from the characters before it."""
        self._written(element, look, lambda words: f"({words.strip()})" if words.strip() else words)

    def _drawing(self, element: Any) -> None:
        is_figure = element.get("role") == "img" or next(element.iterancestors("figure"), None) is not None
        if is_figure and not "".join(element.itertext()).strip():
            self.losses["charts"] = self.losses.get("charts", 0) + 1

    def _formula(self, element: Any, look: Look) -> None:
        formula = element.get("alttext") or element.findtext(".//annotation")
        if formula:
            self._text(formula, look)
        elif next(element.iterdescendants(*_UNREAD_MATHS), None) is not None:
            self.losses["equations"] = self.losses.get("equations", 0) + 1
        else:
            self._inside(element, look)

    def _placed(self, element: Any, look: Look) -> None:
        """Read a base and its index, of a formula."""
        self._text(element.text, look)
        for place, child in enumerate(element):
            if place == 0:
                self._element(child, look)
            else:
                self._written(
                    child, self._looks.of(child, look), raised if element.tag == "msup" else lowered, is_raised=True
                )

    # --- tables ----------------------------------------------------------------------------------------------------

    def _table(self, element: Any, look: Look) -> None:
        if self._mode == "flat":
            self._nested.append((element, look, ""))
            return
        self._flush()
        if is_layout(element):
            self._structure(element, look, kind=self._kind)
            return
        kept, self._nested = self._nested, []
        for caption in element.iterchildren("caption"):
            self._element(caption, look)
        rows = self._rows(element, look)
        self._found += table_blocks(rows, header_rows=header_rows(element, rows))
        self._flush()
        self._nested = kept

    def _rows(self, table: Any, look: Look) -> list[list[Cell]]:
        grid = Grid()
        is_headed = next(table.iterchildren("thead"), None) is not None
        self._strays(table, look)
        for section, rows in sections_of(table):
            around = look if section is table else self._looks.of(section, look)
            if section is not table:
                self._strays(section, around)
            for row in rows:
                row_look = self._looks.of(row, around)
                if row_look.reason:
                    self._hide(row, row_look.reason)
                    continue
                self._strays(row, row_look)
                found = list(row.iterchildren("td", "th"))
                cells: list[tuple[Cell, int, int]] = []
                for entry in found:
                    cell_look = self._looks.of(entry, row_look)
                    if cell_look.reason:
                        self._hide(entry, cell_look.reason)
                        continue
                    before = len(self._nested)
                    text = self._flat(entry, cell_look)
                    row_name = next((cell.text for cell, _, _ in cells if cell.plain), "")
                    self._nested[before:] = [(inner, of, row_name) for inner, of, _ in self._nested[before:]]
                    named = is_name(entry, section, is_headed=is_headed, is_alone=len(found) == 1 and bool(grid.rows))
                    cells.append(
                        (Cell(text, is_name=named), span_of(entry, "colspan"), span_of(entry, "rowspan") or 1_000)
                    )
                grid.add_row(cells)
            grid.end_section()
        return grid.rows

    def _strays(self, element: Any, look: Look) -> None:
        """Read content misplaced between rows and cells; it follows the table."""
        self._text(element.text, look)
        for child in element:
            if child.tag not in _OF_TABLES:
                self._element(child, look)
            self._text(child.tail, look)


def _linked(words: str, address: str) -> str:
    bare = words.strip()
    return words.replace(bare, linked(bare, address), 1) if bare else words


_HANDLERS: dict[str, Callable[[Reader, Any, Look], None]] = {
    **dict.fromkeys((*HEADINGS, "figcaption", "caption"), Reader._title),
    **dict.fromkeys(("ul", "ol", "menu"), Reader._list),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), Reader._code),
    **dict.fromkeys(("sup", "sub"), Reader._raised),
    **dict.fromkeys(("msup", "msub"), Reader._placed),
    "blockquote": Reader._quotation,
    "a": Reader._link,
    "br": Reader._line_end,
    "img": Reader._picture,
    "rt": Reader._reading,
    "math": Reader._formula,
    "table": Reader._table,
}
