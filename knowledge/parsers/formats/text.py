"""Plain text: paragraphs between blank lines; lines in capitals and numbered Chinese titles above them are headings."""

import re
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import parsers
from knowledge.parsers.blocks import Block, ParsedDocument, block
from knowledge.parsers.encoding import read_text
from knowledge.parsers.limits import ParseLimits

_NUMBER = "[0-9零〇一二三四五六七八九十百千]+"
_CHAPTER = re.compile(rf"\s*第\s*{_NUMBER}\s*([编篇部章节])(?:[\s:：][^。！？；]{{0,40}})?\s*")
_LEVELS = {"编": 1, "篇": 1, "部": 1, "章": 1, "节": 2}
_CHINESE_SECTION = re.compile(r"[一二三四五六七八九十]{1,3}、[^。！？；，]{1,30}")
_CAPITALS = re.compile(r"(?:\d+(?:\.\d+)*[.)]?\s+)?[A-Z][^a-z]{2,60}[^a-z.,;:]")


class TextParser:
    name = "text"
    mime_types = ("text/plain",)
    extensions = (".txt", ".text", ".log")
    preload: tuple[str, ...] = ()
    is_heavy = False

    def recognises(self, path: Path) -> bool:
        return detect.is_text(path)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        blocks: list[Block] = []
        lines: list[str] = []
        for line in [*read_text(path, limits).split("\n"), ""]:
            level = _heading_level(line, is_first=not lines)
            if line.strip() and not level:
                lines.append(line.rstrip())
                continue
            blocks += block("paragraph", "\n".join(lines))
            lines = []
            if level:
                blocks += block("heading", line, level=level)
        return ParsedDocument(blocks=tuple(blocks))


def _heading_level(line: str, *, is_first: bool) -> int | None:
    """The level of a line that is a title by its form; most forms count only at the top of a paragraph."""
    if chapter := _CHAPTER.fullmatch(line):
        return _LEVELS[chapter[1]]
    if is_first and (_CHINESE_SECTION.fullmatch(line.strip()) or _CAPITALS.fullmatch(line.strip())):
        return 2
    return None


parsers.add(TextParser.name, TextParser())
