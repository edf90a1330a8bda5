"""Folding of names, titles and headings to one line: a line break would add a paragraph, a source or a rule elsewhere."""

import re
from typing import Annotated
from unicodedata import category

from pydantic import AfterValidator

# Unicode's breaks, controls, halves of pairs, and what turns the direction
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = "\u200c\u200d"  # which spell Persian and Indic words, and emoji
_FOLDED = re.compile(r" *\n[ \n]*")


def fold_to_one_line(text: str) -> str:
    """Return the text with a space for each run of line breaks, controls and invisible formatting characters."""
    if text.isprintable():
        return text
    shown = "".join("\n" if category(c) in UNSEEN and c not in JOINERS else c for c in text)
    return _FOLDED.sub(" ", shown).strip(" ")


def tidy_line(text: str) -> str:
    """Return a given name for storage: one line with single spaces."""
    return " ".join(fold_to_one_line(text).split())


Line = Annotated[str, AfterValidator(fold_to_one_line)]
"""A field of pydantic that is one line, whatever is read into it."""
