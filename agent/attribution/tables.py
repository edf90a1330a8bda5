"""Parse a query result, or a document table, into typed facts: cells, conditions, scope and number of rows.

Parsed from the text given to the model, so that model and checks use the same facts.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from agent.attribution.quantities import parse_quantities
from agent.text.written_markdown import parse_markdown_blocks
from knowledge.text.pipe_table import parse_cells

Span = tuple[date | None, date | None]

_LINE = re.compile(r"^(?:条件|Conditions)\s*[：:]\s*(.+)$", re.MULTILINE)
_MEANING = re.compile(r"^(?:口径|Definitions)\s*[：:]\s*(.+)$", re.MULTILINE)
_NOTHING = re.compile(
    r"(?:没有符合条件的数据|没有数值|No row fits|No value)(?:[^（(\n]*[（(](?P<conditions>[^\n]*)[）)])?"
)
_PARTIAL = re.compile(r"共\s*([\d,]+)\s*行，显示前\s*([\d,]+)|First\s*([\d,]+)\s*of\s*([\d,]+)\s*rows")
_SCOPE = re.compile(r"(?:^|[，,·])\s*([^，·\n]+?)\s*可见的数据内|(?:^|, | · )in the rows of ([^\n]+)", re.MULTILINE)
_DAYS = re.compile(r"(\d{4}-\d\d-\d\d|…)\s*(?:至|to)\s*(\d{4}-\d\d-\d\d|[^\s；;,，）)]+)")
_COMPARED = re.compile(r"(?P<field>.+?)\s*(?P<sign>[<>]=?|[≤≥≠]|!=|=)\s*(?P<value>.+)")
_VALUE = re.compile(r"^(?:Value|数值)\s*[:：]\s*", re.MULTILINE)  # before a single value, below the headline
_SINGLE = re.compile(r"^(?P<value>-?[\d,]+(?:\.\d+)?)\s*(?P<rest>.*)$")
_CURRENCY = re.compile(r"(?:\d\s*|[（(])(CNY|EUR|USD|GBP|JPY|HKD)\b")


@dataclass(frozen=True)
class TableFilter:
    """One filter of a query. span: of a time, its end excluded; value: of a comparison, with its field and sign."""

    text: str
    span: Span | None = None
    field: str = ""
    sign: str = ""
    value: str = ""


@dataclass(frozen=True)
class EvidenceTable:
    """rows: cells as written. total: number of rows in all; None where the text does not say.

    head: the text before the table. unit: of its amounts, as a quantity's dimension, "" where not given. is_empty: the
    query found nothing, or the number 0. is_single: a single value. scope: whose rows were read, "" for all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    head: str = ""
    total: int | None = None
    conditions: tuple[TableFilter, ...] = ()
    definitions: str = ""
    scope: str = ""
    unit: str = ""
    is_empty: bool = False
    is_single: bool = False

    @property
    def spans(self) -> list[Span]:
        return [condition.span for condition in self.conditions if condition.span]


def parse_cell_number(cell: str) -> Decimal | None:
    """Return the number in a cell: 1,250, -4.2, 1,850 CNY, 42 %; None for a name, a date or an identifier."""
    plain = cell.strip().replace(",", "").replace("−", "-").rstrip(" %％")
    try:
        return Decimal(plain)
    except InvalidOperation:
        found = parse_quantities(cell.lower())
        whole = len(found) == 1 and found[0].end - found[0].start == len(cell.strip())
        return found[0].value if whole else None


def parse_evidence_table(text: str) -> EvidenceTable | None:
    """Return the first table of a text with the conditions and scope written around it.

    None where there is neither a table nor a single value.
    """
    head, columns, rows = _parse_markdown_table(text)
    listed = _LINE.search(text)
    nothing = _NOTHING.search(head)
    told = nothing["conditions"] if nothing and nothing["conditions"] else listed[1] if listed else ""
    conditions = tuple(_parse_condition(part.strip()) for part in re.split(r"[；;]", told) if part.strip())
    meaning, scope, currency = _MEANING.search(text), _SCOPE.search(head), _CURRENCY.search(head)
    found = [first or second for first, second in _SCOPE.findall(head)]
    facts: dict[str, Any] = {
        "head": head, "conditions": conditions, "definitions": meaning[1] if meaning else "",
        "scope": found[0] if scope else "", "unit": f"money {currency[1]}" if currency else "",
    }  # fmt: skip
    if nothing:
        return EvidenceTable((), (), total=0, is_empty=True, is_single=True, **facts)
    if rows:
        partial = _PARTIAL.search(head)
        totals = [int(number.replace(",", "")) for number in partial.groups() if number] if partial else []
        return EvidenceTable(columns, rows, total=max(totals, default=None), **facts)
    value = _VALUE.search(head)
    single = _SINGLE.match(head[value.end() :].split("\n")[0] if value else head.strip())
    if single is None or not (listed or meaning or re.search(r"[（(]", single["rest"])):
        return None
    cell = single["value"]
    return EvidenceTable((single["rest"],), ((cell,),), is_empty=parse_cell_number(cell) == 0, is_single=True, **facts)


def _parse_markdown_table(text: str) -> tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the text before the first table, its columns and its rows.

    For a text without one, the first paragraph alone.
    """
    for block in parse_markdown_blocks(text):
        if block.kind == "table" and block.is_headed:
            columns, _rule, *rows = map(parse_cells, text[block.start : block.end].strip("\n").split("\n"))
            padded = ((*row, *[""] * len(columns))[: len(columns)] for row in rows)
            return text[: block.start].rstrip("\n"), tuple(columns), tuple(padded)
    return text.split("\n\n", maxsplit=1)[0], (), ()


def _parse_condition(text: str) -> TableFilter:
    days = _DAYS.search(text)
    if days:
        end = _parse_day(days[2])
        return TableFilter(text, span=(_parse_day(days[1]), end + timedelta(days=1) if end else None))
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        return TableFilter(text)
    return TableFilter(text, field=compared["field"], sign=compared["sign"], value=compared["value"])


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
