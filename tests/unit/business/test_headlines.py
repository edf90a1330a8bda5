"""Headlines: what a person would write, as true as the statement, in both languages."""

from collections.abc import Sequence
from datetime import date
from itertools import product
from typing import Any

import pytest

from business.connections.postgres_session import FetchedRows as Found
from business.logical_query.compiler import compile_query
from business.logical_query.phrases import format_count
from business.logical_query.query import (
    Breakdown,
    Comparison,
    Filter,
    LogicalQuery,
    Metric,
    Period,
    ResultOrder,
    Rows,
    TimeRange,
    name_metric_columns,
)
from business.logical_query.titles import describe_with_title
from business.logical_query.wording import QueryWording
from business.presentation.headline import Headline, ShownResult, build_headline
from business.results.shown_query import TableReach
from tests.unit.business.test_default_filters import CATALOG, TODAY

ORDERS, REVENUE = Metric(name="sales_order"), Metric(name="sales_order.revenue")
CANCELLED = Filter(field="sales_order.status", values=("cancelled",))
GERMANY = Filter(field="customer.country", values=("Germany",))
THIS_YEAR = TimeRange(period=Period(unit="year"))
SEPTEMBER = TimeRange(start=date(2026, 9, 1), end=date(2026, 10, 1))
BY_REGION, BY_MONTH = Breakdown(name="customer.region"), Breakdown(grain="month")
BEST = ResultOrder(limit=1)


def said(
    query: LogicalQuery | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    language: str = "en",
    *,
    total: int | None = None,
    units: Sequence[str] = (),
    meaning: QueryWording | None = None,
    reach: Sequence[TableReach] = (),
) -> Headline:
    if query is not None:
        meaning = describe_with_title(query, CATALOG, language, TODAY, sql=compile_query(query, CATALOG, TODAY))
    found = Found(tuple(columns), tuple(map(tuple, rows)), is_truncated=False, elapsed_ms=0)
    units = units or [""] * len(columns)
    shown = ShownResult(found, total, tuple(columns), units, [{}] * len(columns), language == "zh")
    return build_headline(shown, meaning or QueryWording(), reach)


COUNT = LogicalQuery(metrics=(Metric(name="customer"),))
PART = LogicalQuery(metrics=(Metric(name="sales_order", filters=(CANCELLED,)),))
LIST = LogicalQuery(rows=Rows(model="customer"), filters=(GERMANY,))
TOP = LogicalQuery(metrics=(ORDERS,), dimensions=(Breakdown(name="customer"),), ranking=BEST)
MONTHS = LogicalQuery(metrics=(REVENUE,), dimensions=(BY_MONTH,), times=(THIS_YEAR,))
REGIONS = LogicalQuery(metrics=(REVENUE,), dimensions=(BY_REGION,), times=(SEPTEMBER,))
COMPARED = LogicalQuery(metrics=(REVENUE,), times=(SEPTEMBER,), comparison=Comparison())
MANY = [[f"2026-{month:02}", 10 * month] for month in range(1, 12)]


