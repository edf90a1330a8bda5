"""Random tables as files, with what each cell says and under which names, in the form of `expected.json` of `evaluate_parsing`.

Names of columns stand in up to three rows, marked as the format marks them, or told by the numbers below. A format is not asked for
what it cannot say: Markdown has one row of names and no spans, CSV no spans.
"""

import csv
import html
import io
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from knowledge.text.pipe_table import format_row, format_rule

TOPS = ("First half", "Second half", "Plan", "Actual", "北区", "Outbound")
NAMES = ("Open", "Damaged", "Returned", "Fee", "Weight", "数量", "Share", "Limit", "Stock", "Cycles")
THINGS = ("Pump", "Valve", "Crane", "Ramp", "Hose", "阀门", "Relay", "Gate")
WORDS = ("locked", "in use", "不可用", "needs a new seal", "no fault found", "out of order until it is inspected")


@dataclass(frozen=True)
class Value:
    """What a cell shows. typed, number_format: how a sheet keeps it. raised: how many characters at the end are superscripts."""

    shown: str
    typed: Any = None
    number_format: str = "General"
    raised: int = 0

    @property
    def parts(self) -> tuple[str, str]:
        """The text, and its superscript in ordinary digits."""
        end = len(self.shown) - self.raised
        return self.shown[:end], self.shown[end:].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789−"))


@dataclass(frozen=True)
class Placed:
    """A cell on the grid; height, width: the places that it takes."""

    row: int
    column: int
    value: Value
    height: int = 1
    width: int = 1


@dataclass
class Sample:
    """A table. paths: the names of each column, outermost first; head: how many rows they take, the first of the grid."""

    paths: Sequence[tuple[str, ...]]
    head: int
    cells: list[Placed] = field(default_factory=list)
    expected: list[dict[str, Any]] = field(default_factory=list)
    height: int = 0

    @property
    def width(self) -> int:
        return len(self.paths)

    @property
    def lines(self) -> list[list[str]]:
        """The rows without spans: where a cell takes several places, the first one says it."""
        rows = [[""] * self.width for _ in range(self.height)]
        for cell in self.cells:
            rows[cell.row][cell.column] = cell.value.shown
        return rows


