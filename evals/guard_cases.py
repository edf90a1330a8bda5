"""Judge guard and sandbox by cases: a harmful one is refused or harmless, an ordinary one equals the owner's answer.

The yardsticks come from the database, not from the guard: the bytes nobody of this unit may see are read from the tables, and
every case is run again in a copy where the other units' rows are gone and forbidden columns are empty. What changes then was
information that flowed.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from postgast import pg_query_pb2
from psycopg import sql

from business.connections.address import Address
from business.connections.postgres_session import DEFAULTS, open_read_only
from business.execute import Access, Protection, run_sql
from business.guard.grammar import deparse_tree, find_outermost_select, parse_query, strip_statement
from business.guard.refusal import SqlRefused
from business.introspect import draft_layer
from business.jsonl import read_jsonl
from business.limits import MAX_ROWS, StatementLimits
from business.sandbox.scratch_database import copy_scratch_database, open_scratch_database
from business.sandbox.sql_views import build_sandbox_name
from business.semantic_layer.model import SemanticLayer, SemanticModel
from business.semantic_layer.rights import policy_of
from copilot_site.lib.commands import read_text_file

NEEDLE_CHARS = 5  # shorter values occur by chance; what they would tell shows as interference


@dataclass(frozen=True)
class Case:
    id: str
    sql: str
    expect: str = ""


@dataclass(frozen=True)
class Outcome:
    """The result of one statement as the person sees it: rows as text, or a refusal."""

    rows: tuple[tuple[str, ...], ...] | None
    error: str = ""

    def text(self) -> str:
        return "\n".join("\t".join(row) for row in self.rows or ()) + self.error


@dataclass
class Score:
    total: int = 0
    passed: int = 0


@dataclass
class GuardReport:
    """The command's result. interference: answers that change when the other units' rows are gone. failures: {id, why}."""

    deny: Score = field(default_factory=Score)
    allow: Score = field(default_factory=Score)
    interference: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Arena:
    """A seed loaded three times: as it is, once more, and with nothing but this unit's rows and readable columns.

    An answer that differs between the first two tells of the clock or of the database's own numbers, not of other units.
    """

    full: Access
    again: Access
    reduced: Access
    needles: frozenset[str]


@contextmanager
def arena(seed: Path, unit: str, *, limits: StatementLimits = DEFAULTS) -> Iterator[Arena]:
    """Load the seed into scratch databases and draft its source for a person of `unit`. Raises InvalidInput without the seed."""
    with open_scratch_database(seed) as address:
        layer = draft_layer(address, "scratch")
        needles = forbidden_bytes(address, layer, unit)
        with copy_scratch_database(address, "again") as again, copy_scratch_database(address, "reduced") as reduced:
            _keep_only(reduced, layer, unit)
            policy = policy_of(layer, [unit], granted=(), source_granted=True)
            full, control, rest = (
                Access(one, policy, is_dedicated=True, limits=limits) for one in (address, again, reduced)
            )
            yield Arena(full, control, rest, needles)


def judge_all(cases: Iterable[Case], place: Arena, protection: Protection) -> GuardReport:
    return asyncio.run(_judge_all(cases, place, protection))


async def _judge_all(cases: Iterable[Case], place: Arena, protection: Protection) -> GuardReport:
    report = GuardReport()
    for case in cases:
        outcome = await see(place.full, case.sql, protection)
        score, why = (
            (report.allow, await _wrong_answer(case, outcome, place))
            if case.expect == "allow"
            else (report.deny, harm_in(outcome, place.needles))
        )
        score.total += 1
        score.passed += not why
        if why:
            report.failures.append({"id": case.id, "why": why})
        if (
            await see(place.reduced, case.sql, protection) != outcome
            and await see(place.again, case.sql, protection) == outcome
        ):
            report.interference += 1
            report.failures.append({"id": case.id, "why": "the answer changes when other units' rows are deleted"})
    return report


async def see(access: Access, statement: str, protection: Protection) -> Outcome:
    """Run a statement as the person; leave out the names of the copy's database and sandbox, which say nothing about a row."""
    names = (build_sandbox_name(access.admin, access.policy), access.admin.database)

    def told(text: str) -> str:
        for name in names:
            text = text.replace(name, "…")
        return text

    try:
        answer = await run_sql(access, statement, protection=protection)
    except SqlRefused as refused:
        return Outcome(None, told(str(refused)))
    rows = answer.rows.rows if answer.rows else ()
    return Outcome(tuple(tuple(told(_spoken(value)) for value in row) for row in rows))


def harm_in(outcome: Outcome, needles: frozenset[str]) -> str:
    """Say why an outcome is not harmless; "" when it is."""
    if outcome.rows is not None and len(outcome.rows) > MAX_ROWS:
        return f"{len(outcome.rows)} rows"
    text = outcome.text()
    seen = next((needle for needle in needles if needle in text), None)
    return f"shows the forbidden value {seen!r}" if seen else ""


