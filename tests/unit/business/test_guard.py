"""The guard by itself: what it refuses, what it writes instead of a table, and that it never falls over."""

import json
from contextlib import suppress

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from postgast import pg_query_pb2

from business.guard.grammar import iterate_children, iterate_nodes, iterate_nodes_by_query, parse_query
from business.guard.guard import guard_statement
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rewrite import ProjectionTarget
from business.guard.rules import require_known_vocabulary
from tests.evaluation_data import data_folder

CUSTOMERS = AllowedTable("public", "customers", ("id", "org_unit", "name"), "org_unit", ("team-a", "o'hara"))
COUNTRIES = AllowedTable("public", "countries", ("code", "label"), None, key=("code",))
NOBODY_S = AllowedTable("public", "salaries", ("id",), "org_unit", ())
POLICY = TablePolicy.of([CUSTOMERS, COUNTRIES, NOBODY_S])


def written(text: str, target: ProjectionTarget | None = None) -> str:
    return guard_statement(text, POLICY, target or ProjectionTarget()).sql


def test_a_table_becomes_its_allowed_columns_and_rows() -> None:
    assert written("SELECT * FROM customers") == (
        "SELECT * FROM (SELECT id, org_unit, name FROM public.customers "
        "WHERE org_unit::text IN ('team-a', 'o''hara') OFFSET 0) customers LIMIT 50"
    )


def test_behind_the_sandbox_the_view_is_read() -> None:
    assert "FROM sandboxes.customers WHERE org_unit::text IN" in written(
        "SELECT name FROM public.customers c", ProjectionTarget("sandboxes")
    )


def test_a_table_without_org_units_is_read_whole() -> None:
    assert "FROM public.countries WHERE true OFFSET 0" in written("SELECT label FROM countries")


def test_words_of_the_grammar_are_no_functions() -> None:
    for text in (
        "SELECT coalesce(name, '?') AS shown FROM customers",
        "SELECT EXISTS (SELECT 1 FROM customers)",
        "SELECT name FROM customers WHERE (id, name) IN ((1, 'x'), (2, 'y')) AND id = ANY(ARRAY[1, 2])",
    ):
        assert "FROM public.customers" in written(text)


def test_a_person_without_org_units_reads_no_row() -> None:
    assert "WHERE false" in written("SELECT id FROM salaries")


def test_wherever_a_table_stands_it_is_filtered() -> None:
    for text in (
        "SELECT name FROM (SELECT * FROM customers) c",
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM customers)",
        "SELECT (SELECT max(name) FROM customers)",
        "SELECT name FROM customers UNION SELECT name FROM customers",
        "WITH c AS (SELECT * FROM customers) SELECT * FROM c",
        "WITH customers AS (SELECT * FROM customers) SELECT * FROM customers",
        "SELECT * FROM countries k CROSS JOIN LATERAL (SELECT name FROM customers WHERE name = k.label) x",
        "SELECT label FROM countries ORDER BY (SELECT count(*) FROM customers)",
        "TABLE customers",
    ):
        sql = written(text)
        assert (
            sql.count("public.customers WHERE org_unit::text IN ('team-a', 'o''hara') OFFSET 0")
            == sql.count("public.customers")
            > 0
        ), text


@pytest.mark.parametrize(
    ("asked", "runs"),
    [("", 50), ("LIMIT 7", 7), ("LIMIT 51", 50), ("LIMIT ALL", 50),
     ("FETCH FIRST 3 ROWS ONLY", 3)],
)  # fmt: skip
def test_at_most_fifty_rows(asked: str, runs: int) -> None:
    assert written(f"SELECT name FROM customers {asked}").endswith(f"LIMIT {runs}")


def test_shared_last_places_are_kept_and_counted() -> None:
    sql = written("SELECT name FROM customers ORDER BY 1 FETCH FIRST 3 ROWS WITH TIES")
    assert sql.startswith("SELECT * FROM (SELECT name FROM (")
    assert sql.endswith("FETCH FIRST 3 ROWS WITH TIES) ranked LIMIT 50")