def _kinds(chance: random.Random) -> list[Value]:
    n, x = chance.randrange(1_000, 2_000_000), chance.randrange(10, 999)
    day = date(2026, 1, 1) + timedelta(days=x)
    power = chance.choice(["⁶", "¹²", "⁻³"])
    return [
        Value(f"{n:,}", n, "#,##0"),
        Value(f"€{n / 100:,.2f}", n / 100, '"€"#,##0.00'),
        Value(f"{x / 10:.1f}%", x / 1000, "0.0%"),
        Value(f"{x:05}", x, "00000"),
        Value(day.isoformat(), day, "yyyy-mm-dd"),
        Value(str(x), x),
        Value(f"{x // 24 + 24}:{x % 60:02}", timedelta(hours=x // 24 + 24, minutes=x % 60), "[h]:mm"),
        Value(f"{n}{n:07}", int(f"{n}{n:07}")),
        Value(f"{x} 1/2", x + 0.5, "# ?/?"),
        Value(f"{x}E{x % 9 + 1}", f"{x}E{x % 9 + 1}", "@"),
        Value(f"{x}½ h"),
        Value(f"{x} × 10{power}", raised=len(power)),
        Value(chance.choice(WORDS)),
    ]


def _paths(chance: random.Random, width: int, head: int) -> list[tuple[str, ...]]:
    if head == 0:
        return [()] * width
    found: list[tuple[str, ...]] = [(chance.choice(["Item", "名称", "Part no."]),)]
    while len(found) < width:
        if head == 1 or chance.random() < 0.2:
            found.append((f"{chance.choice(NAMES)} {len(found)}",))
            continue
        tops = [f"{chance.choice(TOPS)} {len(found)}"]
        middles = [(*tops, middle) for middle in chance.sample(TOPS, 2)] if head == 3 else [tuple(tops)]
        found += [(*path, name) for path in middles for name in chance.sample(NAMES, 2 if head == 3 else 3)]
    return found[:width]


def _names(paths: Sequence[tuple[str, ...]], head: int) -> Iterator[Placed]:
    for level in range(head):
        column = 0
        while column < len(paths):
            path, width = paths[column], 1
            if level < len(path):
                while column + width < len(paths) and paths[column + width][: level + 1] == path[: level + 1]:
                    width += 1
                yield Placed(level, column, Value(path[level]), head - level if level == len(path) - 1 else 1, width)
            column += width


def make_sample(chance: random.Random, *, most_head: int, has_spans: bool, most_columns: int) -> Sample:
    """A legend of two columns, or a table of things and their values, in groups where cells may span columns."""
    is_legend = chance.random() < 0.1
    head = 0 if is_legend else chance.randint(0, most_head)
    width = 2 if is_legend else chance.choice([3, 4, 6, 9, 14, most_columns])
    sample = Sample(_paths(chance, width, head), head)
    sample.cells += _names(sample.paths, head)
    kinds = [chance.choice([0, 1, 2, 5]), *(chance.randrange(len(_kinds(chance))) for _ in range(width))]
    things = [f"{chance.choice(THINGS)} {chr(65 + n)}" for n in range(chance.randint(4, 10))]
    groups = (
        {0: "North yard", len(things) // 2: "南侧"} if has_spans and not is_legend and chance.random() < 0.3 else {}
    )
    row, group = head, ""
    for n, thing in enumerate(things):
        if n in groups:
            group = groups[n]
            sample.cells.append(Placed(row, 0, Value(group), 1, width))
            row += 1
        sample.cells.append(Placed(row, 0, Value(thing)))
        column = 1
        while column < width:
            value = Value(f"{chance.choice(WORDS)}, {n}") if is_legend else _kinds(chance)[kinds[column - 1]]
            span = 2 if has_spans and 1 < column < width - 1 and chance.random() < 0.03 else 1
            sample.cells.append(Placed(row, column, value, 1, span))
            keys = [group, thing] if group else [thing]
            sample.expected += [
                {"cell": value.shown, "row": keys, "column": list(path)}
                for path in sample.paths[column : column + span]
            ]
            column += span
        row += 1
    sample.height = row
    return sample


# --- writers: each gives the parts that stand beside the table ------------------------------------------------------

Parts = list[dict[str, str]]


def write_html(sample: Sample, path: Path, chance: random.Random) -> Parts:
    is_thead, rows = chance.random() < 0.5, [""] * sample.height
    for cell in sample.cells:
        tag = "td" if cell.row >= sample.head or is_thead else "th"
        base, raised = map(html.escape, cell.value.parts)
        said = base + (f"<sup>{raised}</sup>" if raised else "")
        rows[cell.row] += f'<{tag} colspan="{cell.width}" rowspan="{cell.height}">{said}</{tag}>'
    head, body = ("".join(f"<tr>{row}</tr>" for row in part) for part in (rows[: sample.head], rows[sample.head :]))
    table = f"<table><thead>{head}</thead>{body}</table>" if is_thead and head else f"<table>{head}{body}</table>"
    address = f"https://example.org/{chance.randrange(10**6)}"
    path.write_text(f'<h1>Yard</h1><p>See the <a href="{address}">rules</a>.</p>{table}', "utf-8")
    return [{"part": "link", "text": address}]


def write_markdown(sample: Sample, path: Path, chance: random.Random) -> Parts:
    names = sample.lines[0] if sample.head else [""] * sample.width
    rows = [names, *sample.lines[sample.head :]]
    lines = [format_row(rows[0]), format_rule(sample.width), *map(format_row, rows[1:])]
    path.write_text("# Yard\n\n" + "\n".join(lines) + "\n", "utf-8")
    return []


def write_csv(sample: Sample, path: Path, chance: random.Random) -> Parts:
    out, delimiter = io.StringIO(), chance.choice(",;\t")
    csv.writer(out, delimiter=delimiter).writerows(sample.lines)
    first = f"sep={delimiter}\r\n" if delimiter == ";" and chance.random() < 0.5 else ""
    path.write_text(first + out.getvalue(), "utf-8", newline="")
    return []


def write_xlsx(sample: Sample, path: Path, chance: random.Random) -> Parts:
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book, mark = Workbook(), chance.choice(["frozen", "bold", ""])
    sheet = book.active
    for cell in sample.cells:
        at = sheet.cell(
            cell.row + 1, cell.column + 1, cell.value.shown if cell.value.typed is None else cell.value.typed
        )
        at.number_format = cell.value.number_format
        if cell.row < sample.head and mark == "bold":
            at.font = Font(bold=True)
        if cell.height * cell.width > 1:
            ends = {"end_row": cell.row + cell.height, "end_column": cell.column + cell.width}
            sheet.merge_cells(start_row=cell.row + 1, start_column=cell.column + 1, **ends)
    if sample.head and mark == "frozen":
        sheet.freeze_panes = f"A{sample.head + 1}"
    sheet.cell(sample.height + 1, 2, "=1+1")
    book.save(path)
    return [{"part": "formulas", "text": "=1+1"}]


def write_docx(sample: Sample, path: Path, chance: random.Random) -> Parts:
    from docx import Document
    from docx.oxml import OxmlElement

    document, number = Document(), f"YD-{chance.randrange(10**6)}"
    document.sections[0].header.paragraphs[0].text = f"Document no. {number}"
    document.add_heading("Yard")
    table = document.add_table(sample.height, sample.width)
    rows = [list(row.cells) for row in table.rows]
    for cell in sample.cells:
        last = rows[cell.row + cell.height - 1][cell.column + cell.width - 1]
        at = rows[cell.row][cell.column]
        base, raised = cell.value.parts
        paragraph = (at if last is at else at.merge(last)).paragraphs[0]
        paragraph.add_run(base)
        if raised:
            paragraph.add_run(raised).font.superscript = True
    if chance.random() < 0.7:
        for row in table.rows[: sample.head]:
            row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    document.save(str(path))
    return [{"part": "running", "text": number}]


def write_pptx(sample: Sample, path: Path, chance: random.Random) -> Parts:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    deck, number = Presentation(), chance.randrange(1_000, 10_000)
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(sample.height, sample.width, 0, 0, 9_000_000, 3_000_000).table
    table.first_row = sample.head > 0
    for cell in sample.cells:
        at = table.cell(cell.row, cell.column)
        if cell.height * cell.width > 1:
            at.merge(table.cell(cell.row + cell.height - 1, cell.column + cell.width - 1))
        base, raised = cell.value.parts
        at.text_frame.paragraphs[0].add_run().text = base
        if raised:
            run = at.text_frame.paragraphs[0].add_run()
            run.text = raised
            run._r.get_or_add_rPr().set("baseline", "30000")
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Q1", "Q2"]
    data.add_series("Moved", (number, number + 1))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 3_000_000, 3_000_000, data)
    deck.save(str(path))
    return [{"part": "charts", "text": str(number)}]


@dataclass(frozen=True)
class Format:
    write: Callable[[Sample, Path, random.Random], Parts]
    most_head: int = 3
    has_spans: bool = True
    most_columns: int = 200


FORMATS = {
    "html": Format(write_html),
    "docx": Format(write_docx, most_columns=40),
    "xlsx": Format(write_xlsx),
    "csv": Format(write_csv, most_head=1, has_spans=False),
    "md": Format(write_markdown, most_head=1, has_spans=False),
    "pptx": Format(write_pptx, most_columns=20),
}


def make_tables(folder: Path, *, seed: int, count: int) -> list[dict[str, Any]]:
    """Write so many files in turn of each format; returns what is expected of them, the content of expected.json."""
    chance, expected = random.Random(seed), []
    for number in range(count):
        name, each = list(FORMATS.items())[number % len(FORMATS)]
        sample = make_sample(chance, most_head=each.most_head, has_spans=each.has_spans, most_columns=each.most_columns)
        source = f"{number:04}.{name}"
        parts = each.write(sample, folder / source, chance)
        expected += [{"source": source, **found} for found in [*sample.expected, *parts]]
    return expected
