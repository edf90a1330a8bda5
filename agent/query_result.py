"""The result of a query on a data source: what an answer keeps of it, and what it shows."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class TableReach(Value):
    """What of one table a result may stand on. table: `schema.table`. units: org units whose rows; None where it has none."""

    table: str
    columns: tuple[str, ...]
    units: tuple[str, ...] | None = None

    def covers(self, other: "TableReach") -> bool:
        """Whether whoever has this reach may see what stands on the other."""
        rows = self.units is None or (other.units is not None and set(other.units) <= set(self.units))
        return self.table == other.table and set(other.columns) <= set(self.columns) and rows


class ChartSpec(Value):
    """How a table is drawn: one column names the points, the others are series. Numbers of columns count from 0."""

    type: Literal["bar", "line"]
    label: int
    series: tuple[int, ...]


class Meaning(Value):
    """What a result says, in words of the question's language. window, conditions: as asked. units: org units filtered for the person.

    time_zone: whose days the window counts; "" where there is none.
    """

    headline: str = ""
    figure: str = ""
    window: tuple[str, ...] = ()
    time_zone: str = ""
    conditions: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


class ResultTable(Value):
    """Rows as JSON has them, at most 50. labels: the columns in the question's language, where they are told.

    total: how many there are, None where all of them are here; is_cut: too many bytes.
    """

    columns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    total: int | None = None
    is_cut: bool = False
    elapsed_ms: int = 0

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """The names of the columns, and whether there are numbers below."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        names = self.labels or self.columns
        return [(name, _are_numbers(values)) for name, values in zip(names, columns, strict=True)]


def _are_numbers(values: Iterable[Any]) -> bool:
    told = [value for value in values if value is not None]
    return bool(told) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in told)


class QueryShown(Value):
    """A query that ran. statement: as it was written; sql: what the guard made of it and what ran. sha256: of columns and rows."""

    query_id: str
    question: str
    statement: str
    sql: str
    sha256: str
    reach: tuple[TableReach, ...] = ()
    meaning: Meaning = Meaning()
    table: ResultTable = ResultTable()
    chart: ChartSpec | None = None

    @property
    def evidence_id(self) -> str:
        return f"sql:{self.query_id}:rowset:{self.sha256[:8]}"

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(reach.table for reach in self.reach)
