"""Text of a DOCX file that has no place on its pages: in the code of a field, in a shape or frame that lies elsewhere, without room."""

import re
from typing import Any

from knowledge.parsers.hidden import HiddenReason

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_VAL = f"{_WORD}val"
_LEAST_TWIPS = 30  # of a line's or a row's exact height
_FAR_TWIPS = (-10_000, 31_680)  # from the margin; 31,680 is Word's largest page
_LEAST_EMU = 12_700  # of a shape's side: a point
_FAR_EMU = (-2_000_000, 20_116_800)
_UNSEEN_STYLE = re.compile(r"(?:visibility\s*:\s*hidden|display\s*:\s*none)", re.IGNORECASE)


class Fields:
    """Which runs stand in the code of a field, which Word computes and does not show. Runs are asked about in their order."""

    def __init__(self, tree: Any) -> None:
        self._code: set[Any] = set()
        open_fields: list[list[Any]] = []  # of each the runs of its code, while it is read
        is_code: list[bool] = []
        for element in tree.iter(f"{_WORD}r", f"{_WORD}fldChar"):
            if element.tag == f"{_WORD}r":
                for runs, reads in zip(open_fields, is_code, strict=True):
                    if reads:
                        runs.append(element)
                continue
            kind = element.get(f"{_WORD}fldCharType")
            if kind == "begin":
                open_fields.append([])
                is_code.append(True)
            elif kind == "separate" and is_code:
                is_code[-1] = False
            elif kind == "end" and open_fields:  # one that never ends hides nothing
                self._code.update(open_fields.pop())
                is_code.pop()

    def holds(self, run: Any) -> bool:
        return run in self._code


def why_unplaced(run: Any) -> HiddenReason | None:
    """Why nobody sees a run where it stands; None where they do."""
    for above in run.iterancestors():
        name = above.tag if isinstance(above.tag, str) else ""
        if name == f"{_WORD}p" and _is_paragraph_away(above):
            return HiddenReason.OUTSIDE
        if name == f"{_WORD}tr" and (reason := _row(above)):
            return reason
        if name in (f"{_DRAWN}anchor", f"{_DRAWN}inline") and (reason := _shape(above)):
            return reason
        if name.startswith("{urn:schemas-microsoft-com:vml}") and _UNSEEN_STYLE.search(above.get("style") or ""):
            return HiddenReason.NOT_DISPLAYED
    return None


def _is_paragraph_away(paragraph: Any) -> bool:
    properties = paragraph.find(f"{_WORD}pPr")
    if properties is None:
        return False
    spacing, indent, frame = (properties.find(f"{_WORD}{name}") for name in ("spacing", "ind", "framePr"))
    if (
        spacing is not None
        and spacing.get(f"{_WORD}lineRule") == "exact"
        and 0 < _number(spacing, "line") < _LEAST_TWIPS
    ):
        return True
    moved = [_number(indent, "left") or _number(indent, "start")] if indent is not None else []
    moved += [_number(frame, "x"), _number(frame, "y")] if frame is not None else []
    return any(not _FAR_TWIPS[0] < each < _FAR_TWIPS[1] for each in moved)


def _row(row: Any) -> HiddenReason | None:
    properties = row.find(f"{_WORD}trPr")
    if properties is None:
        return None
    if properties.find(f"{_WORD}del") is not None:
        return HiddenReason.DELETED
    height = properties.find(f"{_WORD}trHeight")
    is_exact = height is not None and height.get(f"{_WORD}hRule") == "exact"
    return HiddenReason.ROW if is_exact and 0 < _number(height, "val") < _LEAST_TWIPS else None


def _shape(shape: Any) -> HiddenReason | None:
    properties, extent = shape.find(f"{_DRAWN}docPr"), shape.find(f"{_DRAWN}extent")
    if properties is not None and properties.get("hidden") in ("1", "true"):
        return HiddenReason.NOT_DISPLAYED
    sizes = [_whole(extent.get(name)) for name in ("cx", "cy")] if extent is not None else []
    if any(size < _LEAST_EMU for size in sizes):
        return HiddenReason.TOO_SMALL
    for name, size in zip(("positionH", "positionV"), sizes, strict=False):
        offset = _whole(shape.findtext(f"{_DRAWN}{name}/{_DRAWN}posOffset"))
        if offset + size < _FAR_EMU[0] or offset > _FAR_EMU[1]:
            return HiddenReason.OUTSIDE
    return None


def _number(element: Any, name: str) -> int:
    return _whole(element.get(f"{_WORD}{name}"))


def _whole(said: str | None) -> int:
    return int(said) if said and re.fullmatch(r"-?\d{1,12}", said.strip()) else 0
