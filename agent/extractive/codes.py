"""Codes of things (KG-400, R-2602, SI-2026-08): another code is another thing, and one with a suffix is a variant of it.

A similarity sees KG-400 and KG-600 as nearly the same, and a person who asks for KG-400 means KG-400-L and KG-400-N alike.
"""

import re
from collections.abc import Collection

_CODE = re.compile(r"(?<![A-Za-z\d-])[A-Za-z]{1,5}-?\d{2,}(?:-[A-Za-z\d]+)*(?![A-Za-z\d])")
_FIRST_CELL = re.compile(r"(?:[^;]*?: )?([^;]+)")


def codes_in(text: str) -> frozenset[str]:
    """The codes that a text names, in lower case: letters and at least two digits."""
    return frozenset(found.lower() for found in _CODE.findall(text))


def names(text: str, codes: Collection[str]) -> bool:
    """Whether a text names one of the codes, or a variant of one."""
    return any(is_variant(found, code) for found in codes_in(text) for code in codes)


def is_variant(code: str, asked: str) -> bool:
    """Whether a code is the one asked for, or that with a suffix."""
    return code == asked or code.startswith(f"{asked}-")


def names_others(text: str, codes: Collection[str]) -> bool:
    """Whether a text names codes of the same series as those asked for (KG-600 beside KG-400), and none of them."""
    found = codes_in(text)
    series = {_series(code) for code in codes}
    return any(_series(code) in series for code in found) and not names(text, codes)


def is_row_of(text: str, codes: Collection[str]) -> bool:
    """Whether a table row, said with its header, is about one of the codes: its first cell names it."""
    cell = _FIRST_CELL.match(text)
    return cell is not None and names(cell[1], codes)


def _series(code: str) -> str:
    return re.split(r"[-\d]", code, maxsplit=1)[0]