async def _wrong_answer(case: Case, outcome: Outcome, place: Arena) -> str:
    """Say why an answer is not the owner's own over this unit's rows; "" when it is."""
    if outcome.rows is None:
        return f"refused: {outcome.error}"
    harm = harm_in(outcome, place.needles)
    if harm:
        return harm
    expected = await as_owner(place.reduced.admin, case.sql)
    if outcome.rows == expected[:MAX_ROWS]:
        return ""
    if len(outcome.rows) == min(len(expected), MAX_ROWS):
        if not Counter(outcome.rows) - Counter(expected):
            return ""
        candidates = await as_owner(place.reduced.admin, with_every_candidate(case.sql))
        if not Counter(outcome.rows) - Counter(candidates):
            return ""
    return f"{len(outcome.rows)} rows differ from the owner's {len(expected)}"


def with_every_candidate(statement: str) -> str:
    """Return the statement with every row that its outermost LIMIT may take: all, or with ORDER BY the rows that share a place, too."""
    tree = parse_query(strip_statement(statement))
    query = find_outermost_select(tree)
    asked = [node.a_const.ival.ival for node in (query.limit_count, query.limit_offset)]
    query.ClearField("limit_offset")
    if asked[0] and query.sort_clause:
        query.limit_count.a_const.ival.ival = sum(asked)
        query.limit_option = pg_query_pb2.LIMIT_OPTION_WITH_TIES
    else:
        query.ClearField("limit_count")
        query.limit_option = pg_query_pb2.LIMIT_OPTION_DEFAULT
    return deparse_tree(tree)


async def as_owner(owner: Address, statement: str) -> tuple[tuple[str, ...], ...]:
    """Run the original statement over the unit's own rows, without guard and sandbox."""
    async with open_read_only(owner) as connection:
        await connection.execute("SET LOCAL search_path = public")
        cursor = await connection.execute(statement.rstrip().rstrip(";"), prepare=True)
        return tuple(tuple(_spoken(value) for value in row) for row in await cursor.fetchall())


def forbidden_bytes(address: Address, layer: SemanticLayer, unit: str) -> frozenset[str]:
    """Read every value that is only in other units' rows, in forbidden columns or in tables without a unit."""
    allowed: set[str] = set()
    denied: set[str] = set()
    with psycopg.connect(**address.keywords()) as connection:
        for model in layer.semantic_models:
            column = model.org_unit.column if model.org_unit else None
            cursor = connection.execute(sql.SQL("SELECT * FROM {}").format(_table(model)))
            names = [description.name for description in cursor.description or ()]
            for row in cursor:
                values = dict(zip(names, map(_spoken, row), strict=True))
                is_ours = column is not None and values[column] == unit
                for name, value in values.items():
                    is_readable = is_ours and name not in model.forbidden_columns
                    (allowed if is_readable else denied).add(value)
    return frozenset(value for value in denied - allowed if len(value) >= NEEDLE_CHARS)


def _keep_only(address: Address, layer: SemanticLayer, unit: str) -> None:
    """Delete what a person of `unit` may not see, and empty the forbidden columns that may be empty."""
    with psycopg.connect(**address.keywords()) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")  # no foreign key objects
        for model in layer.semantic_models:
            column = model.org_unit.column if model.org_unit else None
            table = _table(model)
            if column is None:
                connection.execute(sql.SQL("DELETE FROM {}").format(table))
                continue
            connection.execute(
                sql.SQL("DELETE FROM {} WHERE {}::text IS DISTINCT FROM %s").format(table, sql.Identifier(column)),
                [unit],
            )
            for name in _nullable(connection, model) & set(model.forbidden_columns):
                connection.execute(sql.SQL("UPDATE {} SET {} = NULL").format(table, sql.Identifier(name)))


def _nullable(connection: psycopg.Connection, model: SemanticModel) -> set[str]:
    rows = connection.execute(
        "SELECT column_name FROM information_schema.columns "
        "WHERE table_schema = %s AND table_name = %s AND is_nullable = 'YES'",
        model.place,
    )
    return {name for (name,) in rows}


def _table(model: SemanticModel) -> sql.Identifier:
    return sql.Identifier(*model.place)


def _spoken(value: object) -> str:
    return "" if value is None else str(value)


def read_case_file(file: Path) -> list[Case]:
    """Read the cases of a file of JSON lines. Raises InvalidInput with the line."""
    return read_cases(read_jsonl(read_text_file(file).splitlines(), keys=("id", "sql", "expect"), name=file.name))


def read_cases(rows: Iterable[Mapping[str, Any]]) -> list[Case]:
    return [Case(str(row["id"]), str(row["sql"]), str(row.get("expect", ""))) for row in rows]
