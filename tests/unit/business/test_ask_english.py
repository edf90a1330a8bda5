"""English as people say it: each family of wordings on the demo company's layer, and what looks like it and is not answered."""

import pytest

from agent.business.ask.english.plain import in_plain_words
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.guard.guard import guard
from agent.business.guard.rewrite import Target
from agent.business.layer.model import SemanticModel, Value
from tests.unit.business.test_ask import LAYER, POLICY, TODAY

_NAMES = {"customer": ("Fjordline Reefer",), "product": ("KeelDock", "KeelCare")}


def _named(model: SemanticModel) -> SemanticModel:
    """A table with the names of its rows, as the index of values holds them."""
    names = tuple(Value(value=name) for name in _NAMES.get(model.name, ()))
    dimensions = tuple(d.model_copy(update={"values": names}) if names and d.is_name else d for d in model.dimensions)
    return model.model_copy(update={"dimensions": dimensions})


LEXICON = Lexicon.of(LAYER.model_copy(update={"semantic_models": tuple(map(_named, LAYER.semantic_models))}))


def sql(question: str) -> str:
    """The statement of a question, which the guard accepts, without quotes."""
    found = understand(question, LEXICON, today=TODAY).sql
    guard(found, POLICY, Target())
    return found.replace('"', "")


_JUST_ONE = ["h0.customer_id = h1.id", "HAVING count(*) = 1"]
_NOT_SINCE_JULY = ["NOT EXISTS", "ordered_at >= '2026-07-01'"]
_BY_REGION = ["t1.region", "sum(t0.amount)", "GROUP BY t1.region"]
_BOUGHT_IN_2025 = [
    "product AS t0",
    "IN ('Fjordline Reefer') AND e0.ordered_at >= '2025-01-01' AND e0.ordered_at < '2026-01-01'",
]
_OF_DOCK = ["customer AS t0", "IN ('KeelDock') AND e0.ordered_at >= '2026-01-01'"]
_ON_PROBATION = ["t0.name", "employee", "IN ('probation')", "IN ('Hangzhou')"]
_RUNNING = ["t0.name", "started_on >= '2026-07-01'", "IN ('active')"]
_HANGZHOU = ["count(*)", "employee", "IN ('Hangzhou')"]
_OCTOBER = ["sum(t0.amount)", "ordered_at >= '2026-10-01'", "ordered_at < '2026-11-01'"]
_PRICE = ["t0.list_price", "IN ('KeelDock')"]
_FAMILIES: list[tuple[list[str], list[str]]] = [
    (_JUST_ONE, ["Which customers have just one order?", "customers with only one order", "customers that ordered only once",
                 "customers with exactly 1 order", "Who are the customers with only a single order?"]),
    (_NOT_SINCE_JULY, ["Which customers haven't placed a single order since the beginning of July?",
                     "customers who have not ordered since July",
                       "Which customers didn't order anything since July?", "customers without a single order since July"]),
    (_BY_REGION, ["Break revenue down by region", "How is revenue distributed across the regions?", "revenue split up by region",
                  "Could you break down our revenue by region, please?", "split revenue by region"]),
    (_BOUGHT_IN_2025, ["What did Fjordline Reefer buy in 2025?", "which products did Fjordline Reefer order in 2025",
                       "products ordered by Fjordline Reefer in 2025", "What has Fjordline Reefer bought in 2025?"]),
    (_OF_DOCK, ["number of different customers that ordered KeelDock this year", "Who bought KeelDock this year?",
                "Which customers have ordered KeelDock this year?", "How many customers bought KeelDock this year?"]),
    (_ON_PROBATION, ["Who is still on probation in Hangzhou?", "Which employees in Hangzhou are still on probation?"]),
    (_RUNNING, ["Which projects that started since the beginning of July are still in progress?",
                "I'd like to see the projects which started since July and are still running",
                "Would you be so kind as to list the projects that started since July and are still running?"]),
    (_HANGZHOU, ["what's the headcount in Hangzhou", "How many people work in our Hangzhou office?",
                     "How many staff members do we employ in Hangzhou?"]),
    (_OCTOBER, ["What did we turn over in October?", "How much did we sell in October?", "What did revenue come to in October?",
                "revenue over the course of October", "sales in the month of October"]),
    (_PRICE, ["list price of KeelDock", "What does KeelDock cost?", "What's the price of KeelDock?"]),
    (["customer AS t0", "e0.status::text IN ('paid')", "NOT EXISTS"], ["customers without a paid order",
                     "Which customers have never had a paid order?"]),
    (["t0.office", "IN ('Hangzhou', 'Rotterdam')", "GROUP BY"], ["Which office has more people, Hangzhou or Rotterdam?"]),
    (["max(t0.ordered_at)", "Fjordline"], ["last order date of Fjordline Reefer"]),
    (["t0.ordered_at", "ORDER BY t0.ordered_at DESC", "LIMIT 1"], ["When did Fjordline Reefer last order something?",
                                                                    "date of the latest order of Fjordline Reefer"]),
    (["t0.name", "NOT IN ('left')", "ORDER BY t0.hired_on ASC", "FIRST 1 ROWS WITH TIES"], ["Who has been with the company longest?",
                                                                              "Who has been with us the longest?"]),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "question"), [(parts, question) for parts, asked in _FAMILIES for question in asked])
def test_a_family_of_wordings_is_read_alike(parts: list[str], question: str) -> None:
    found = sql(question)
    assert [part for part in parts if part not in found] == [], found


@pytest.mark.parametrize(
    "question",
    [
        "customers that have only cancelled orders",  # and no others
        "customers who ordered again in 2026",  # a second time
        "almost paid orders",
        "customers who ordered KeelDock but not KeelCare",
        "orders delivered last month",  # when that was is not in the data
        "How many orders were returned by customers in 2025?",
        "who started this year",  # projects start, and are no one
        "our newest customers",  # how many of them?
        "most recent hires",
        "What did Fjordline Reefer do in 2025?",
        "Did we sell more in 2025 than in 2024?",  # more of what
        "orders that left the house last week",
        "How many customers did we lose in 2026?",
        "release date of KeelDock",
        "What did we spend in October?",
        "orders over the counter",
    ],
)
def test_near_misses_are_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("customers with more than 5 orders", ["SELECT t0.name, (SELECT count(*) FROM", "AS count"]),
        ("projects with a budget over 100,000", ["SELECT t0.name, t0.budget FROM"]),
        ("customers who spent more than 100,000 in 2025", ["AS revenue FROM", "h0.ordered_at >= '2025-01-01'"]),
    ],
)
def test_what_a_list_is_cut_by_is_shown_beside_it(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert [part for part in parts if part not in found] == [], found


def test_what_is_said_of_one_order_is_said_of_the_same_order() -> None:
    found = sql("Which products were ordered by German customers in 2025?")
    assert found.count("EXISTS") == 1, found
    assert "created_on" not in found, found


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Hi, could you please tell me how many orders we have?", "how many orders we have?"),
        ("What's the e-mail of the office?", "What is the email of the office?"),
        ("orders over 2000", "orders over 2000"),  # a number, and no year
        ("revenue over the last 30 days", "revenue in last 30 days"),
        ('songs on "Break it down by me"', 'songs on "Break it down by me"'),  # quoted names stay as they are
    ],
)
def test_plain_words(said: str, plain: str) -> None:
    assert in_plain_words(said) == plain