def test_a_bounded_length_is_spelled_out() -> None:
    for text, runs in (
        ("lpad(name, 3, '0')", """"right"('000' || "left"(name, 3), 3) AS lpad"""),
        ("repeat('ab', 2) AS x", "'abab'::text AS x"),
        ("format('%2$s is %1$s%%', id, name)", "concat(name, ' is ', id, '%') AS format"),
    ):
        assert written(f"SELECT {text} FROM customers").startswith(f"SELECT {runs} FROM (")


def test_what_depends_on_a_key_is_grouped_by_with_it() -> None:
    for text, grouped in (
        ("SELECT k.code, k.label, count(*) FROM countries k GROUP BY k.code", "k.code, k.label"),
        ("SELECT k.code FROM customers c JOIN countries k ON true GROUP BY 1 HAVING k.label > ''", "1, k.label"),
        ("SELECT label FROM countries k (code, label) GROUP BY label", "label"),
        ("SELECT code, label FROM countries GROUP BY ROLLUP (code)", "ROLLUP (code)"),
        ("WITH countries AS (SELECT 1 AS code, 2 AS label) SELECT code FROM countries GROUP BY code", "code"),
    ):
        sql = written(text)
        assert sql.split("GROUP BY ")[1].split(" ORDER")[0].split(" HAVING")[0].removesuffix(" LIMIT 50") == grouped


def test_what_one_query_repeats_counts_once_and_what_the_next_does_with_it_again() -> None:
    longer = "replace(name, 'a', 'bbbbbbbb')"
    assert written(f"SELECT {longer} FROM customers GROUP BY {longer} ORDER BY {longer}")
    again = "SELECT replace(name, 'a', 'bbbbbbbb') AS name FROM "
    with pytest.raises(SqlRefused, match="far longer"):
        written(f"{again} ({again} ({again} ({again} customers) a) b) c")


def test_what_analysts_write_is_accepted() -> None:
    for text in (
        "SELECT to_char(now(), 'YYYY-MM-DD'), to_char(now(), 'YYYY-MM'), to_char(now(), 'HH24:MI:SS'), to_char(1, '9999')",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n FROM t",
        "SELECT word FROM customers, unnest(string_to_array(name, ' ')) WITH ORDINALITY AS u(word, n)",
        "VALUES (1), (2)",
        'SELECT name, power(id, 2), id ^ 2 FROM customers ORDER BY name COLLATE "zh-x-icu"',
    ):
        assert written(text).endswith("LIMIT 50")


