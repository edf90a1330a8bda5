"""The document model that every parser returns: typed blocks in reading order.

A block's text is what people read in the original (`knowledge.text.normalise.clean_text`); kind and fields give its structure, so that it
need not be guessed from text. The document's text is the texts of its blocks, with a line end between the items of a list and a
blank line elsewhere; spans are character offsets into it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from knowledge.parsers.hidden import HiddenReason
from knowledge.text.normalise import clean_text

BlockKind = Literal[
    "heading", "paragraph", "item", "table", "code", "quotation", "footnote", "caption", "chart", "running"
]
"""caption: announces the table, chart or picture behind it. chart: its data as a table. running: a header or footer of the pages, once."""
TABULAR: frozenset[BlockKind] = frozenset({"table", "chart"})

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 as shares (0..1) of the page's width and height, origin at the top left."""


def compute_bounding_box(boxes: Iterable[Box]) -> Box:
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


Link = tuple[int, int, str]
"""Start and end of the linked words in the block's text, and the address they lead to."""

MODEL = 2
"""Of what `to_json` writes; `from_json` reads the first one, too."""

SEPARATOR = "\n\n"
"""Between the texts of two blocks in the document's text, but for neighbouring items of a list."""

# Around linked words and their address while a parser puts a text together; of the last private plane: no font and no document needs them.
_WORDS, _ADDRESS, _CLOSE = "\U0010fff0", "\U0010fff1", "\U0010fff2"
_LINKED = re.compile(f"{_WORDS}([^{_WORDS}{_ADDRESS}{_CLOSE}]*){_ADDRESS}([^{_WORDS}{_ADDRESS}{_CLOSE}]*){_CLOSE}")
_LINK_MARKS = {ord(mark): None for mark in (_WORDS, _ADDRESS, _CLOSE)}
_ABSOLUTE = re.compile(r"(?:https?://|mailto:|tel:|ftp://)\S", re.IGNORECASE)
_RELATIVE = re.compile(r"(?![a-z][a-z0-9+.-]*:|[#?]|//)\S", re.IGNORECASE)
MAX_ADDRESS = 2_000  # characters


