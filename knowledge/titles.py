"""A title for a document that states none: its file name, as people would write it."""

import re
from pathlib import PurePath

_JOINTS = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")  # a hyphen between digits is part of a date or a number


def title_of(filename: str) -> str:
    """`price-list_2026-07-17.csv` → `Price list 2026-07-17`; a name that has spaces already stays as it is."""
    stem = PurePath(filename).stem
    if " " in stem:
        return stem
    words = " ".join(_JOINTS.sub(" ", stem).split()) or stem
    return words[0].upper() + words[1:] if words[0].islower() and words.isascii() else words
