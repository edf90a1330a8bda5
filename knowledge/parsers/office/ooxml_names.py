"""Names in the XML of Office files, and how their values are read. W: of Word, A: of drawings, M: of formulas."""

import re
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
VAL = f"{W}val"
_WHOLE = re.compile(r"-?\d{1,12}")


def value_of(tree: Any, name: str) -> str | None:
    """Return the value of a child; None where there is no such child."""
    child = tree.find(W + name) if tree is not None else None
    return child.get(VAL, "") if child is not None else None


def parse_whole_number(text: str | None) -> int:
    """Read a whole number; 0 where it is none."""
    return int(text) if text and _WHOLE.fullmatch(text.strip()) else 0


def is_on(toggle: Any) -> bool:
    """Tell whether an on/off property is present and on."""
    return toggle is not None and toggle.get(VAL, "1") not in ("0", "false", "off")