@dataclass(frozen=True)
class Block:
    """One piece of a document, in reading order.

    text: cleaned, never blank. An item begins with its indentation and marker ("- " or its number); a table or chart is a pipe table
        (`knowledge.text.pipe_table`), one row a line.
    level: of a heading, 1 to 6. depth: of an item, from 0. lead: characters of an item before what a quotation of it shows (indentation
        and bullet; a number is shown). number: of an item or footnote as it stands there ("2.", "a)", "¹").
    is_headed: whether a table's first line holds the names of its columns, with a rule below it.
    exact: of a table whose cells round or dress their numbers, the same table with the typed values, for who calculates.
    language: of code. links: in the order of the text. page: from 1, for formats that have pages or slides.
    boxes: where the block's lines stand on the page, for highlighting; empty where the format has no pages.
    hidden: why people do not see it in the original; None when they do. is_recognised: whether it was read from a picture.
    """

    kind: BlockKind
    text: str
    level: int | None = None
    depth: int = 0
    lead: int = 0
    number: str = ""
    is_headed: bool = False
    exact: str = ""
    language: str = ""
    links: tuple[Link, ...] = ()
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    hidden: HiddenReason | None = None
    is_recognised: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture that may show text, to be read by `knowledge.ingestion.pictures`.

    at: how many blocks stand before it; `ParsedDocument.of` counts them. page: the page that it fills, whose blocks its text takes the
    place of, or the slide it stands on. name: of the part of the file that holds it; "" where it is the page itself.
    is_bare: whether its page says nothing that can be read otherwise; every picture inside a text is.
    """

    at: int
    page: int | None = None
    name: str = ""
    is_bare: bool = True


@dataclass(frozen=True)
class Apart:
    """A block that people do not see, kept apart from those that answer. at: how many of them stand before it."""

    block: Block
    at: int


@dataclass(frozen=True)
class ParsedDocument:
    """A document as typed blocks. No blocks means no text was found (a scan, an empty sheet).

    blocks: what is split, indexed, quoted and given to a model. apart: what people do not see, for the document's page alone.
    pictures: in the order of the file, those that are to be read. read_pictures: those inside a text that were read; what they say
    follows.
    title: as the document itself states it, None when it does not. language: as declared by the document (BCP 47).
    fields: what it states of itself (front matter). losses: how many of each kind of part are in the file and were not read, by the
    keys of `knowledge.parsers.losses.LOSSES`.
    """

    title: str | None = None
    blocks: tuple[Block, ...] = ()
    apart: tuple[Apart, ...] = ()
    pictures: tuple[Picture, ...] = ()
    read_pictures: tuple[Picture, ...] = ()
    page_count: int | None = None
    language: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    losses: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(
            part
            for before, block in _pair_neighbours(self.blocks)
            for part in (choose_separator(before, block), block.text)
        )

    @property
    def starts(self) -> list[int]:
        """Return the offset of each block in the document's text."""
        found, end = [], 0
        for before, block in _pair_neighbours(self.blocks):
            found.append(end + len(choose_separator(before, block)))
            end = found[-1] + len(block.text)
        return found

    @classmethod
    def of(cls, blocks: Iterable[Block | Picture], **more: Any) -> "ParsedDocument":
        """Return a document of blocks and pictures in reading order, those blocks apart that people do not see."""
        seen: list[Block] = []
        apart: list[Apart] = []
        pictures: list[Picture] = []
        for entry in blocks:
            if isinstance(entry, Picture):
                pictures.append(replace(entry, at=len(seen)))
            elif entry.hidden:
                apart.append(Apart(entry, len(seen)))
            else:
                seen.append(entry)
        return cls(blocks=tuple(seen), apart=tuple(apart), pictures=tuple(pictures), **more)

    @property
    def inner_pictures(self) -> list[Picture]:
        """Return the pictures inside the text, in its order."""
        return sorted((one for one in (*self.pictures, *self.read_pictures) if one.name), key=lambda one: one.at)

    def with_recognised(self, found: Mapping[Picture, Sequence[Block]]) -> "ParsedDocument":
        """Return the same document with what was read from pictures: in the place of their page, or where they stand. The others stay."""
        replaced = {picture.page for picture in found if not picture.name}
        blocks: list[Block] = []
        places: list[int] = []  # how many of the new blocks stand before each of the old ones, and at the end
        read: list[Picture] = []
        pictures = iter([*sorted(found, key=lambda entry: entry.at), None])
        following = next(pictures)
        for count, entry in enumerate([*self.blocks, None]):
            while following and following.at == count:
                if following.name:
                    read.append(replace(following, at=len(blocks)))
                blocks += found[following]
                following = next(pictures)
            places.append(len(blocks))
            if entry and entry.page not in replaced:
                blocks.append(entry)
        apart = tuple(replace(entry, at=places[entry.at]) for entry in self.apart)
        left = tuple(replace(entry, at=places[entry.at]) for entry in self.pictures if entry not in found)
        title = self.title or next(
            (entry.text for entry in blocks[:5] if entry.kind == "heading" and entry.page == 1), None
        )
        return replace(self, title=title, blocks=tuple(blocks), apart=apart, pictures=left, read_pictures=tuple(read))

    def with_hidden(self) -> "ParsedDocument":
        """Return the same document with everything in it answering, for a base that wants that."""
        blocks: list[Block] = []
        apart = iter([*self.apart, None])
        following = next(apart)
        for count, entry in enumerate([*self.blocks, None]):
            while following and following.at == count:
                blocks.append(following.block)
                following = next(apart)
            if entry:
                blocks.append(entry)
        return replace(self, blocks=tuple(blocks), apart=(), pictures=(), read_pictures=())

    @property
    def hidden_count(self) -> int:
        """Return how many of the searchable blocks are hidden from people."""
        return sum(entry.hidden is not None for entry in self.blocks)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults: a block of plain text is its kind and its text."""
        found = asdict(replace(self, blocks=(), apart=())) | {"model": MODEL}
        found["blocks"] = [_serialise_block(block) for block in self.blocks]
        found["apart"] = [{"block": _serialise_block(entry.block), "at": entry.at} for entry in self.apart]
        return found

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "ParsedDocument":
        """Read the output of `to_json`, also of earlier parsers: unknown fields are ignored."""
        read = _parse_block if value.get("model") == MODEL else _parse_earlier_block
        known = {name: value[name] for name in cls.__dataclass_fields__ if name in value}
        apart = tuple(Apart(read(entry["block"]), entry["at"]) for entry in value.get("apart", ()))
        pictures = {
            name: tuple(Picture(**entry) for entry in value.get(name, ())) for name in ("pictures", "read_pictures")
        }
        return cls(**{**known, "blocks": tuple(map(read, value["blocks"])), "apart": apart, **pictures})


@dataclass(frozen=True)
class PageMarks:
    """width, height: of the page in points, for its shape. boxes: one for each line of the quotation, as shares of the page; none where
    less than half of it was found.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "PageMarks":
        return cls(value["width"], value["height"], tuple(tuple(box) for box in value["boxes"]))


