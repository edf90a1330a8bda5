"""`manage.py evaluate_parsing DIR --json OUT`: measure how true our parsers are to files, beside markitdown.

DIR holds pairs.json, a list of {"source", "groundtruth"} (a file and its text as Markdown), and expected.json, a list of
{"source", "cell", "row", "column"} (a cell with the names of its row and column, from the outermost) and {"source", "part", "text"}
(a footnote, link, chart, formula … and what it says; `part` is a key of `knowledge.parsers.losses.LOSSES` where there is one for it).

- numbers_unchanged: the share of the numbers of the references and expected cells that occur unchanged in the output. Numbers are words
  with digits, with their signs, currencies, percent signs, superscripts and fractions.
- headers_right: the share of the expected cells that the output's tables hold under exactly their row and their column. A row is known by
  its first cell, or its first two, and the title of its group. Markdown names columns above its rule.
- token_f1: F1 of the words (characters of Chinese) against the references, the mean of the files.
- unreported_losses: how many of the expected parts neither occur in the output nor are named as not read.

Markup of emphasis, escapes and `<sup>` do not count as changes. The peer is scored on the files that it can open, ours on all: `files`.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.progress import show_progress_bar
from evals.command import ReportCommand
from knowledge.parsers.base import ParseLimits, UnreadableFile, load_parsers
from knowledge.parsers.blocks import Block
from knowledge.parsers.detect import find_parser
from knowledge.parsers.tables import JOINED
from knowledge.text.pipe_table import parse_cells

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TOKEN = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")  # the tokens of docparse's own measurement
_DIGIT = "0-9\u00b2\u00b3\u00b9\u2070-\u2079\u00bc-\u00be\u2150-\u215e"
_INSIDE = r"[^\s|<>\u2e80-\u9fff\uff00-\uffef]*"
_NUMBER = re.compile(f"{_INSIDE}[{_DIGIT}]{_INSIDE}")
_EDGES = ".,;:!?()[]{}\"'“”‘’„*_~`#\\"
_ESCAPED = re.compile(r"\\([^\w\s])")
_MATH = re.compile(r"\$\$?[^$\n]*(?:\\|[\^_]\{)[^$\n]*\$\$?")
_TARGET = re.compile(r"\]\([^()\s]*\)")
_RAISED = re.compile(r"<sup>([0-9+\-−–]+)</sup>")
_SUPERSCRIPTS = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")

Row = tuple[str, ...]


@dataclass(frozen=True)
class ParsedTable:
    """The rows of a table. names: the path of names of each column; () where it has none."""

    rows: Sequence[Row]
    names: Sequence[Row] = ()


@dataclass(frozen=True)
class Read:
    """The output of a reader. more: found beside the text (addresses of links, fields). losses: kinds named as not read."""

    text: str = ""
    tables: Sequence[ParsedTable] = ()
    more: Sequence[str] = ()
    losses: Sequence[str] = ()


Reader = Callable[[Path], Read]


@dataclass
class Expected:
    """The known content of a file: its text, cells with the paths of their row and column, and parts as (kind, text)."""

    text: str = ""
    cells: list[tuple[Row, Row, str]] = field(default_factory=list)
    parts: list[tuple[str, str]] = field(default_factory=list)


class Command(ReportCommand):
    help = "Measure how true our parsers are to the files in a folder, beside markitdown."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds pairs.json, expected.json or both")
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        load_parsers()
        expected = expected_of(options["folder"])
        readers = {"ours": ours, "markitdown": markitdown()}
        return {name: self._figures(options["folder"], expected, name, read) for name, read in readers.items()}

    def print_report(self, report: dict[str, Any]) -> None:
        rows = [["", *report["ours"]], *([name, *map(str, item.values())] for name, item in report.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def _figures(self, folder: Path, expected: dict[str, Expected], name: str, read: Reader) -> dict[str, Any]:
        score = Score()
        for source, known in show_progress_bar(list(expected.items()), desc=name, unit="file"):
            try:
                given = read(folder / source)
            except Exception as error:
                if name == "ours":
                    raise
                self.stderr.write(f"{name} cannot open {source} ({type(error).__name__}).")
            else:
                score.add(known, given)
        return score.figures


class Score:
    """Sums over files."""

    def __init__(self) -> None:
        self.sums, self.f1 = Counter[str](), list[float]()

    def add(self, expected: Expected, read: Read) -> None:
        reference = numbers_in(" | ".join([expected.text, *(cell for *_, cell in expected.cells)]))
        found = numbers_in(read.text)
        reported = {entry for table in read.tables for entry in reported_in(table)}
        words = plain("\n".join([read.text, *read.more]))
        self.sums.update(
            files=1,
            numbers=reference.total(),
            unchanged=sum(count for number, count in reference.items() if number in found),
            cells=len(expected.cells),
            right=sum(item in reported for item in expected.cells),
            lost=sum(text not in words and kind not in read.losses for kind, text in expected.parts),
        )
        if expected.text:
            self.f1.append(token_f1(read.text, expected.text))

    @property
    def figures(self) -> dict[str, float | int | None]:
        """Return the figures; a share of nothing is None."""
        sums = self.sums
        return {
            "numbers_unchanged": round(sums["unchanged"] / sums["numbers"], 4) if sums["numbers"] else None,
            "headers_right": round(sums["right"] / sums["cells"], 4) if sums["cells"] else None,
            "token_f1": round(sum(self.f1) / len(self.f1), 4) if self.f1 else None,
            "unreported_losses": sums["lost"],
            "files": sums["files"],
        }


def expected_of(folder: Path) -> dict[str, Expected]:
    """Read what is expected, by the path of the file below the folder. Raises InvalidInput."""
    found: dict[str, Expected] = {}
    try:
        for pair in _listed(folder / "pairs.json"):
            found.setdefault(pair["source"], Expected()).text = (folder / pair["groundtruth"]).read_text("utf-8")
        for item in _listed(folder / "expected.json"):
            known = found.setdefault(item["source"], Expected())
            if "part" in item:
                known.parts.append((item["part"], item["text"]))
            else:
                known.cells.append((_row(item["row"]), _row(item["column"]), plain(item["cell"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{folder} cannot be read as an evaluation of parsing ({error!r}).") from error
    if missing := [name for name in found if not (folder / name).is_file()]:
        raise InvalidInput(f"{folder} has no file {missing[0]}.")
    if not found:
        raise InvalidInput(f"{folder} holds neither pairs.json nor expected.json.")
    return found


def _listed(path: Path) -> list[Mapping[str, Any]]:
    return list(json.loads(path.read_text("utf-8"))) if path.exists() else []


def _row(texts: Sequence[str]) -> Row:
    return tuple(plain(text) for text in texts)


def ours(path: Path) -> Read:
    """Read a file by our parsers; nothing of it where they refuse it."""
    try:
        parsed = find_parser(path, path.name).parse(path, ParseLimits())
    except UnreadableFile:
        return Read()
    text = replace(parsed, blocks=tuple(map(_with_targets, parsed.blocks))).text
    return Read(text, tables_in_markdown(parsed.text), list(parsed.fields.values()), list(parsed.losses))


def markitdown() -> Reader:
    """Return the peer's reader. Raises InvalidInput where it is not installed."""
    if find_spec("markitdown") is None:
        raise InvalidInput("markitdown is not installed; pip install -r requirements/test-all.txt brings it.")
    from markitdown import MarkItDown

    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    converter = MarkItDown(enable_plugins=False)

    def read(path: Path) -> Read:
        text = converter.convert(path).markdown
        return Read(text, tables_in_markdown(text))

    return read


