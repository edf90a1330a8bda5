"""Titles of documents: a file's own title, unless a program made it up, else one from the file name."""

import re
from pathlib import PurePath

_JOINTS = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")  # a hyphen between digits is part of a date or a number

# what office programs, printers and browsers fill in by themselves
_NO_TITLE = re.compile(
    r"untitled|无标题|^\(?anonymous|microsoft (word|excel|powerpoint)|^powerpoint (presentation|演示文稿)$"
    r"|^(document|presentation|slide|book|文档|演示文稿|幻灯片|工作簿) ?\d+$|^(about|file|https?|data|blob):\S*$"
    r"|\.(docx?|pdf|tex|indd|pptx?|xlsx?)$|^[\W\d_]*$",
    re.IGNORECASE,
)


def clean_stated_title(text: str) -> str:
    """Return the title in a file's own properties; "" where a program filled it in by itself."""
    title = text.strip()
    return "" if _NO_TITLE.search(title) else title


def build_title(filename: str) -> str:
    """Return a title from a file name: `price-list_2026-07-17.csv` → `Price list 2026-07-17`; a name with spaces stays."""
    stem = PurePath(filename).stem
    if " " in stem:
        return stem
    words = " ".join(_JOINTS.sub(" ", stem).split()) or stem
    return words[0].upper() + words[1:] if words[0].islower() and words.isascii() else words


def is_title_from_filename(filename: str, title: str) -> bool:
    """Tell whether a title comes from the file name: by `build_title`, or as the bare stem of older documents."""
    return title in (build_title(filename), PurePath(filename).stem)
