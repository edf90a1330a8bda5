"""Other texts of one statement: an order in the view, the first row for the least, and rows that are looked up."""

import pytest

from business.guard.guard import guard_statement, serialise_rewritten_tree
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.rewrite import ProjectionTarget

POLICY = TablePolicy.of(
    [
        AllowedTable("public", "sale", ("id", "unit", "customer_id", "day"), "unit", ("a",), ("id",)),
        AllowedTable("public", "customer", ("id", "name"), None, (), ("id",)),
    ]
)
SALE = "(SELECT id, unit, customer_id, day FROM w.{} WHERE unit::text IN ('a')) {}"
CUSTOMER = "(SELECT id, name FROM w.customer WHERE true) c"


def others(text: str) -> list[str]:
    """The other texts, with the names of ordered views made plain."""
    found = []
    for path in guard_statement(text, POLICY, ProjectionTarget("w")).paths():
        plain = serialise_rewritten_tree(path.tree)
        for order in path.orders:
            said = "_".join(f"{name}_{'down' if descends else 'up'}" for name, descends in order.columns)
            plain = plain.replace(order.view, f"{order.table.name}_by_{said}")
        found.append(plain)
    return found


def test_the_latest_rows_are_the_first_of_a_view() -> None:
    (text,) = others("SELECT id FROM sale WHERE customer_id = 7 ORDER BY day DESC LIMIT 10")
    first = f"SELECT * FROM {SALE.format('sale_by_day_down', 'sale')} WHERE customer_id = 7 LIMIT 10"
    assert text == f"SELECT id FROM ({first}) sale ORDER BY day DESC LIMIT 10"


def test_rows_that_are_left_out_first_are_taken_first() -> None:
    (text,) = others("SELECT id AS n FROM sale ORDER BY 1 LIMIT 5 OFFSET 20")
    assert "sale_by_id_up" in text
    assert "LIMIT 25) sale ORDER BY 1 LIMIT 5 OFFSET 20" in text


def test_least_and_greatest_are_first_rows() -> None:
    (text,) = others("SELECT min(day) AS first, max(day) FROM sale WHERE customer_id = 7")
    least, greatest = (
        f"(SELECT day FROM {SALE.format(view, 'sale')} WHERE customer_id = 7 AND day IS NOT NULL LIMIT 1)"
        for view in ("sale_by_day_up", "sale_by_day_down")
    )
    assert text == f"SELECT {least} AS first, {greatest} AS max LIMIT 50"


def test_rows_of_a_join_are_looked_up() -> None:
    looked_up = (
        "LATERAL (SELECT id, unit, customer_id, day FROM w.sale looked_up WHERE unit::text IN ('a') AND "
        "looked_up.customer_id = c.id OFFSET 0) s"
    )
    (text,) = others("SELECT s.id FROM sale s JOIN customer c ON c.id = s.customer_id WHERE c.name = 'x'")
    assert text == f"SELECT s.id FROM {CUSTOMER}, {looked_up} WHERE c.name = 'x' LIMIT 50"


def test_an_order_leads_where_nothing_else_chooses_rows() -> None:
    join = "SELECT s.id, c.name FROM sale s JOIN customer c ON c.id = s.customer_id {} ORDER BY s.day DESC LIMIT 10"
    assert "sale_by_day_down" in others(join.format("WHERE s.id > 5"))[0]
    assert not any("sale_by" in text for text in others(join.format("WHERE c.name = 'x'")))


def test_what_is_not_the_same_is_not_said() -> None:
    for text in (
        "SELECT count(*) FROM sale",
        "SELECT day, count(*) FROM sale GROUP BY day ORDER BY day",
        "SELECT DISTINCT day FROM sale ORDER BY day",
        "SELECT id FROM sale ORDER BY day DESC NULLS LAST",
        "SELECT id FROM sale ORDER BY id + 1",
        "SELECT max(day) FROM sale GROUP BY id",
        "SELECT max(day) FILTER (WHERE id > 3) FROM sale",
        "SELECT s.id FROM sale s JOIN customer c ON c.id = s.customer_id",
        "SELECT s.id FROM sale s LEFT JOIN customer c ON c.id = s.customer_id WHERE s.id = 3",
        "SELECT s.id FROM sale s, customer c WHERE c.id > s.customer_id AND s.id = 3",
        "WITH sale AS (SELECT 1 AS id) SELECT id FROM sale ORDER BY id",
    ):
        assert others(text) == []


def test_without_views_nothing_is_said_otherwise() -> None:
    assert list(guard_statement("SELECT max(day) FROM sale", POLICY, ProjectionTarget()).paths()) == []


def test_what_exists_is_looked_up_for_one_row_after_another() -> None:
    text = (
        "SELECT c.name FROM customer c WHERE c.id > 3 AND NOT EXISTS (SELECT 1 FROM sale s WHERE s.customer_id = c.id)"
    )
    (other,) = others(text)
    asked = f"SELECT 1 FROM {SALE.format('sale', 's')} WHERE s.customer_id = c.id OFFSET 0"
    assert other == f"SELECT c.name FROM {CUSTOMER} WHERE c.id > 3 AND NOT EXISTS ({asked}) LIMIT 50"


def test_what_else_has_a_query_inside_has_one_text() -> None:
    for condition in (
        "EXISTS (SELECT 1 FROM sale s WHERE s.customer_id = c.id LIMIT 0)",
        "(c.id = 3 OR EXISTS (SELECT 1 FROM sale s WHERE s.customer_id = c.id))",
        "c.id IN (SELECT customer_id FROM sale)",
    ):
        assert others(f"SELECT c.name FROM customer c WHERE {condition}") == []


def test_the_order_of_a_statement_without_a_limit_must_be_far_cheaper() -> None:
    """Whether it has as many rows as our own limit nobody knows."""
    own, ours = (
        next(guard_statement(text, POLICY, ProjectionTarget("w")).paths()).cheaper
        for text in ("SELECT id FROM sale ORDER BY day LIMIT 5", "SELECT id FROM sale ORDER BY day")
    )
    assert (own, ours) == (1, 10)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("SELECT name FROM customer c ORDER BY name DESC", f"SELECT name FROM {CUSTOMER}"),
        ("SELECT name FROM customer c ORDER BY name LIMIT 900", f"SELECT name FROM {CUSTOMER} LIMIT 900"),
    ],
)
def test_rows_are_counted_without_their_order(text: str, counted: str) -> None:
    assert guard_statement(text, POLICY, ProjectionTarget("w")).countable == counted