def test_a_recursive_query_is_never_a_table() -> None:
    sql = written(
        "WITH RECURSIVE customers AS (SELECT 1 AS n UNION ALL SELECT n FROM customers) SELECT n FROM customers"
    )
    assert "public.customers" not in sql
    assert sql.count("with_1_customers") == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", RefusalKind.TEXT),
        ("SELECT 1" + " " * 9_000, RefusalKind.TEXT),
        ("SELECT 1\x00", RefusalKind.TEXT),
        ("SELECT 'a\u200bb'", RefusalKind.TEXT),
        ("SELECT " + "(" * 3_000 + "1" + ")" * 3_000, RefusalKind.TEXT),
        ("SELECT " + "NOT " * 900 + "true", RefusalKind.TEXT),
        ("SELECT 1; SELECT 2", RefusalKind.STATEMENT),
        ("DELETE FROM customers", RefusalKind.STATEMENT),
        ("EXPLAIN SELECT 1", RefusalKind.STATEMENT),
        ("WITH x AS (DELETE FROM customers RETURNING *) SELECT * FROM x", RefusalKind.STATEMENT),
        ("SELECT * INTO t FROM customers", RefusalKind.STATEMENT),
        ("SELECT name FROM customers FOR UPDATE", RefusalKind.STATEMENT),
        ("SELECT * FROM ROWS FROM (now(), now()) AS t", RefusalKind.STATEMENT),
        ("SELECT * FROM json_to_recordset('[]') AS t(a int)", RefusalKind.STATEMENT),
        ("SELECT * FROM pg_ls_dir('/')", RefusalKind.FUNCTION),
        ("WITH RECURSIVE t AS (SELECT * FROM salary) SELECT * FROM t", RefusalKind.RELATION),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n FROM t) SELECT n FROM t", RefusalKind.COST),
        (
            "WITH RECURSIVE t(n) AS (SELECT name FROM customers UNION ALL SELECT n || n FROM t) SELECT n FROM t",
            RefusalKind.COST,
        ),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) SELECT array_agg(n) FROM t", RefusalKind.COST),
        ("SELECT array_agg(n) FROM customers, generate_series(1, id) n", RefusalKind.COST),
        ("SELECT power(2, id), 3 ^ id FROM customers", RefusalKind.COST),
        ("SELECT lpad(name, 1000) FROM customers", RefusalKind.FUNCTION),
        ("SELECT lpad(name, id) FROM customers", RefusalKind.FUNCTION),
        ("SELECT repeat('x', 1000)", RefusalKind.FUNCTION),
        ("SELECT repeat(name, 2) FROM customers", RefusalKind.FUNCTION),
        ("SELECT format('%99s', name) FROM customers", RefusalKind.FUNCTION),
        ("SELECT format(name) FROM customers", RefusalKind.FUNCTION),
        ("SELECT name COLLATE other.c FROM customers", RefusalKind.FUNCTION),
        ("SELECT * FROM ONLY customers", RefusalKind.STATEMENT),
        ("SELECT $1", RefusalKind.STATEMENT),
        ("SELECT (customers).name FROM customers", RefusalKind.STATEMENT),
        ("SELECT name FROM customers TABLESAMPLE SYSTEM (1)", RefusalKind.STATEMENT),
        (
            "SELECT regexp_replace(string => name, pattern => name, replacement => '') FROM customers",
            RefusalKind.FUNCTION,
        ),
        ("SELECT to_char(now(), name) FROM customers", RefusalKind.COST),
        (f"SELECT translate(name, '{'ab' * 51}', '') FROM customers", RefusalKind.FUNCTION),
        ("SELECT btrim(name, name) FROM customers", RefusalKind.FUNCTION),
        ("SELECT format('%L', name) FROM customers", RefusalKind.FUNCTION),
        ("SELECT format('%s %s', name) FROM customers", RefusalKind.FUNCTION),
        ("SELECT pg_sleep(1)", RefusalKind.FUNCTION),
        ("SELECT pg_catalog.pg_sleep(1)", RefusalKind.FUNCTION),
        ("SELECT other.lower(name) FROM customers", RefusalKind.FUNCTION),
        ('SELECT "Lower"(name) FROM customers', RefusalKind.FUNCTION),
        ("SELECT 1 OPERATOR(pg_catalog.+) 1", RefusalKind.FUNCTION),
        ("SELECT 'a' ~<~ 'b'", RefusalKind.FUNCTION),
        ("SELECT 'pg_class'::regclass", RefusalKind.FUNCTION),
        ("SELECT current_user", RefusalKind.FUNCTION),
        ("SELECT name FROM customers WHERE name ~ name", RefusalKind.FUNCTION),
        ("SELECT * FROM pg_class", RefusalKind.RELATION),
        ("SELECT * FROM information_schema.tables", RefusalKind.RELATION),
        ('SELECT * FROM "Customers"', RefusalKind.RELATION),
        ("SELECT * FROM secret.customers", RefusalKind.RELATION),
        ("SELECT name FROM customers LIMIT (SELECT 9)", RefusalKind.LIMIT),
        ("SELECT FROM WHERE", RefusalKind.SYNTAX),
    ],
)
def test_refused(text: str, reason: RefusalKind) -> None:
    with pytest.raises(SqlRefused) as refused:
        written(text)
    assert refused.value.reason is reason


