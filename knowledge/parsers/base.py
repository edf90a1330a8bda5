"""What a parser is, what it gives back, and how it says no. One new format is one new file that calls `parsers.add`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from copilot_site.lib.registry import Registry, load_modules
from knowledge.failure_reasons import REASONS
from knowledge.parsers.hidden import Hidden, HiddenReason, marks_in, without_marks
from knowledge.parsers.limits import ParseLimits
from knowledge.text.normalise import cleaned

PARSER_VERSION = 5
"""Counted up when what parsers give changes for files that were read before: `manage.py reread` finds those."""
APART_SINCE = 2
"""The version that first kept hidden text apart; what later ones read otherwise is only what it took for hidden."""

PICTURES_SINCE = 4
"""The version that first said which pictures a file of WITH_PICTURES has."""
WITH_PICTURES = (
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
)

BlockKind = Literal["heading", "paragraph", "list", "table", "code"]
Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 as shares (0..1) of the page's width and height, origin at the top left."""

SEPARATOR = "\n\n"
"""Between the texts of two blocks in the document's text; spans are offsets into that text."""


@dataclass(frozen=True)
class Block:
    """One paragraph-like piece of a document, in reading order.

    text: cleaned, never blank. A table is a pipe table: the first row is the header, the second is `| --- |`;
        a list has a marker on every item, nested items indented; code stands between fences of backticks.
    level: of a heading, 1 to 6; None otherwise. page: from 1, for formats that have pages or slides.
    boxes: where the block's lines stand on the page, for highlighting; empty where the format has no pages.
    hidden: why people do not see it in the original; None when they do. is_recognised: whether it was read from a picture.
    exact: of a table whose cells round or dress their numbers, the same table with the numbers kept, for who calculates.
    """

    kind: BlockKind
    text: str
    level: int | None = None
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    hidden: HiddenReason | None = None
    is_recognised: bool = False
    exact: str = ""


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
    """A document as text with structure. No blocks means no text was found (a scan, an empty sheet).

    blocks: what is split, indexed, quoted and given to a model. apart: what people do not see, for the document's page alone.
    pictures: in the order of the file, those that are to be read. read_pictures: those inside a text that were read; what they say
    follows.
    title: as the document itself states it, None when it does not. language: as declared by the document (BCP 47).
    """

    title: str | None = None
    blocks: tuple[Block, ...] = ()
    apart: tuple[Apart, ...] = ()
    pictures: tuple[Picture, ...] = ()
    read_pictures: tuple[Picture, ...] = ()
    page_count: int | None = None
    language: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return SEPARATOR.join(block.text for block in self.blocks)

    @classmethod
    def of(cls, blocks: Iterable[Block | Picture], **more: Any) -> "ParsedDocument":
        """A document of blocks and pictures in reading order, those blocks apart that people do not see."""
        seen: list[Block] = []
        apart: list[Apart] = []
        pictures: list[Picture] = []
        for each in blocks:
            if isinstance(each, Picture):
                pictures.append(replace(each, at=len(seen)))
            elif each.hidden:
                apart.append(Apart(each, len(seen)))
            else:
                seen.append(each)
        return cls(blocks=tuple(seen), apart=tuple(apart), pictures=tuple(pictures), **more)

    @property
    def inner_pictures(self) -> list[Picture]:
        """The pictures inside the text, in its order."""
        return sorted((each for each in (*self.pictures, *self.read_pictures) if each.name), key=lambda each: each.at)

    def with_recognised(self, found: Mapping[Picture, Sequence[Block]]) -> "ParsedDocument":
        """The same document with what was read from pictures: in the place of their page, or where they stand. The others stay."""
        replaced = {picture.page for picture in found if not picture.name}
        blocks: list[Block] = []
        places: list[int] = []  # how many of the new blocks stand before each of the old ones, and at the end
        read: list[Picture] = []
        pictures = iter([*sorted(found, key=lambda each: each.at), None])
        following = next(pictures)
        for count, each in enumerate([*self.blocks, None]):
            while following and following.at == count:
                if following.name:
                    read.append(replace(following, at=len(blocks)))
                blocks += found[following]
                following = next(pictures)
            places.append(len(blocks))
            if each and each.page not in replaced:
                blocks.append(each)
        apart = tuple(replace(each, at=places[each.at]) for each in self.apart)
        left = tuple(replace(each, at=places[each.at]) for each in self.pictures if each not in found)
        title = self.title or next(
            (each.text for each in blocks[:5] if each.kind == "heading" and each.page == 1), None
        )
        return replace(self, title=title, blocks=tuple(blocks), apart=apart, pictures=left, read_pictures=tuple(read))

    def with_hidden(self) -> "ParsedDocument":
        """The same document with everything in it answering, for a base that wants that."""
        blocks: list[Block] = []
        apart = iter([*self.apart, None])
        following = next(apart)
        for count, each in enumerate([*self.blocks, None]):
            while following and following.at == count:
                blocks.append(following.block)
                following = next(apart)
            if each:
                blocks.append(each)
        return replace(self, blocks=tuple(blocks), apart=(), pictures=(), read_pictures=())

    @property
    def hidden_count(self) -> int:
        """How many of the blocks that answer people do not see."""
        return sum(each.hidden is not None for each in self.blocks)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "ParsedDocument":
        blocks = tuple(_block_from(block) for block in value["blocks"])
        apart = tuple(Apart(_block_from(each["block"]), each["at"]) for each in value.get("apart", ()))
        pictures = {
            name: tuple(Picture(**each) for each in value.get(name, ())) for name in ("pictures", "read_pictures")
        }
        return cls(**{**value, "blocks": blocks, "apart": apart, **pictures})


