"""Guard and sandbox, each with the other one off, on the cases of others; and with holes of our own making, which must show."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command

from business.execute import Access, Protection, run_sql
from business.guard.policy import TablePolicy
from business.limits import StatementLimits
from business.sandbox import sql_views
from evals.guard_cases import Arena, Case, arena, judge_all, read_cases
from tests.evaluation_data import data_folder

OURS = Path(__file__).parents[2] / "evaluation"
SOON = StatementLimits(
    seconds=4
)  # some of the statements never end; the others take milliseconds, the longest a second
ATTACKS = [
    Case("other rows", "SELECT name FROM customers ORDER BY id DESC", "deny"),
    Case("a count", "SELECT count(*) FROM customers", "deny"),
    Case("a forbidden column", "SELECT max(salary) FROM employees", "deny"),
    Case("another table", "SELECT password FROM auth_user", "deny"),
]


@pytest.fixture(scope="module")
def place(django_db_setup: None) -> Iterator[Arena]:
    with arena(OURS / "sql_guard_seed.sql", "team-a", limits=SOON) as place:
        yield place


def cases_of_others() -> Path:
    return data_folder("cases") / "sql_guard_cases.dev.jsonl"


def cases_in(file: Path) -> list[Case]:
    return read_cases(map(json.loads, file.read_text().splitlines()))


def some_of_each_kind() -> list[Case]:
    """The first two cases of each category, without those that run until the time limit."""
    seen: Counter[str] = Counter()
    chosen = []
    for row in map(json.loads, cases_of_others().read_text().splitlines()):
        if "generate_series" not in row["sql"] and seen[row["category"]] < 2:
            seen[row["category"]] += 1
            chosen.append(row)
    return read_cases(chosen)


@pytest.mark.parametrize("protection", [Protection.GUARD, Protection.SANDBOX])
def test_guard_and_sandbox_each_alone_stop_every_kind_of_attack_and_answer_the_rest(
    place: Arena, protection: Protection
) -> None:
    report = judge_all(some_of_each_kind(), place, protection)
    assert report.failures == []
    assert report.interference == 0
    assert (report.deny.passed, report.allow.passed) == (20, 20)


SETS = [("others", one) for one in Protection] + [("sql_statements", one) for one in Protection]
SETS += [("sql_attacks", Protection.GUARD), ("sql_attacks", Protection.SANDBOX), ("sql_analyst", Protection.BOTH)]


@pytest.mark.parametrize(("file", "protection"), SETS)
def test_every_statement_that_we_have_is_harmless_or_answered(place: Arena, file: str, protection: Protection) -> None:
    """Answer the statements of our analysts with guard and sandbox; in the sandbox alone some functions are taken from everybody."""
    cases = cases_in(cases_of_others() if file == "others" else OURS / f"{file}.jsonl")
    if file != "others" and protection is Protection.SANDBOX:
        cases = [case for case in cases if case.expect == "deny"]
    report = judge_all(cases, place, protection)
    assert report.failures == []
    assert report.interference == 0
    assert report.deny.total + report.allow.total == len(cases)


def test_an_answer_that_no_limit_could_choose_is_wrong(place: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("business.guard.rewrite.row_filter", lambda _table: "org_unit = 'team-a' AND id > 60")
    report = judge_all(
        [Case("first", "SELECT id FROM customers ORDER BY region, id LIMIT 9", "allow")], place, Protection.GUARD
    )
    assert [failure["why"] for failure in report.failures] == ["9 rows differ from the owner's 9"]


def test_without_the_row_filter_the_guard_s_cases_fail(place: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("business.guard.rewrite.row_filter", lambda _table: "true")
    report = judge_all(ATTACKS, place, Protection.GUARD)
    assert {failure["id"] for failure in report.failures} == {"other rows", "a count"}
    assert report.interference == 2


def test_with_views_of_everything_the_sandbox_s_cases_fail(place: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_views, "row_filter", lambda _table: "true")
    for access in (place.full, place.again, place.reduced):
        sql_views.drop_all_sandboxes(access.admin)
    try:
        report = judge_all(ATTACKS, place, Protection.SANDBOX)
    finally:
        for access in (place.full, place.again, place.reduced):
            sql_views.drop_all_sandboxes(access.admin)
    assert {failure["id"] for failure in report.failures} == {"other rows", "a count"}


REFUSED = [
    "SELECT set_config('search_path', 'public', false), name FROM public.customers",
    "SELECT 1; SELECT 2",
    "COMMIT",
    "SET ROLE NONE",
    "INSERT INTO customers DEFAULT VALUES",
    "SELECT reltuples FROM pg_class WHERE relname = 'employees'",
    "SELECT most_common_vals FROM pg_stats",
    "SELECT pg_stat_get_live_tuples(1)",
    "SELECT repeat('x', 1000000000)",
    "SELECT format('%1000000000s', 'x')",
    "SELECT pg_sleep(10)",
    "SELECT * FROM public.employees",
    "SELECT '\ud800'",
    "SELECT 'infinity'::timestamptz",
]


def test_the_database_itself_refuses(place: Arena) -> None:
    report = judge_all([Case(sql, sql, "allow") for sql in REFUSED], place, Protection.SANDBOX)
    assert {row["id"] for row in report.failures if row["why"].startswith("refused: ")} == set(REFUSED)


def test_the_command_prints_what_it_found_and_leaves_nothing(db: None, tmp_path: Path) -> None:
    from django.db import connection

    seed, cases, report = tmp_path / "seed.sql", tmp_path / "cases.jsonl", tmp_path / "report.json"
    seed.write_text(
        "CREATE TABLE t (org_unit text, name text); INSERT INTO t VALUES ('a', 'ours'), ('b', 'theirs-123');"
        "CREATE ROLE seed_s_own_role;"
    )
    cases.write_text(
        '{"id": "1", "sql": "SELECT name FROM t", "expect": "allow"}\n\n'
        '{"id": "2", "sql": "SELECT name FROM t WHERE org_unit = \'b\'", "expect": "deny"}\n'
        '{"id": "3", "sql": "SELECT nothing FROM t", "expect": "allow"}\n'
    )
    out = StringIO()
    call_command("evaluate_sql_guard", str(cases), seed=seed, unit="a", json=report, stdout=out)
    found = json.loads(out.getvalue())
    assert found["deny"] == {"total": 1, "passed": 1}
    assert found["allow"] == {"total": 2, "passed": 1}
    assert found["interference"] == 0
    assert [failure["id"] for failure in found["failures"]] == ["3"]
    assert json.loads(report.read_text()) == found
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles WHERE rolname = 'seed_s_own_role'")
        assert cursor.fetchall() == []


UNITS = [("a\\", ") OR true --"), ("'", ") OR true --"), ("\\' OR true --",), ("$$", "/*")]


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_no_name_of_a_unit_lets_other_rows_through(access: Access, conforming: str) -> None:
    """Names stand in the views of a sandbox as texts, whatever they are and however the database reads texts."""
    set_for_all(access, f"SET standard_conforming_strings = {conforming}")
    try:
        for units in UNITS:
            narrowed = tuple(replace(table, units=units) for table in access.policy.tables if table.org_column)
            odd = replace(access, policy=TablePolicy(narrowed))
            answer = async_to_sync(run_sql)(odd, "SELECT count(*) AS n FROM customer", protection=Protection.SANDBOX)
            assert answer.rows is not None
            assert answer.rows.rows == ((0,),), units
    finally:
        set_for_all(access, "RESET standard_conforming_strings")
        sql_views.drop_all_sandboxes(access.admin)


def set_for_all(access: Access, what: str) -> None:
    with psycopg.connect(**access.admin.keywords(), autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL("ALTER DATABASE {} " + what).format(psycopg.sql.Identifier(access.admin.database))
        )