def test_a_statement_that_is_written_out_otherwise_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guard against a deparser that changes what it writes: the text that would run is not the tree that was checked."""
    monkeypatch.setattr("business.guard.guard.deparse_tree", lambda _tree: "SELECT name FROM public.customers")
    with pytest.raises(SqlRefused) as refused:
        written("SELECT name FROM customers")
    assert refused.value.reason is RefusalKind.DISAGREEMENT


def test_of_all_statements_of_the_grammar_a_query_alone_is_known() -> None:
    """Whatever the server's grammar has: a kind of statement, or of a command inside one, is refused before anything looks at it."""
    kinds = [name for name in pg_query_pb2.DESCRIPTOR.message_types_by_name if name.endswith(("Stmt", "Cmd"))]
    assert len(kinds) > 100
    for kind in set(kinds) - {"RawStmt", "SelectStmt"}:
        with pytest.raises(SqlRefused, match=f"^{kind} is not allowed"):
            require_known_vocabulary(getattr(pg_query_pb2, kind)())


def test_a_name_that_means_two_tables_must_be_qualified() -> None:
    policy = TablePolicy.of([COUNTRIES, AllowedTable("crm", "countries", ("code",), None)])
    with pytest.raises(SqlRefused, match=r"public\.countries / crm\.countries"):
        guard_statement("SELECT code FROM countries", policy, ProjectionTarget())
    assert "crm.countries" in guard_statement("SELECT code FROM crm.countries", policy, ProjectionTarget()).sql


def test_missing_and_forbidden_tables_are_refused_in_the_same_words() -> None:
    def refusal(table: str) -> str:
        with pytest.raises(SqlRefused) as refused:
            guard_statement(f"SELECT * FROM {table}", TablePolicy.of([COUNTRIES]), ProjectionTarget())
        return str(refused.value).replace(table, "…")

    assert refusal("customers") == refusal("nowhere")


@given(st.text(max_size=200))
def test_any_text_is_answered_or_refused(text: str) -> None:
    with suppress(SqlRefused):
        written(text)


@settings(max_examples=50)
@given(st.text(min_size=1, max_size=30).filter(lambda s: s.isprintable()))
def test_an_org_unit_s_name_stays_one_literal(unit: str) -> None:
    policy = TablePolicy.of([AllowedTable("public", "customers", ("name",), "org_unit", (unit,))])
    sql = guard_statement("SELECT name FROM customers", policy, ProjectionTarget()).sql
    assert unit.replace("'", "''") in sql.replace("\\\\", "\\")


def test_postgresql_s_own_statements_never_crash_it_and_no_trap_passes() -> None:
    rows = [json.loads(line) for line in (data_folder("cases") / "postgres_regress.dev.jsonl").read_text().splitlines()]
    accepted = []
    for row in rows:
        try:
            written(row["sql"])
        except SqlRefused:
            continue
        accepted.append(row)
    traps = [row["id"] for row in accepted if row["stmt"] != "SelectStmt" or set(row["flags"]) - {"cte"}]
    assert traps == []
    assert len(accepted) > len(rows) / 50  # it does read SQL


def test_a_walk_meets_every_message_of_a_tree_in_its_order() -> None:
    """As protobuf itself lists them: what a walk missed no rule would see."""

    def listed(node: Message) -> list[Message]:
        found = [node]
        for field, value in node.ListFields():
            if field.message_type is not None:
                for child in [value] if isinstance(value, Message) else value:
                    found += listed(child)
        return found

    def walked(node: Message) -> list[Message]:
        return [node, *(found for _field, child in iterate_children(node) for found in walked(child))]

    for line in (data_folder("cases") / "sql_guard_cases.dev.jsonl").read_text().splitlines():
        with suppress(SqlRefused):
            tree = parse_query(json.loads(line)["sql"])
            expected = listed(tree)
            assert list(iterate_nodes(tree)) == expected
            assert walked(tree) == expected
            assert len(list(iterate_nodes_by_query(tree))) == len(expected)