def _block_from(value: dict[str, Any]) -> Block:
    reason = value.get("hidden")
    boxes = tuple(tuple(box) for box in value["boxes"])
    return Block(**{**value, "boxes": boxes, "hidden": HiddenReason(reason) if reason else None})


class UnreadableFile(Exception):
    """A file that gives no document. `code` is a key of REASONS, `params` fill it; str() is the English sentence."""

    def __init__(self, code: str, **params: str | float) -> None:
        super().__init__(code, params)
        self.code = code
        self.params = params

    def __str__(self) -> str:
        return REASONS[self.code] % self.params


class Rejected(UnreadableFile):
    """Refused by a rule (type, size, encryption, bomb): the same file will be refused again."""


class ParseFailed(UnreadableFile):
    """The file could not be read: damaged, or it cost more time or memory than a file may."""


class Parser(Protocol):
    """Reads one format. Instances hold no state; `parse` runs in a child process under ParseLimits."""

    @property
    def name(self) -> str: ...
    @property
    def mime_types(self) -> Sequence[str]: ...
    @property
    def extensions(self) -> Sequence[str]:
        """Lower case with the dot, the usual one first."""

    @property
    def preload(self) -> Sequence[str]:
        """Modules that a warm server imports once, before it forks for each file."""

    @property
    def is_heavy(self) -> bool:
        """Whether `preload` costs seconds and hundreds of megabytes: such formats share a server of their own."""

    def recognises(self, path: Path) -> bool:
        """Whether the content looks like this format; reads little, trusts nothing, raises nothing."""

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        """Raises Rejected when the file breaks a limit or a rule, ParseFailed("damaged") when it cannot be read."""


parsers: Registry[Parser] = Registry("parser")


def load() -> None:
    """Import the parsers: every module of `formats`. A second call changes nothing."""
    load_modules("knowledge.parsers.formats")


def accepted_extensions() -> list[str]:
    return sorted(extension for parser in parsers for extension in parser.extensions)


def block(kind: BlockKind, text: str, **kwargs: Any) -> list[Block]:
    """A block of cleaned, trimmed text; no block when nothing is left of it."""
    text = cleaned(text)
    text = text.strip("\n") if kind == "code" else text.strip()
    return [Block(kind, text, **kwargs)] if text.strip() else []


def hidden_block(text: str, reason: HiddenReason, *, page: int | None = None) -> list[Block]:
    """What people do not see, as a paragraph; no block when nothing is left of it."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return block("paragraph", "\n".join(line for line in lines if line), page=page, hidden=reason)


def with_pieces(blocks: Iterable[Block], hidden: Hidden) -> list[Block | Picture]:
    """Blocks without marks, each followed by what was hidden or shown as a picture at a mark; pieces without a mark come first."""
    kept: list[Block | Picture] = []
    pieces = dict(enumerate(hidden.pieces))
    for each in blocks:
        numbers = marks_in(each.text)
        if numbers:
            kept += block(each.kind, without_marks(each.text), level=each.level, page=each.page, boxes=each.boxes)
            kept += [found for n in numbers if n in pieces for found in _piece(*pieces.pop(n), page=each.page)]
        else:
            kept.append(each)
    return [found for piece in pieces.values() for found in _piece(*piece)] + kept


def _piece(text: str, reason: HiddenReason | None, *, page: int | None = None) -> Sequence[Block | Picture]:
    return [Picture(0, page, text)] if reason is None else hidden_block(text, reason, page=page)
