"""Two long values are not compared piece by piece: PostgreSQL works on one such call until it is done, whatever the time limit."""

import pytest

from business.guard.guard import guard_statement
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rewrite import ProjectionTarget

POLICY = TablePolicy.of([AllowedTable("public", "customers", ("id", "name", "region", "tags"), None)])
TEXT = "(SELECT string_agg('a', '') AS t FROM generate_series(1, 400000)) x"
LIST = "(SELECT array_agg(g) AS a FROM generate_series(1, 300000) g) x"
JSON = "(SELECT jsonb_agg(g::text) AS a, array_agg(g::text) AS b FROM generate_series(1, 99999) g) x"
DOUBLED = f"(SELECT a || a || a || a AS t FROM (SELECT '{'x' * 7000}' || name || name AS a FROM customers) y) x"

BOTH_LONG = [
    f"SELECT strpos(t, 'b' || left(t, 200000)) FROM {TEXT}",
    f"SELECT position('b' || t IN t) FROM {TEXT}",
    f"SELECT length(replace(t, 'b' || t, '')) FROM {TEXT}",
    f"SELECT split_part(t, t || 'b', 1) FROM {TEXT}",
    f"SELECT cardinality(string_to_array(t, t || 'b')) FROM {TEXT}",
    f"SELECT t LIKE '%' || t || 'b' FROM {TEXT}",
    f"SELECT t NOT ILIKE '%' || t || 'b' FROM {TEXT}",
    f"SELECT t LIKE ANY (SELECT t || 'b') FROM {TEXT}",
    f"SELECT t LIKE ALL (ARRAY[t || 'b']) FROM {TEXT}",
    f"SELECT t LIKE '%{'a' * 90}b' FROM {TEXT}",
    f"SELECT t LIKE '%{'a' * 9}b%' FROM {TEXT}",
    f"SELECT a && a FROM {LIST}",
    f"SELECT a <@ a FROM {LIST}",
    f"SELECT a @> a FROM {LIST}",
    f"SELECT a @> ARRAY[{', '.join(map(str, range(40)))}] FROM {LIST}",
    f"SELECT a ?| b FROM {JSON}",
    f"SELECT a ?& b FROM {JSON}",
    f"SELECT a - b FROM {JSON}",
    f"SELECT a @> a FROM {JSON}",
    f"SELECT strpos(t, t || 'b') FROM {DOUBLED}",
    # called otherwise on the way
    "SELECT strpos(string_agg, 'b' || string_agg) FROM (SELECT string_agg('a', '') FROM generate_series(1, 9)) x",
    f"SELECT strpos(u.v, 'b' || u.v) FROM {TEXT.removesuffix(' x')} AS u(v)",
    f"WITH w(v) AS (SELECT t FROM {TEXT}) SELECT strpos(v, 'b' || v) FROM w",
    f"SELECT strpos(n, n || 'b') FROM (SELECT 'x' AS n UNION ALL SELECT t FROM {TEXT}) y",
    f"SELECT strpos(column1, column1 || 'b') FROM (VALUES ((SELECT t FROM {TEXT}))) y",
    f"SELECT strpos(u, u || 'b') FROM {DOUBLED}, unnest(ARRAY[t]) u",
    f"SELECT strpos(unnest, unnest || 'b') FROM {DOUBLED}, unnest(ARRAY[t])",
    f"SELECT strpos(value, value || 'b') FROM {DOUBLED}, json_array_elements_text(json_build_array(t)) e",
    f"SELECT strpos(x::text, x::text || 'b') FROM {TEXT}",
    f"SELECT strpos(j::text, j::text || 'b') FROM {TEXT} JOIN (SELECT 'x' AS t) y USING (t) AS j",
    f"SELECT strpos(concat(x.*), concat(x.*, 'b')) FROM {TEXT}",
    f"SELECT strpos(max, max || 'b') FROM (SELECT max(t) FROM {TEXT}) y",
    f'SELECT strpos("case", "case" || \'b\') FROM (SELECT CASE WHEN true THEN t END FROM {TEXT}) y',
    f"SELECT strpos(\"?column?\", \"?column?\" || 'b') FROM (SELECT t || 'b' FROM {TEXT}) y",
    f"SELECT strpos(t, v) FROM {TEXT}, (SELECT '{'a' * 50}' AS v) y",
    "SELECT (ARRAY(SELECT g FROM generate_series(1, 99999) g)) && (ARRAY(SELECT g FROM generate_series(1, 99999) g))",
    "SELECT n - 1, strpos(x, x || 'b') FROM (SELECT array_agg(name)::text AS x, 1 AS n FROM customers) y",
]
ONE_IS_SHORT = [
    "SELECT region, string_agg(name, ', ') FROM customers WHERE name LIKE '%' || region || '%' GROUP BY region",
    "SELECT name FROM customers WHERE strpos(name, region) > 0 OR replace(name, region, '') = name",
    "SELECT split_part(string_agg(name, ', ' ORDER BY id), ', ', 1) FROM customers",
    "SELECT region FROM customers GROUP BY region HAVING array_agg(name) @> ARRAY['Acme', 'Ajax']",
    "SELECT region FROM customers GROUP BY region HAVING string_agg(name, ' ') ILIKE '%acme%'",
    "WITH m AS (SELECT region, count(*) AS n FROM customers GROUP BY region) SELECT jsonb_agg(a.n - b.n) FROM m a, m b",
]


@pytest.mark.parametrize("text", BOTH_LONG)
def test_two_long_values_are_not_compared(text: str) -> None:
    with pytest.raises(SqlRefused, match="both be long") as refused:
        guard_statement(text, POLICY, ProjectionTarget())
    assert refused.value.reason is RefusalKind.COST


def test_a_long_value_is_compared_with_a_short_one() -> None:
    for text in ONE_IS_SHORT:
        assert guard_statement(text, POLICY, ProjectionTarget()).sql
