"""Reads a source file: front matter and the small part of Markdown that every writer can draw."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import BaseModel, ConfigDict

FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 3."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """One paragraph on one line."""

    text: str


@dataclass(frozen=True)
class Items:
    """A flat list."""

    texts: tuple[str, ...]
    ordered: bool


@dataclass(frozen=True)
class SourceTable:
    """A table; rows[0] is the header, and all rows are equally long."""

    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Items | SourceTable


class Properties(BaseModel):
    """The front matter, which goes into the properties and the footer of the document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    author: str
    version: str
    date: date
    language: str


@dataclass(frozen=True)
class SourceFile:
    """A parsed source file."""

    properties: Properties
    blocks: tuple[Block, ...]


def read_source(path: Path) -> SourceFile:
    """Parse one source file. Raises ValueError, naming the file, for a missing front matter or other Markdown."""
    match = FRONT_MATTER.match(path.read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{path}: a source starts with a front matter between two lines of ---")
    tokens = MarkdownIt("commonmark").enable("table").parse(match[2])
    try:
        return SourceFile(Properties.model_validate(yaml.safe_load(match[1])), tuple(_parse_blocks(tokens)))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _parse_blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    position = 0
    while position < len(tokens):
        token = tokens[position]
        end = _find_closing_token(tokens, position)
        inside = tokens[position : end + 1]
        match token.type:
            case "heading_open":
                yield Heading(int(token.tag[1:]), _list_texts(inside)[0])
            case "paragraph_open":
                yield Paragraph(_list_texts(inside)[0])
            case "bullet_list_open" | "ordered_list_open":
                yield Items(tuple(_list_texts(inside)), ordered=token.type.startswith("ordered"))
            case "table_open":
                yield SourceTable(tuple(_iterate_rows(inside)))
            case other:
                raise ValueError(f"the builder draws headings, paragraphs, lists and tables, not {other}")
        position = end + 1


def _find_closing_token(tokens: Sequence[Token], start: int) -> int:
    """Return the position of the token that closes the one at `start` (itself when it opens nothing)."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    raise ValueError(f"{tokens[start].type} is never closed")


def _list_texts(tokens: Sequence[Token]) -> list[str]:
    return [_extract_plain_text(token) for token in tokens if token.type == "inline"]


def _iterate_rows(tokens: Sequence[Token]) -> Iterator[tuple[str, ...]]:
    for position, token in enumerate(tokens):
        if token.type == "tr_open":
            yield tuple(_list_texts(tokens[position : _find_closing_token(tokens, position)]))


def _extract_plain_text(inline: Token) -> str:
    """Return the text of an inline token without its marks; a soft line break is a space, or nothing in Chinese."""
    text = "".join("\n" if child.type == "softbreak" else child.content for child in inline.children or ())
    text = re.sub(r"(?<=[\u3000-\u9fff\uff00-\uffef])\n(?=[\u3000-\u9fff\uff00-\uffef])", "", text)
    return text.replace("\n", " ")
