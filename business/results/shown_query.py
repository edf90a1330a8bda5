"""The result of a query on a data source, as an answer keeps and shows it."""

from collections.abc import Iterable
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from business.logical_query.query import StoredQuery
from business.results.cells import is_number, is_year


class ShownValue(BaseModel):
    model_config = ConfigDict(frozen=True)


class TableReach(ShownValue):
    """The columns and units of one table a result may use. table: `schema.table`. units: org units whose rows; None for all rows."""

    table: str
    columns: tuple[str, ...]
    units: tuple[str, ...] | None = None

    def covers(self, other: "TableReach") -> bool:
        """Return whether this reach allows seeing results based on the other."""
        rows = self.units is None or (other.units is not None and set(other.units) <= set(self.units))
        return self.table == other.table and set(other.columns) <= set(self.columns) and rows


class ChartSpec(ShownValue):
    """How a table is drawn: one column names the points, the others are series. Numbers of columns count from 0."""

    type: Literal["bar", "line"]
    label: int
    series: tuple[int, ...]


class ResultMeaning(ShownValue):
    """What a result says, in words of the question's language. window, conditions: as asked. units: org units filtered for the person.

    headline: the sentence; title: the same above a table, without listed values; value: the part of it to stress; note: what limits
    it (`presentation.headline`).
    time_zone: whose days the window counts; "" where there is none. unit, counted: of the figure, as `logical_query.wording` has them.
    """

    headline: str = ""
    title: str = ""
    value: str = ""
    note: str = ""
    figure: str = ""
    unit: str = ""
    counted: str = ""
    window: tuple[str, ...] = ()
    time_zone: str = ""
    conditions: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return headline and note, as every channel says them."""
        return f"{self.headline}\n{self.note}" if self.note else self.headline


class ResultTable(ShownValue):
    """Rows as JSON has them, at most 50. labels: the columns in the question's language, where they are told.

    words: for each column what its values are called in that language, where they are called something else; else empty.
    total: how many there are, None where all of them are here; is_cut: too many bytes.
    """

    columns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    words: tuple[dict[str, str], ...] = ()
    total: int | None = None
    is_cut: bool = False
    elapsed_ms: int = 0

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """Return the names of the columns, and whether there are numbers below."""
        values = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        names = self.labels or self.columns
        return [
            (name, _is_number_column(column, found))
            for name, column, found in zip(names, self.columns, values, strict=True)
        ]


def _is_number_column(column: str, values: Iterable[Any]) -> bool:
    numbers = [value for value in values if value is not None]
    return bool(numbers) and all(is_number(value) and not is_year(column, value) for value in numbers)


class QueryShown(ShownValue):
    """A query that ran. statement: as it was written; sql: what the guard made of it and what ran. sha256: of columns and rows.

    logical_query: what it was compiled from; None for a statement that somebody wrote. asked_on: the day for which its times
    were computed.
    """

    query_id: str
    question: str
    statement: str
    sql: str
    sha256: str
    reach: tuple[TableReach, ...] = ()
    meaning: ResultMeaning = ResultMeaning()
    table: ResultTable = ResultTable()
    chart: ChartSpec | None = None
    logical_query: StoredQuery = None
    asked_on: date | None = None

    @property
    def evidence_id(self) -> str:
        return f"sql:{self.query_id}:rowset:{self.sha256[:8]}"

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(reach.table for reach in self.reach)
