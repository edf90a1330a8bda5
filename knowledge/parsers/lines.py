"""Joining of lines that were wrapped to fit a page."""

import re
from collections.abc import Iterable

WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]")
_WHITE = re.compile("[ \t\n\r\f]+")
_WRAPPED = re.compile(f"(?<={WIDE.pattern})[ \t\r]*\n[ \t\r\n]*(?={WIDE.pattern})")


def join_lines(lines: Iterable[str]) -> str:
    """Join wrapped lines: a space between words, nothing between Chinese characters."""
    joined = ""
    for line in (line.strip() for line in lines):
        if joined and line:
            between_wide = WIDE.match(joined[-1]) and WIDE.match(line[0])
            joined += "" if between_wide else " "
        joined += line
    return joined


def collapse_white_space(text: str) -> str:
    """Return text of a markup as a page shows it: any white space is one space, and none where a line ends between Chinese characters."""
    return _WHITE.sub(" ", _WRAPPED.sub("", text) if "\n" in text else text)
