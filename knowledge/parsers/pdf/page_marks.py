"""Location of a quotation on a PDF's page, letter by letter. Runs in the confined child, as everything that opens a stranger's file."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

import pypdfium2 as pdfium

from knowledge.parsers.blocks import Box, PageMarks, compute_bounding_box
from knowledge.parsers.pdf.characters import Placement, iterate_characters
from knowledge.parsers.pdf.page_image import is_pdf

MIN = 0.5  # share of the quotation that has to be found
SLACK = 0.006  # share of the page around the boxes of a block in which its letters stand
SHORTEST = 4  # letters in a row that count as found: shorter runs are everywhere


@dataclass(frozen=True)
class _Letter:
    """A letter or digit as it is compared, and its place."""

    folded: str
    box: Box


def locate_quotation(path: Path, number: int, quoted: str, within: Sequence[Box]) -> PageMarks | None:
    """Return the quotation on a page; None for other files, or without such a page. number: from 1. within: the blocks that hold it.

    Letters and digits alone are compared: white space, hyphens at line ends and signs differ between a page and its text.
    """
    if not is_pdf(path):
        return None
    with pdfium.PdfDocument(path) as document:
        if not 1 <= number <= len(document):
            return None
        page = document[number - 1]
        width, height = page.get_size()
        letters = [item for item in _read_letters(page, width, height) if _is_within(item.box, within)]
        return PageMarks(
            width, height, tuple(_build_line_boxes(_match_quotation(letters, "".join(_fold_text(quoted)))))
        )


def _read_letters(page: pdfium.PdfPage, width: float, height: float) -> Iterator[_Letter]:
    place, textpage = Placement(page), page.get_textpage()
    for index, char in iterate_characters(textpage):
        for folded in _fold_text(char):
            x0, y0, x1, y1 = place.box_of(textpage, index)
            yield _Letter(folded, (x0 / width, y0 / height, x1 / width, y1 / height))


def _fold_text(text: str) -> Iterator[str]:
    return (char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def _is_within(box: Box, blocks: Iterable[Box]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(x0 - SLACK <= x <= x1 + SLACK and y0 - SLACK <= y <= y1 + SLACK for x0, y0, x1, y1 in blocks)


def _match_quotation(letters: Sequence[_Letter], wanted: str) -> list[_Letter]:
    """Return the letters of the quotation: all of them in a row, else the pieces that are found, where they are half of it."""
    text = "".join(item.folded for item in letters)
    start = text.find(wanted) if wanted else -1
    if start >= 0:
        return list(letters[start : start + len(wanted)])
    runs = SequenceMatcher(None, text, wanted, autojunk=False).get_matching_blocks()
    found = [letters[run.a + step] for run in runs if run.size >= SHORTEST for step in range(run.size)]
    return found if wanted and len(found) >= MIN * len(wanted) else []


def _build_line_boxes(letters: Sequence[_Letter]) -> Iterator[Box]:
    """Return one box around the letters of each line, in their order."""
    number, before = 0, None
    numbered = []
    for letter in letters:
        x0, y0, _x1, y1 = letter.box
        if before is not None and (x0 < before[0] or not y0 < (before[1] + before[3]) / 2 < y1):
            number += 1
        numbered.append((number, letter.box))
        before = letter.box
    for _number, line in groupby(numbered, key=lambda item: item[0]):
        yield compute_bounding_box(box for _at, box in line)
