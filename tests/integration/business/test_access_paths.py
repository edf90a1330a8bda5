"""The owner's indexes behind guard and sandbox, by the plans of a table of thirty thousand rows; and that each text says the same."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from business import execute
from business.connections.address import Address
from business.connections.postgres_session import connect_to_source, explain_statement, fetch_rows, open_read_only
from business.execute import Access, Protection, choose_cheapest_statement, run_sql
from business.guard import access_paths
from business.guard.guard import guard_statement, serialise_rewritten_tree
from business.guard.policy import TablePolicy
from business.guard.refusal import SqlRefused
from business.guard.rewrite import ProjectionTarget
from business.sandbox import sql_views
from business.sandbox.setup import harden_database, has_leakproof_comparisons
from evals.guard_cases import Arena, Case, arena, judge_all, read_cases
from tests.evaluation_data import data_folder
from tests.integration.business import orders_database as statements
from tests.integration.business.test_sandbox import SOON

OURS = Path(__file__).parents[2] / "evaluation"
ASKED = dict(statements.statements())


@pytest.fixture(scope="module")
def orders(django_db_setup: None) -> Iterator[Access]:
    address = Address.of_django().at(statements.DATABASE)
    statements.build(address, 30_000)
    yield Access(address, TablePolicy.of(statements.TABLES), is_dedicated=True)
    statements.remove(address)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it costs: another text runs wherever there is one."""
    monkeypatch.setattr(execute, "CHEAP", -1.0)
    for name in ("PLAIN", "GUESSED", "SINGLE"):
        monkeypatch.setattr(access_paths, name, 0)


def plan_of(access: Access, text: str) -> str:
    """The plan of what runs, as JSON."""

    async def planned() -> str:
        sandbox = sql_views.build_sandbox_name(access.admin, access.policy)
        async with open_read_only(access.admin.as_role(sandbox)) as connection:
            checked = guard_statement(text, access.policy, ProjectionTarget(sandbox))
            return json.dumps(
                await explain_statement(connection, await choose_cheapest_statement(access, connection, checked))
            )

    async_to_sync(run_sql)(access, "SELECT 1")  # builds the sandbox
    return async_to_sync(planned)()


INDEXES = {
    "latest ten that were cancelled": "orders_ordered_at",
    "latest ten with names": "orders_ordered_at",
    "largest order": "orders_amount",
    "first and last day": "orders_ordered_at",
    "one by its key": "orders_pkey",
    "those of a customer by name": "orders_customer",
    "amounts between": "orders_amount",
    "customers without an order": "orders_customer",
}


def test_the_owner_s_index_is_used(orders: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "CHEAP", 0.0)
    for name, index in INDEXES.items():
        assert f'"Index Name": "{index}"' in plan_of(orders, ASKED[name]), name


def test_without_the_other_texts_it_is_not(orders: Access) -> None:
    """The negative control: below this cost nothing else is looked for."""
    assert "Index Name" not in plan_of(orders, ASKED["latest ten"])


def test_each_text_says_the_same(orders: Access) -> None:
    """As many rows, and each among those that the first text could show."""

    async def rows_of_all(name: str) -> list[Counter[tuple[object, ...]]]:
        sandbox = sql_views.build_sandbox_name(orders.admin, orders.policy)
        checked = guard_statement(ASKED[name], orders.policy, ProjectionTarget(sandbox))
        paths = [
            path for path in checked.paths() if sql_views.create_ordered_views(orders.admin, orders.policy, path.orders)
        ]
        texts = [checked.sql, *(serialise_rewritten_tree(path.tree) for path in paths)]
        async with open_read_only(orders.admin.as_role(sandbox)) as connection:
            found = []
            for text in texts:
                async with connection.transaction(force_rollback=True):
                    found.append(Counter((await fetch_rows(connection, text, orders.limits)).rows))
        return found

    async_to_sync(run_sql)(orders, "SELECT 1")
    compared = 0
    for name in ASKED:
        first, *rest = async_to_sync(rows_of_all)(name)
        assert all(one == first for one in rest), name
        compared += bool(rest)
    assert compared > 10


def scans_of(access: Access) -> int:
    """How often the table of orders has been read as a whole."""
    with connect_to_source(access.admin) as connection:
        row = connection.execute("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'orders'").fetchone()
    return int(row[0]) if row else -1


def test_what_is_summed_is_read_once_to_be_shown_and_counted(orders: Access) -> None:
    """Fails where groups are shown by one run and counted by another."""
    grouped = (
        "SELECT customer_id, sum(amount) AS revenue FROM orders GROUP BY customer_id ORDER BY revenue DESC, customer_id"
    )
    first = async_to_sync(run_sql)(orders, f"{grouped} LIMIT 50")
    counted = async_to_sync(run_sql)(orders, f"SELECT count(*) FROM ({grouped}) g")
    before = scans_of(orders)
    answer = async_to_sync(run_sql)(orders, grouped)
    assert scans_of(orders) == before + 1
    assert first.rows is not None
    assert counted.rows is not None
    assert answer.rows is not None
    assert (answer.rows.rows, answer.rows.is_truncated) == (first.rows.rows, False)
    assert answer.total == counted.rows.rows[0][0]


def test_a_database_that_was_hardened_before_is_marked_now(orders: Access) -> None:
    with connect_to_source(orders.admin) as connection:
        connection.execute("ALTER FUNCTION numeric_ge(numeric, numeric) NOT LEAKPROOF")
    harden_database(orders.admin)
    with connect_to_source(orders.admin) as connection:
        assert has_leakproof_comparisons(connection)


def test_a_sandbox_that_was_made_anew_gets_its_views_again(orders: Access, always: None) -> None:
    before = async_to_sync(run_sql)(orders, ASKED["latest ten"])
    known = set(sql_views.built)
    sql_views.drop_all_sandboxes(orders.admin)
    sql_views.ensure_sandbox(orders.admin, orders.policy)
    sql_views.built.update(known)  # it was another process: this one still knows of the views
    for _time in range(2):
        assert async_to_sync(run_sql)(orders, ASKED["latest ten"]).rows.rows == before.rows.rows  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def place(django_db_setup: None) -> Iterator[Arena]:
    with arena(OURS / "sql_guard_seed.sql", "team-a", limits=SOON) as place:
        yield place


def cases_in(file: Path) -> list[Case]:
    return read_cases(map(json.loads, file.read_text().splitlines()))


def has_another_text(access: Access, text: str) -> bool:
    try:
        checked = guard_statement(text, access.policy, ProjectionTarget("w"))
    except SqlRefused:
        return False
    return any(sql_views.create_ordered_views(access.admin, access.policy, path.orders) for path in checked.paths())


def test_the_sandboxes_stand_where_another_text_runs(place: Arena, always: None) -> None:
    sql_views.ensure_sandbox(place.full.admin, place.full.policy)
    cases = [case for name in ("statements", "attacks") for case in cases_in(OURS / f"sql_{name}.jsonl")]
    cases = [case for case in cases if has_another_text(place.full, case.sql)]
    assert judge_all(cases, place, Protection.BOTH).failures == []
    assert {case.expect for case in cases} == {"allow", "deny"}


@pytest.mark.parametrize("name", ["others", "statements", "analyst", "attacks"])
def test_the_sandboxes_stand_whichever_text_runs(place: Arena, always: None, name: str) -> None:
    others = name == "others"
    file = data_folder("cases") / "sql_guard_cases.dev.jsonl" if others else OURS / f"sql_{name}.jsonl"
    report = judge_all(cases_in(file), place, Protection.BOTH)
    assert report.failures == []
    assert report.interference == 0