def choose_separator(before: Block | None, block: Block) -> str:
    """Return the separator of two neighbouring blocks in the document's text."""
    if before is None:
        return ""
    return "\n" if before.kind == block.kind == "item" else SEPARATOR


def _pair_neighbours(blocks: Sequence[Block]) -> Iterator[tuple[Block | None, Block]]:
    return zip([None, *blocks], blocks, strict=False)


_DEFAULTS = {name: entry.default for name, entry in Block.__dataclass_fields__.items()}


def _serialise_block(block: Block) -> dict[str, Any]:
    return {name: value for name in _DEFAULTS if (value := getattr(block, name)) != _DEFAULTS[name]}


def _parse_block(value: dict[str, Any]) -> Block:
    known = {name: entry for name, entry in value.items() if name in _DEFAULTS}
    known["boxes"] = tuple(tuple(box) for box in value.get("boxes", ()))
    known["links"] = tuple((start, end, address) for start, end, address in value.get("links", ()))
    known["hidden"] = HiddenReason(value["hidden"]) if value.get("hidden") else None
    return Block(**known)


def _parse_earlier_block(value: dict[str, Any]) -> Block:
    """Read a block of the first model: lists were one text, every table had a header, code stood in fences."""
    kind: BlockKind = "paragraph" if value["kind"] == "list" else value["kind"]
    return replace(_parse_block(value), kind=kind, is_headed=kind == "table")


# --- making blocks -------------------------------------------------------------------------------------------------


def mark_link(words: str, address: str) -> str:
    """Mark linked words in a text for `build_block`; return the words alone where the address leads to no page, file or person."""
    address = "".join(address.strip().replace(" ", "%20").split())
    is_one = is_absolute_address(address) or _RELATIVE.match(address) is not None
    if not words.strip() or not is_one or len(address) > MAX_ADDRESS:
        return words
    return f"{_WORDS}{words.translate(_LINK_MARKS)}{_ADDRESS}{address.translate(_LINK_MARKS)}{_CLOSE}"


def is_absolute_address(address: str) -> bool:
    """Tell whether an address is absolute; a relative one is kept as text and not linked."""
    return _ABSOLUTE.match(address) is not None


def remove_link_marks(source: str) -> str:
    """Remove the marks of links from a source, so that a file cannot forge one."""
    return source.translate(_LINK_MARKS)


def extract_links(text: str) -> tuple[str, tuple[Link, ...]]:
    """Return a text without marks, and its links."""
    if _WORDS not in text:
        return text, ()
    parts: list[str] = []
    links: list[Link] = []
    length = place = 0
    for found in _LINKED.finditer(text):
        parts += [text[place : found.start()], found[1]]
        length += found.start() - place
        links.append((length, length + len(found[1]), found[2]))
        length, place = length + len(found[1]), found.end()
    return "".join([*parts, text[place:]]), tuple(links)


def build_block(kind: BlockKind, text: str, **fields: Any) -> list[Block]:
    """Return a block of cleaned, trimmed text, its links found; no block when nothing is left of it."""
    text = clean_text(text)
    text = text.strip("\n").rstrip() if kind in ("code", "item") else text.strip()
    text, links = extract_links(text)
    return [Block(kind, text, **({"links": links} | fields))] if text.strip() else []


def build_list_item(text: str, *, depth: int = 0, number: str = "", **fields: Any) -> list[Block]:
    """Return an item of a list: its text without a marker, and its number as it stands there, "" for a bullet."""
    indent, text = "  " * depth, clean_text(text).strip()
    marker = f"{number} " if number else "- "
    lead = len(indent) + (0 if number else len(marker))
    inside = "\n" + " " * (len(indent) + len(marker))
    words = indent + marker + text.replace("\n", inside)
    return build_block("item", words, depth=depth, lead=lead, number=number, **fields) if text else []


def build_hidden_block(text: str, reason: HiddenReason, *, page: int | None = None) -> list[Block]:
    """Return hidden text as a paragraph; no block when nothing is left of it."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return build_block("paragraph", "\n".join(line for line in lines if line), page=page, hidden=reason)