def _with_targets(block: Block) -> Block:
    """Write the links of a block as Markdown."""
    text = block.text
    for start, end, address in sorted(block.links, reverse=True):
        text = f"{text[:start]}[{text[start:end]}]({address}){text[end:]}"
    return replace(block, text=text)


def tokens(text: str) -> Counter[str]:
    return Counter(_TOKEN.findall(_COMMENT.sub("", text).lower()))


def token_f1(found: str, expected: str) -> float:
    a, b = tokens(found), tokens(expected)
    return 2 * (a & b).total() / ((a.total() + b.total()) or 1)


def numbers_in(text: str) -> Counter[str]:
    """Count the words with digits as they are written: sign, currency, percent, superscripts and fractions belong to them.

    Targets of links are none, nor what only LaTeX can say.
    """
    text = _TARGET.sub("] ", _MATH.sub(" ", _COMMENT.sub("", text)))
    return Counter(found[0].strip(_EDGES) for found in _NUMBER.finditer(plain(text)))


def plain(text: str) -> str:
    """Return a text without the markup of emphasis and escapes, each line with single spaces; `<sup>` as Unicode has it."""
    text = _RAISED.sub(lambda found: found[1].translate(_SUPERSCRIPTS), text)
    text = _ESCAPED.sub(r"\1", text).replace("**", "").replace("~~", "")
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()


def tables_in_markdown(text: str) -> list[ParsedTable]:
    """Read pipe tables: the line above a rule names the columns, several names joined as ours are."""
    found = []
    for is_table, lines in groupby(text.split("\n"), lambda line: line.lstrip().startswith("|")):
        rows = [parse_cells(line) for line in lines] if is_table else []
        rule = next((n for n, row in enumerate(rows[:2]) if _RULE.fullmatch("|".join(row))), None)
        if rows:
            names = [_path(name.split(JOINED)) for name in rows[0]] if rule else ()
            found.append(ParsedTable([_row(row) for row in rows[0 if rule is None else rule + 1 :]], names))
    return found


def _path(names: Sequence[str]) -> Row:
    return tuple(name for name, _ in groupby(plain(name) for name in names) if name)


def reported_in(table: ParsedTable) -> Iterator[tuple[Row, Row, str]]:
    """Give each cell with the paths of row and column that it may be found under.

    A row is known by its first cell, its first two, or its first below the title of its group: a row with one text alone.
    """
    group = ""
    for row in table.rows:
        if len(set(filter(None, row))) == 1 and row[0]:
            group = row[0]
        for column, cell in enumerate(row):
            under = table.names[column] if column < len(table.names) else ()
            yield from ((key, under, cell) for key in (row[:1], row[:2], (group, row[0])))
