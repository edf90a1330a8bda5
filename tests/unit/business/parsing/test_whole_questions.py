"""Every part of a question is read as its own words have it, or nothing is: no half, no condition of something else."""

import pytest

from business.logical_query.query import LogicalQuery
from business.parsing.base import Context, Unparseable
from business.parsing.reader.parser import parse
from tests.unit.business.parsing.test_words import LEXICON, TODAY


def read(question: str) -> LogicalQuery:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert isinstance(parsed, LogicalQuery), parsed
    return parsed


def require_unread(*questions: str) -> None:
    for question in questions:
        assert isinstance(parse(question, LEXICON, Context("en", TODAY)), Unparseable), question


def test_two_numbers_of_which_one_has_a_condition_are_not_read_as_one() -> None:
    require_unread(
        "How many customers do we have in total and how many of them are in Europe?",
        "How many orders do we have, how many are cancelled?",
        "Total number of customers and number of customers in Germany",
        "一共有多少客户，欧洲有多少？",
        "今年有多少订单，多少已取消？",
        "客户总数和欧洲客户数",
        "客户总数，欧洲客户数",
    )


def test_a_number_that_is_named_and_asked_for_is_one() -> None:
    assert read("客户数量在欧洲有多少？") == read("欧洲有多少客户")


def test_a_condition_of_one_number_is_not_put_on_another() -> None:
    require_unread(
        "Revenue in Europe and number of orders",
        "Revenue in Europe and units sold in China",
        "What is our revenue and how many orders came from Norway?",
        "销售额和德国的订单数",
    )
    assert len(read("revenue and number of orders in Norway").metrics) == 2
    assert len(read("今年德国的销售额和销量").metrics) == 2


def test_a_comparison_or_a_running_total_is_not_read_as_the_number_alone() -> None:
    require_unread(
        "今年每月累计销售额", "今年累计销售额", "2026年各季度销售额环比增长", "今年每月销售额增长率", "本月销售额同比"
    )
    require_unread(
        "growth in revenue by month this year", "revenue October vs September", "revenue this year vs last year"
    )
    require_unread(
        "本月销售额比去年同期", "revenue this month compared to the same period last year", "销售额今年和去年对比"
    )


def test_one_column_is_not_both_something_and_not_something_else() -> None:
    require_unread("德国有多少客户，不在挪威")


def test_what_an_exception_is_of_is_not_guessed() -> None:
    require_unread("all customers except carriers in Germany", "除了德国的承运商有多少客户", "除了德国有多少客户")
    assert read("customers in Germany not in the port industry") == read("德国不在港口行业的客户有哪些")


def test_a_time_of_which_only_one_end_is_read_is_not_read() -> None:
    require_unread("revenue from July to spring", "revenue July to")
    assert read("revenue from July to now") == read("7月至今的销售额")


def test_an_average_of_each_group_is_not_one_of_all() -> None:
    require_unread("各地区平均每个客户的销售额", "欧洲平均每个客户的销售额")


@pytest.mark.parametrize("question", ["How many orders have they placed?", "他们下了多少订单？"])
def test_things_that_nothing_names_are_not_all_there_are(question: str) -> None:
    require_unread(question)


@pytest.mark.parametrize("question", ["德国和挪威的客户各有多少？", "德国和挪威分别有多少客户？"])
def test_each_of_the_values_that_are_named_has_a_number(question: str) -> None:
    parsed = read(question)
    assert [dimension.name for dimension in parsed.dimensions] == ["customer.country"]
    assert parsed.filters == read("德国和挪威有多少客户").filters
