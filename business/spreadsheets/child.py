"""The child process behind `data_analysis`: loads tables into a DuckDB that can reach nothing, runs one SELECT, answers once.

Run as `python -m business.spreadsheets.child`. A JSON object on stdin, {"tables": [{"name", "rows"}], "sql", "limits"}; one on
stdout, {"columns", "types", "rows", "more", "total", "read"} or {"tables": [{"name", "columns", "rows"}]} without `sql`, or
{"error": sentence}. more: whether there are more rows than the limit, and total how many; read: names of tables.
"""

import csv
import json
import math
import re
import resource
import sys
from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

CELL_CHARACTERS = 500
ABOUT_NAMES = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.SyntaxException)
BATCH = 10_000  # rows that are only counted


def main() -> None:
    request = json.load(sys.stdin)
    limits = request["limits"]
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_s"], limits["cpu_s"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (limits["address_bytes"], limits["address_bytes"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer = answer_request(request)
    except (duckdb.Error, MemoryError) as error:
        answer = {
            "error": str(error).splitlines()[0][:400] if str(error) else "the query needs too much memory",
            "is_about_names": isinstance(error, ABOUT_NAMES),
        }
    json.dump(answer, sys.stdout, default=str)


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request. Raises duckdb.Error."""
    limits = request["limits"]
    with TemporaryDirectory(prefix="sheets-") as folder, duckdb.connect(":memory:") as base:
        base.execute("SET threads = 1")
        base.execute(f"SET memory_limit = '{int(limits['memory_mb'])}MB'")
        base.execute("SET temp_directory = ''")
        for table in request["tables"]:
            _load_table(base, table, Path(folder))
        disable_external_access(base)
        if "sql" not in request:
            return {"tables": [_describe_table(base, table["name"]) for table in request["tables"]]}
        if wrong := find_refusal_reason(request["sql"]):
            return {"error": wrong, "is_about_names": True}
        read = sorted(name.lower() for name in base.get_table_names(request["sql"]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        found = base.execute(request["sql"])
        rows = found.fetchmany(int(limits["rows"]) + 1)
        columns = [(column[0], str(column[1])) for column in found.description or ()]
        more = len(rows) - limits["rows"]
        while more > 0 and (batch := found.fetchmany(BATCH)):
            more += len(batch)
    shown = [[_convert_cell(value) for value in row] for row in rows[: limits["rows"]]]
    names, types = [name for name, _kind in columns], [kind for _name, kind in columns]
    total = len(shown) + more if more > 0 else None
    return {"columns": names, "types": types, "rows": shown, "more": more > 0, "total": total, "read": read}


def disable_external_access(base: duckdb.DuckDBPyConnection) -> None:
    """Disable files, network and extensions, irreversibly."""
    base.execute("SET autoinstall_known_extensions = false")
    base.execute("SET autoload_known_extensions = false")
    base.execute("SET allow_community_extensions = false")
    base.execute("SET enable_external_access = false")
    base.execute("SET lock_configuration = true")


def find_refusal_reason(sql: str) -> str:
    """Return why these statements are not run; "" for a single SELECT. Raises duckdb.Error for what is no SQL."""
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        return f"Send one SELECT; these are {len(statements)} statements."
    if statements[0].type != duckdb.StatementType.SELECT:
        return "Only SELECT is allowed."
    return ""


def _load_table(base: duckdb.DuckDBPyConnection, table: dict[str, Any], folder: Path) -> None:
    """Make a table of the rows; each column has the type that all its cells are of, else it is text."""
    path = folder / f"{table['name']}.csv"
    header, *body = table["rows"]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(body)
    name = table["name"].replace('"', '""')
    columns = {column: infer_column_type(row[at] for row in body) for at, column in enumerate(header)}
    base.execute(
        f'CREATE TABLE "{name}" AS SELECT * FROM read_csv(?, columns = ?, auto_detect = false, header = false, '  # noqa: S608 - our names
        "delim = ',', quote = '\"', escape = '\"', nullstr = '')",
        [str(path), columns],
    )
    path.unlink()


def infer_column_type(cells: Iterable[str]) -> str:
    """Return DuckDB's type for a column: a number only where every cell is a plain one, so that no code (00042, 4E2) is changed."""
    left = dict(_TYPES)
    is_blank = True
    for cell in filter(None, cells):
        is_blank = False
        left = {kind: holds for kind, holds in left.items() if holds(cell)}
        if not left:
            break
    return "VARCHAR" if is_blank else next(iter(left), "VARCHAR")


def _is_time(cell: str, of: type[date]) -> bool:
    try:
        of.fromisoformat(cell)
    except ValueError:
        return False
    return _ISO.fullmatch(cell) is not None


_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_WHOLE, _NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})"), re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
MAX_DIGITS = 15  # precision of spreadsheet numbers; more belong to an account or a card
_TYPES: dict[str, Callable[[str], bool]] = {
    "BIGINT": lambda cell: _WHOLE.fullmatch(cell) is not None,
    "DOUBLE": lambda cell: (
        _NUMBER.fullmatch(cell) is not None and len(cell.lstrip("-0.").replace(".", "")) <= MAX_DIGITS
    ),
    "DATE": partial(_is_time, of=date),
    "TIMESTAMP": partial(_is_time, of=datetime),
    "BOOLEAN": lambda cell: cell.lower() in ("true", "false"),
}
"""The narrowest first."""


def _describe_table(base: duckdb.DuckDBPyConnection, name: str) -> dict[str, Any]:
    quoted = '"' + name.replace('"', '""') + '"'
    columns = [{"name": row[0], "type": row[1]} for row in base.execute(f"DESCRIBE {quoted}").fetchall()]
    counted = base.execute(f"SELECT count(*) FROM {quoted}").fetchone()  # noqa: S608 - our own table's name
    sample = base.execute(f"SELECT * FROM {quoted} LIMIT 3").fetchall()  # noqa: S608
    return {
        "name": name,
        "columns": columns,
        "rows": counted[0] if counted else 0,
        "sample": [[_convert_cell(value) for value in row] for row in sample],
    }


def _convert_cell(value: object) -> object:
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value  # JSON has no other numbers
    return str(value)[:CELL_CHARACTERS]


if __name__ == "__main__":
    main()
