"""Plain text: paragraphs between blank lines, lists, and headings by their form: in capitals, numbered in Chinese, or underlined."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import ParseLimits, parsers
from knowledge.parsers.blocks import Block, ParsedDocument, build_block, build_list_item, remove_link_marks
from knowledge.parsers.encoding import read_text

_NUMBER = "[0-9零〇一二三四五六七八九十百千]+"
_CHAPTER = re.compile(rf"\s*第\s*{_NUMBER}\s*([编篇部章节])(?:[\s:：][^。！？；]{{0,40}})?\s*")
_LEVELS = {"编": 1, "篇": 1, "部": 1, "章": 1, "节": 2}
_CHINESE_SECTION = re.compile(r"[一二三四五六七八九十]{1,3}、[^。！？；，]{1,30}")
_CAPITALS = re.compile(r"(?:\d+(?:\.\d+)*[.)]?\s+)?[A-Z][^a-z]{2,60}[^a-z.,;:]")
_UNDERLINE = re.compile(r"(=|-|~)\1{2,}\s*")
_MAX_TITLE = 100  # characters above an underline
_ITEM = re.compile(
    r"(\s*)(?:[-*+•·‣▪●○–]|(\(?(?:\d{1,3}|[a-z])[.)]|[(（][\d一二三四五六七八九十]{1,3}[)）]))(?:\s+|(?<=）))(?=\S)"
)
_STEP = 2  # columns by which an item of a list inside a list is moved in, at least


class TextParser:
    name = "text"
    mime_types = ("text/plain",)
    extensions = (".txt", ".text", ".log")
    preload: tuple[str, ...] = ()

    def recognises(self, path: Path) -> bool:
        return detect.is_text(path)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        text = remove_link_marks(read_text(path, limits)).expandtabs(4)
        return ParsedDocument(blocks=tuple(_parse_blocks(text.split("\n"))))


def _parse_blocks(lines: Sequence[str]) -> Iterator[Block]:
    kept: list[str] = []
    for place, line in enumerate([*lines, ""]):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if not kept and _is_underlined(line, following):
            kept = [line.strip()]
            continue
        if len(kept) == 1 and _UNDERLINE.fullmatch(line) and _is_underlined(kept[0], line):
            yield from build_block("heading", kept[0], level=1 if line.startswith("=") else 2)
            kept = []
            continue
        level = _detect_heading_level(line, is_first=not kept)
        if line.strip() and not level:
            kept.append(line.rstrip())
            continue
        yield from _parse_paragraph(kept)
        kept = []
        if level:
            yield from build_block("heading", line, level=level)


def _is_underlined(line: str, following: str) -> bool:
    """Tell whether a line is a title with a rule of about its length below."""
    rule, title = following.strip(), line.strip()
    is_title = 0 < len(title) <= _MAX_TITLE and not _ITEM.match(line) and re.search(r"\w", title) is not None
    return is_title and _UNDERLINE.fullmatch(following) is not None and len(rule) >= min(len(title) // 2, 3)


def _parse_paragraph(lines: Sequence[str]) -> Iterator[Block]:
    """Return neighbouring lines as a paragraph, and lists of at least two among them as items."""
    starts = [place for place, line in enumerate(lines) if _ITEM.match(line)]
    if len(starts) < 2 or not _is_series([lines[place] for place in starts]):
        yield from build_block("paragraph", "\n".join(lines))
        return
    yield from build_block("paragraph", "\n".join(lines[: starts[0]]))
    indents: list[int] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if found := _ITEM.match(lines[start]):
            while indents and len(found[1]) < indents[-1]:
                indents.pop()
            if not indents or len(found[1]) >= indents[-1] + _STEP:
                indents.append(len(found[1]))
            paragraphs = [lines[start][found.end() :], *(line.strip() for line in lines[start + 1 : end])]
            yield from build_list_item("\n".join(paragraphs), depth=len(indents) - 1, number=found[2] or "")


def _is_series(lines: Sequence[str]) -> bool:
    """Tell whether items form a series: with bullets, or with consecutive numbers (2024. was … is none)."""
    numbers = [re.sub(r"\W", "", found[2] or "") for line in lines if (found := _ITEM.match(line))]
    return not all(numbers) or any(_is_next_number(before, number) for before, number in pairwise(numbers))


def _is_next_number(before: str, number: str) -> bool:
    digits = "零一二三四五六七八九"
    before, number = (one.translate({ord(char): str(n) for n, char in enumerate(digits)}) for one in (before, number))
    if before.isdecimal() and number.isdecimal():
        return int(number) == int(before) + 1
    return len(before) == len(number) == 1 and ord(number) == ord(before) + 1


def _detect_heading_level(line: str, *, is_first: bool) -> int | None:
    """Return the level of a line that is a title by its form; most forms count only at the top of a paragraph."""
    if chapter := _CHAPTER.fullmatch(line):
        return _LEVELS[chapter[1]]
    if is_first and (_CHINESE_SECTION.fullmatch(line.strip()) or _CAPITALS.fullmatch(line.strip())):
        return 2
    return None


parsers.add(TextParser.name, TextParser())
