"""Find the roles of columns: the time that rows are counted by, and the name of a row."""

import re

import psycopg
from psycopg import sql

from business.guard.rewrite import quote_identifier
from business.inference.catalog import Column, Table, query_column_rows
from business.inference.identifiers import Identifiers
from business.inference.keys import has_unique_values
from business.parsing.reader.units import build_lookup_key, singularise
from business.semantic_layer.model import Dimension, Value, Words

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
NAME = "dated"
_RECORDING = re.compile(r"created|crtd|updated|modified|inserted|loaded", re.IGNORECASE)
_START = re.compile(r"(?:^|_)(?:start|begin|started)(?:_|$)", re.IGNORECASE)
_DAY = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
_DATED = re.compile(r"date|day|_(?:dt|on|at|ts)$", re.IGNORECASE)
_MADE = ("created_at", "created_on", "created", "crtd_ts", "created_ts")
_ENDINGS = ("_date", "_dt", "_time", "_at", "_ts", "date")


def find_default_time(table: str, dimensions: tuple[Dimension, ...]) -> str:
    """Return the time of a table's rows; "" if ambiguous.

    In order: combined from its year; named after the table; the only date; the start; the row's creation; the only one.
    """
    times = [one.name for one in dimensions if one.type == "time"]
    if NAME in times:
        return NAME
    last = singularise(table.split("_", maxsplit=1)[0]), singularise(table.rsplit("_", maxsplit=1)[-1])
    kept = [name for name in times if not _RECORDING.search(name)]
    tried = (
        [name for name in times if name.lower() in {f"{own}{end}" for own in last for end in _ENDINGS}],
        [name for name in kept if name.lower().endswith(("date", "_dt"))],
        [name for name in kept if _START.search(name) and len(kept) == len(times)],
        [name for name in times if name.lower() in _MADE and all(one.endswith(("_at", "_ts")) for one in times)],
        times,
    )
    return next((found[0] for found in tried if len(found) == 1), "")


def combine_year_and_month(table: Table, dimensions: tuple[Dimension, ...]) -> Dimension | None:
    """Return a time combined from a table's year and month; None where it has a date, or no year.

    The time of recording is not such a date: a car of 2020 may have been entered in 2023.
    """
    year = next((c for c in table.columns if c.name.lower() == "year" and c.category == "N"), None)
    has_date = any(one.type == "time" and not _RECORDING.search(one.name) for one in dimensions)
    if year is None or has_date or any(one.name == NAME for one in dimensions):
        return None
    month = next((c for c in table.columns if c.name.lower() == "month"), None)
    values = next((one.values for one in dimensions if month is not None and one.name == month.name), ())
    number = _format_month_number(month, values) if month else "1"
    column = _format_column(year)
    date = f"make_date({column}::int, {number or 1}, 1)"
    return Dimension(
        name=NAME,
        expr=f"CASE WHEN {column} BETWEEN 1 AND 9999 THEN {date} END",
        type="time",
        time_granularity="month" if month and number else "year",
        description=Words(en=f"the first day of the {'month' if month and number else 'year'}"),
    )


def _format_column(column: Column) -> str:
    """Return a year or a month column as an expression, quoted if it has capitals."""
    return column.name if column.name.islower() else quote_identifier(column.name)


def _format_month_number(column: Column, values: tuple[Value, ...]) -> str:
    """Return a month's number as an expression; "" for any other column."""
    names = {value.value.strip() for value in values}
    if column.category == "N":
        return f"CASE WHEN {_format_column(column)} BETWEEN 1 AND 12 THEN {_format_column(column)}::int END"
    for known in (_MONTHS, tuple(month[:3] for month in _MONTHS)):
        if names and names <= set(known):
            listed = ", ".join(f"'{month}'" for month in known)
            return f"array_position(ARRAY[{listed}], btrim({_format_column(column)}::text))"
    return ""


def cast_text_to_date(connection: psycopg.Connection, table: Table, column: Column) -> str:
    """Return a text column named as a time with only days (2022-05-20), cast to date; "" for any other."""
    if column.category != "S" or not _DATED.search(column.name):
        return ""
    question = "SELECT count(c) > 0 AND bool_and(c ~ {p}) FROM (SELECT {c}::text AS c FROM {t} LIMIT {n}) s"
    is_dated = query_column_rows(connection, question, table, column, p=sql.Literal(_DAY))
    bare = quote_identifier(column.name)
    return f"CASE WHEN {bare} LIKE '____-__-__' THEN {bare}::date END" if is_dated else ""


Said = dict[str, tuple[str, ...]]  # names in words by column, the fullest first
_PERSON = ("first name", "last name")
_OTHERS = ("user", "file", "contact", "street", "path", *(word for part in _PERSON for word in part.split()))


def find_title_column(connection: psycopg.Connection, table: Table, said: Said, names: Identifiers) -> str:
    """Return the column with a row's name, or "".

    A name, a title, a column named like the table; else, where rows have a key, the first unique name (`company_name`),
    or a description that is the only text.
    """
    texts = [column for column in table.columns if column.category == "S" and column.name in said]
    for want in ("name", "full name", "title", "user name", "username"):
        if want == "title" and find_person_name_columns(table, said):
            return ""  # a person's title is their position
        found = next((column.name for column in texts if want in said[column.name]), "")
        if found:
            return found
    if not table.key:
        return ""
    texts = [column for column in texts if column.name != table.key]
    called = {tuple(map(singularise, phrase.split())) for phrase in names.table(table.name)}
    like_it = [c for c in texts if {build_lookup_key(phrase) for phrase in said[c.name]} & called]
    named = [c for c in texts if c.name.lower().endswith("name") and not _names_other_thing(said[c.name])]
    only = [c for c in texts if len(texts) == 1 and "description" in said[c.name] and c.name.lower() != "description"]
    own = [c for c in (*like_it, *named[:1]) if has_unique_values(connection, table, c)]
    return next((c.name for c in (*own, *only)), "")


def find_person_name_columns(table: Table, said: Said) -> tuple[str, str] | None:
    """Return the columns of people's first and last names; None unless there are both and no full name."""
    texts = [column.name for column in table.columns if column.category == "S" and column.name in said]
    first, last = (next((name for name in texts if part in said[name]), "") for part in _PERSON)
    is_whole = any("full name" in said[name] or name == "full_name" for name in texts)
    return None if not (first and last) or is_whole else (first, last)


def _names_other_thing(phrases: tuple[str, ...]) -> bool:
    """Return whether a name belongs to a part or somebody else: a user name, the name of a contact."""
    return phrases[0].split()[0] in _OTHERS
