"""The demo's business data look like a company's: what can be asked about them has an answer."""

from typing import Any

import psycopg

from business.address import Address

STATES = {"paid": (0.75, 0.92), "open": (0.05, 0.2), "cancelled": (0.03, 0.12)}  # least and most share of all orders


def rows(address: Address, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(**address.keywords()) as connection:
        return connection.execute(statement).fetchall()


def test_orders_are_in_each_state_in_sensible_proportions(demo_data: Address) -> None:
    shares = dict(
        rows(demo_data, "SELECT status, count(*)::float / sum(count(*)) OVER () FROM sales_order GROUP BY status")
    )
    assert shares.keys() == STATES.keys()
    assert all(least <= shares[state] <= most for state, (least, most) in STATES.items()), shares


def test_no_state_depends_on_the_product_or_the_region(demo_data: Address) -> None:
    for column in ("p.name", "c.region"):
        grouped = f"""SELECT {column}, count(DISTINCT o.status), avg((o.status = 'cancelled')::int)
            FROM sales_order o JOIN product p ON p.id = o.product_id JOIN customer c ON c.id = o.customer_id GROUP BY 1"""
        assert [row for row in rows(demo_data, grouped) if row[1] < len(STATES) or row[2] > 0.2] == []


def test_open_orders_are_recent_ones_but_for_a_few(demo_data: Address) -> None:
    ((recent, late),) = rows(
        demo_data,
        "SELECT count(*) FILTER (WHERE ordered_at > now() - interval '91 days'), "
        "count(*) FILTER (WHERE ordered_at < now() - interval '91 days') FROM sales_order WHERE status = 'open'",
    )
    assert 0 < late < recent / 2