@pytest.mark.parametrize(
    ("query", "columns", "rows", "en", "zh"),
    [
        (COUNT, ["count"], [[96]], "96 customers", "共 96 个客户"),
        (COUNT, ["count"], [[1]], "1 customer", "共 1 个客户"),
        (LogicalQuery(metrics=(Metric(name="employee"),), times=(THIS_YEAR,)), ["count"], [[4]],
         "4 employees (hire date: 2026)", "共 4 名员工（入职日期：2026 年）"),
        (PART, ["share", "part", "whole"], [[40.0, 240, 600]],
         "40 % of orders are cancelled (240 of 600)", "订单中已取消的占 40%（600 笔中 240 笔）"),
        (LogicalQuery(metrics=(REVENUE,), times=(SEPTEMBER,)), ["revenue"], [[1250]],
         "Revenue, September 2026: 1,250 CNY", "2026 年 9 月销售额：1,250 CNY"),
        (LogicalQuery(metrics=(REVENUE,)), ["revenue"], [[None]], "Revenue: no value", "销售额：无数值"),
        (REGIONS, ["region", "revenue"], [["Europe", 5], ["Asia", 3]],
         "Revenue by region, September 2026: Europe (5); Asia (3)", "2026 年 9 月各地区销售额：Europe（5）；Asia（3）"),
        (LIST, ["name"], [["A"], ["B"]], "2 customers (Germany): A; B", "共 2 个客户（德国）：A；B"),
        (LIST, ["name"], [], "No customers (Germany)", "没有客户（德国）"),
        (REGIONS, ["region", "revenue"], [], "Revenue by region, September 2026: nothing found", "2026 年 9 月各地区销售额：没有数据"),
        (COMPARED, ["current", "previous", "change", "change_percent"], [[120, 100, 20, 20]],
         "Revenue – previous: 100 CNY; current: 120 CNY; 20 CNY more, +20.0 %",
         "销售额：previous为 100 CNY；current为 120 CNY；增加 20 CNY，+20.0%"),
        (TOP, ["customer", "count"], [["A", 7]], "Customer with the most orders: A (7)", "订单最多的客户：A（7）"),
        (TOP, ["customer", "count"], [["A", 7], ["B", 7]],
         "Customer with the most orders: A, B (tied, 7 each)", "订单最多的客户：A、B（并列，均为 7）"),
        (TOP, ["customer", "count"], [[f"C{n}", 7] for n in range(24)],
         "Customer with the most orders: 24 tied (7 each)", "订单最多的客户：24 项并列（均为 7）"),
        (TOP.model_copy(update={"ranking": ResultOrder(limit=5)}), ["customer", "count"], [[f"C{n}", 9 - n // 4] for n in range(8)],
         "5 customers with the most orders (8, as the last place is shared)", "订单最多的 5 个客户（末位并列，共 8 项）"),
    ],
)  # fmt: skip
def test_a_person_would_write_it(query: LogicalQuery, columns: list[str], rows: list[Any], en: str, zh: str) -> None:
    assert [said(query, columns, rows, language).text for language in ("en", "zh")] == [en, zh]
    assert "rows" not in said(query, columns, rows).text


def test_the_quiet_line_tells_what_limits_the_result() -> None:
    reach = [TableReach(table="public.customer", columns=(), units=("产品组",))]
    told = said(MONTHS, ["month", "revenue"], MANY, reach=reach)
    assert told.note == "2026 is not over yet · order status: paid or open · in the rows of 产品组"
    people = LogicalQuery(metrics=(Metric(name="employee"),))
    assert said(people, ["count"], [[30]], "zh", reach=reach).note == "在职状态：试用期或正式 · 产品组 可见的数据内"
    left = people.model_copy(update={"filters": (Filter(field="employee.status", values=("left",)),)})
    assert said(left, ["count"], [[3]]).note == ""  # the default filter is lifted
    cut = TOP.model_copy(update={"ranking": ResultOrder(limit=2, ties=False)})
    assert said(cut, ["customer", "count"], [["A", 7], ["B", 7]]).note == "limited to 2; others may have the same value"
    assert said(LIST, ["name"], [[f"N{n}"] for n in range(50)], total=96).note == "First 50 of 96 rows"
    assert said(LIST, ["name"], [[f"N{n}"] for n in range(50)], total=96).text == "96 customers (Germany)"
    assert said(None, ["n"], [[1]], meaning=QueryWording(limit=1, cut=True)).note.startswith("limited to 1")


def test_nothing_is_said_of_the_rows_that_somebody_sees_never_of_the_company() -> None:
    theirs = [TableReach(table="public.customer", columns=(), units=("产品组",))]
    nobodys = [TableReach(table="public.customer", columns=(), units=())]
    zero = said(COUNT, ["count"], [[0]], reach=theirs)
    assert (zero.text, zero.value, zero.note) == ("0 customers, in the rows of 产品组", "0", "")
    assert said(COUNT, ["count"], [[0]], "zh", reach=theirs).text == "产品组 可见的数据内：共 0 个客户"
    assert said(LIST, ["name"], [], reach=theirs).text == "No customers (Germany), in the rows of 产品组"
    assert said(COUNT, ["count"], [[0]], "zh", reach=nobodys).text == "您不属于任何部门，看不到任何一行：共 0 个客户"
    assert said(COUNT, ["count"], [[0]]).text == "0 customers"


def test_a_statement_without_a_query_is_named_by_its_columns() -> None:
    assert said(None, ["region", "customers"], [["Europe", 48], ["Asia", 2]]).title == "Customers by region"
    assert said(None, ["count"], [[48]]).text == "48"
    assert said(None, ["average_amount"], [[2.5]], "zh").text == "Average amount：2.5"
    assert said(None, ["a", "b", "c", "d"], [["x", "y", "z", "w"], ["x", "y", "z", "v"]]).text == "A, b, c, …"


METRICS = (Metric(name="customer"), ORDERS, REVENUE, Metric(name="sales_order.amount", agg="avg"))
KEPT = (
    GERMANY,
    CANCELLED.model_copy(update={"op": "not_in"}),
    Filter(field="sales_order.amount", op=">", values=(987,)),
)
WORDS = {"en": ("Germany", "not cancelled", "> 987"), "zh": ("德国", "非已取消", "> 987")}
TIMES = (
    (THIS_YEAR, "2026"),
    (TimeRange(start=date(2026, 4, 1), end=date(2026, 7, 1)), "2026"),
    (TimeRange(start=date(2025, 3, 4), end=date(2025, 3, 19)), "2025-03-18"),
    (TimeRange(end=date(2024, 6, 2)), "2024-06-01"),
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_time_and_condition_of_a_query_is_in_its_headline(language: str) -> None:
    """Whatever is asked: a number that hides a condition is read as another number."""
    dimensions: tuple[tuple[Breakdown, ...], ...] = ((), (BY_REGION,), (BY_MONTH, BY_REGION))
    rankings = (None, ResultOrder(limit=3), ResultOrder(limit=1, descending=False))
    asked = 0
    for metric, by, (time, days), ranking, place in product(METRICS, dimensions, TIMES, rankings, range(len(KEPT))):
        is_of_orders = metric.name != "customer" or place == 0
        if not is_of_orders or (ranking and not by):
            continue
        query = LogicalQuery(metrics=(metric,), dimensions=by, times=(time,), filters=(KEPT[place],), ranking=ranking)
        columns = [*(item.grain or "region" for item in by), *name_metric_columns(query)]
        for count in (1, 60):
            row = [*("x" for _each in by), 5]
            text = said(query, columns, [row] * (count if by else 1), language).text
            assert days in text, (query, text)
            assert WORDS[language][place] in text, (query, text)
            asked += 1
    assert asked > 500


def test_things_are_counted_with_their_plural_and_measure_word() -> None:
    for thing, en, zh in (
        (("invoice", "发票"), "3 invoices", "3 张发票"),
        (("company", "供应商"), "3 companies", "3 家供应商"),
        (("person", "兼职人员"), "3 people", "3 名兼职人员"),
        (("staff", "SKU"), "3 staff", "3 个 SKU"),
    ):
        assert (format_count("3", thing[0], is_chinese=False), format_count("3", thing[1], is_chinese=True)) == (en, zh)
