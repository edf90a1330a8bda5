"""Values as people read them: years are no quantities, and a value is called what the layer calls it in their language."""

from datetime import datetime
from decimal import Decimal

from business.results.cells import format_row, is_year
from business.results.shown_query import ResultTable
from business.semantic_layer.model import Value


def test_a_value_is_told_by_its_column() -> None:
    for column, value, told in (
        ("year", 2025, "2025"),
        ("founded_year", 1998, "1998"),
        ("revenue", 2025, "2,025"),
        ("sales_per_year", 2025, "2,025"),
        ("year", Decimal("2025.5"), "2,025.5"),
        ("year", None, "–"),
        ("signed", datetime(2026, 11, 22, 7, 45, 10), "2026-11-22T07:45"),  # noqa: DTZ001  # as PostgreSQL has a timestamp
    ):
        assert format_row([column], [value]) == [told]


def test_words_are_those_of_their_own_column() -> None:
    row = format_row(["status", "note"], ["open", "open"], [{"open": "未付款"}, {}])
    assert row == ["未付款", "open"]


def test_a_value_is_called_by_its_first_word_of_a_language() -> None:
    for value, english, chinese in (
        (Value(value="华东", synonyms=("East China", "东部")), "East China", "华东"),
        (Value(value="open", synonyms=("未付款", "待付款", "unpaid")), "open", "未付款"),
        (Value(value="A7"), "A7", "A7"),
    ):
        assert (value.text("en"), value.text("zh-hans")) == (english, chinese)


def test_a_column_of_years_is_no_column_of_numbers() -> None:
    table = ResultTable(columns=("year", "count"), rows=((2025, 3), (None, 4)))
    assert table.heads == [("year", False), ("count", True)]
    assert not is_year("count", 2025)
    assert all(is_year(name, 2023) for name in ("Contract year", "签约年份"))
