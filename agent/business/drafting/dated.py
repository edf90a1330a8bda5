"""The time that a table's rows are counted by: the one column that says so by its name, or a year and a month made one."""

import re

from agent.business.ask.words.units import stem
from agent.business.drafting.catalog import Column, Table
from agent.business.layer.model import Dimension, Value, Words

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
NAME = "dated"
_RECORDING = re.compile(r"created|crtd|updated|modified|inserted|loaded", re.IGNORECASE)
_START = re.compile(r"(?:^|_)(?:start|begin|started)(?:_|$)", re.IGNORECASE)
_MADE = ("created_at", "created_on", "created", "crtd_ts", "created_ts")
_ENDINGS = ("_date", "_dt", "_time", "_at", "_ts", "date")


def default_time(table: str, dimensions: tuple[Dimension, ...]) -> str:
    """The time of a table's rows; "" where several may be meant.

    Named after the table; else the only date; else when it started; else when the row was made; else the only one there is.
    """
    times = [one.name for one in dimensions if one.type == "time"]
    last = stem(table.split("_", maxsplit=1)[0]), stem(table.rsplit("_", maxsplit=1)[-1])
    kept = [name for name in times if not _RECORDING.search(name)]
    tried = (
        [name for name in times if name.lower() in {f"{own}{end}" for own in last for end in _ENDINGS}],
        [name for name in kept if name.lower().endswith(("date", "_dt"))],
        [name for name in kept if _START.search(name) and len(kept) == len(times)],
        [name for name in times if name.lower() in _MADE and all(one.endswith(("_at", "_ts")) for one in times)],
        times,
    )
    return next((found[0] for found in tried if len(found) == 1), "")


def dated(table: Table, dimensions: tuple[Dimension, ...]) -> Dimension | None:
    """The time of a table's rows made of its year and its month; None where it has a date, or no year."""
    year = next((c for c in table.columns if c.name.lower() == "year" and c.category == "N"), None)
    if year is None or any(one.type == "time" for one in dimensions) or any(one.name == NAME for one in dimensions):
        return None
    month = next((c for c in table.columns if c.name.lower() == "month"), None)
    values = next((one.values for one in dimensions if month is not None and one.name == month.name), ())
    number = _month(month, values) if month else "1"
    date = f"make_date({year.name}::int, {number or 1}, 1)"
    return Dimension(
        name=NAME,
        expr=f"CASE WHEN {year.name} BETWEEN 1 AND 9999 THEN {date} END",
        type="time",
        time_granularity="month" if month and number else "year",
        description=Words(en=f"the first day of the {'month' if month and number else 'year'}"),
    )


def _month(column: Column, values: tuple[Value, ...]) -> str:
    """The number of a month as an expression; "" for a column of something else."""
    names = {value.value for value in values}
    if column.category == "N":
        return f"CASE WHEN {column.name} BETWEEN 1 AND 12 THEN {column.name}::int END"
    for known in (_MONTHS, tuple(month[:3] for month in _MONTHS)):
        if names and names <= set(known):
            listed = ", ".join(f"'{month}'" for month in known)
            return f"array_position(ARRAY[{listed}], {column.name}::text)"
    return ""
