"""Before a plan is judged the values of a statement are hidden; what counts rows and places stays."""

from business.guard.guard import guard_statement
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.rewrite import ProjectionTarget

POLICY = TablePolicy.of([AllowedTable("public", "t", ("id", "name", "at"), "name", ("a",))])
OURS = "(SELECT id, name, at FROM public.t WHERE name::text IN ('a') OFFSET 0) t"


def test_values_are_hidden() -> None:
    for text, hidden in (
        (
            "SELECT pi(), ARRAY[]::int[], length(json_build_array()::text)",
            "SELECT $1::float8, $2::int[], length($3::pg_catalog.json::text) LIMIT 50",
        ),
        ("SELECT id FROM t WHERE id IN (1, 2)", f"SELECT id FROM {OURS} WHERE id IN ($1::int4, $2::int4) LIMIT 50"),
        ("SELECT 1.5, true, NULL, '2026-01-01'::date", "SELECT $1::numeric, $2::bool, $3, $4::date LIMIT 50"),
        (
            "SELECT upper(name || 3) FROM t GROUP BY upper(name || 3)",
            f"SELECT upper(name || $1::int4) FROM {OURS} GROUP BY upper(name || $1::int4) LIMIT 50",
        ),
        ("SELECT name, id FROM t GROUP BY 1, 2", f"SELECT name, id FROM {OURS} GROUP BY 1, 2 LIMIT 50"),
        ("SELECT extract(year FROM at) FROM t", f"SELECT extract ('year' FROM at) FROM {OURS} LIMIT 50"),
        (
            "SELECT id FROM t WHERE at < CURRENT_DATE",
            f"SELECT id FROM {OURS} WHERE at < $1::date AND at > $1::date LIMIT 50",
        ),
        ("SELECT a.id FROM t a JOIN t b ON true", None),
    ):
        shared, apart = guard_statement(text, POLICY, ProjectionTarget()).unseen
        assert hidden is None or shared == hidden
        assert ("$" in apart) == ("$" in shared), text


def test_a_condition_of_conditions_grows_no_more_than_once() -> None:
    condition = "id > 1"
    for _level in range(20):
        condition = f"({condition}) > true"
    assert len(guard_statement(f"SELECT id FROM t WHERE {condition}", POLICY, ProjectionTarget()).unseen[0]) < 1_000
