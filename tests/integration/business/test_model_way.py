"""A model writes the statement: what it is shown, what becomes of what it writes, and what it cannot do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from agent.prompting import Prompt
from agent.providers.configured import connect, served_model
from agent.tools.base import ToolContext
from agent.tools.calling import Called, call_tool
from audit.actions import Action
from audit.models import Entry
from authz.principal import Principal
from business.address import Address
from business.logical_query.query import LogicalQuery
from business.models import DataSource
from business.parsing.base import Example
from business.parsing.model.parser import similar
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.agent.modelled import modelled, sent
from tests.integration.business.conftest import make_demo
from tests.modelserver import ModelServer, Step, says, says_json

QUESTION = "How many loyal customers are there?"  # no word of the layer says what loyal is: the reader hands it on
LOYAL = {"metrics": [{"name": "customer", "agg": "count"}], "times": [{"start": "2026-01-01"}]}
COUNT = "SELECT count(*) AS n FROM customer WHERE since >= DATE '2026-01-01'"


class Conversation:
    """A person who asks through the tool, with the model's server and the prompts that were used."""

    def __init__(self, person: User, server: ModelServer) -> None:
        self.person, self.server, self.prompts = person, server, list[str]()

    def ask(self, question: str = QUESTION) -> Called:
        served = served_model()
        assert served is not None
        principal = Principal.of(self.person)

        async def called() -> Called:
            model = connect(served)
            ctx = ToolContext(principal, Scope(), "en", model, self._use)
            try:
                return await call_tool(
                    "database_query", json.dumps({"question": question}), allowed=["database_query"], ctx=ctx
                )
            finally:
                await model.aclose()

        return async_to_sync(called)()

    def _use(self, prompt: Prompt) -> str:
        self.prompts.append(prompt.name)
        return prompt.text


@contextmanager
def talking(person: User, *steps: Step) -> Iterator[Conversation]:
    with modelled(*steps) as server:
        yield Conversation(person, server)


def actions() -> list[str]:
    return sorted(Entry.objects.filter(action__startswith="sql.").values_list("action", flat=True))


def test_the_model_fills_a_logical_query_and_it_is_compiled(northerner: User) -> None:
    with talking(northerner, says_json({"query": LOYAL})) as talk:
        called = talk.ask()
    assert called.problem == ""
    assert called.result.data["rows"] == [[75]]
    assert "IN ('North')" in called.result.data["sql"]
    (finding,) = called.result.findings
    assert finding.query is not None
    assert finding.query.logical_query == LogicalQuery.model_validate(LOYAL)
    assert talk.prompts == ["logical_query.en"]
    asked = sent(talk.server.requests[0])
    assert "table customer: public.customer" in asked
    assert "api_token" not in asked
    assert f"question: {QUESTION}" in asked


def test_the_model_is_asked_first_even_for_what_the_words_say(northerner: User) -> None:
    narrower = {
        "metrics": [{"name": "customer", "agg": "count"}],
        "filters": [{"field": "customer.segment", "values": "large"}],
    }
    with talking(northerner, says_json({"query": narrower})) as talk:
        called = talk.ask("how many customers are there")
    assert called.result.data["conditions"] == ["segment = large"]


def test_where_the_model_fails_the_words_are_read(northerner: User) -> None:
    with talking(northerner, *[Step(status=500)] * 5) as talk:
        assert talk.ask("how many customers are there").result.data["rows"] == [[75]]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"metrics": [{"name": "customer.turnover"}]}, "There is nothing called customer.turnover."),
        (
            {
                "metrics": [{"name": "customer", "agg": "count"}],
                "filters": [{"field": "customer.segment", "values": ["huge"]}],
            },
            "There is no segment “huge”; there are large, small.",
        ),
        ({"metrics": [{"name": "customer", "agg": "sum"}]}, "The rows of customer can only be counted."),
    ],
)
def test_what_does_not_fit_the_layer_goes_back_with_the_reason(
    northerner: User, wrong: dict[str, Any], why: str
) -> None:
    with talking(northerner, says_json({"query": wrong}), says_json({"query": LOYAL})) as talk:
        called = talk.ask()
    assert called.result.data["rows"] == [[75]]
    assert why in sent(talk.server.requests[1])
    assert talk.prompts == ["logical_query.en", "logical_query_repair.en"]


def test_after_two_repairs_there_is_no_answer(northerner: User) -> None:
    wrong = says_json({"query": {"metrics": [{"name": "customer.turnover"}]}})
    with talking(northerner, wrong, wrong, wrong) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert "There is nothing called customer.turnover." in called.result.error
    assert len(talk.server.requests) == 3
    assert actions() == []


def test_a_refused_statement_is_shown_its_fault_once(northerner: User) -> None:
    wrong = says_json({"sql": "SELECT count(*) FROM customer WHERE loyal"})
    with talking(northerner, wrong, says_json({"sql": COUNT})) as talk:
        called = talk.ask()
    assert called.result.data["rows"] == [[75]]
    assert 'column "loyal" does not exist' in sent(talk.server.requests[1])
    assert actions() == [Action.SQL_EXECUTED, Action.SQL_REFUSED]
    (finding,) = called.result.findings
    assert finding.query is not None
    assert finding.query.logical_query is None


def test_a_second_fault_ends_it(northerner: User) -> None:
    wrong = says_json({"sql": "SELECT api_token FROM customer"})
    with talking(northerner, wrong, wrong) as talk:
        called = talk.ask()
    assert called.problem == "SqlRefused"
    assert 'column "api_token" does not exist' in called.result.error
    assert actions() == [Action.SQL_REFUSED, Action.SQL_REFUSED]


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"sql": "", "missing": "nothing says who is loyal"}, "shop cannot answer this: nothing says who is loyal"),
        ({"sql": "SELECT 42 AS loyal_customers"}, "The statement reads no table."),
        (
            {"sql": "SELECT count(*) FROM customer, sale"},
            "The tables are not joined along their keys: customer / sale.",
        ),
        ({"sql": "SELECT count(*) FROM customer JOIN sale ON true"}, "The tables are not joined along their keys"),
        (
            {"sql": "SELECT count(*) FROM customer c JOIN sale s ON s.id = c.id"},
            "The tables are not joined along their keys",
        ),
        (
            {"sql": "SELECT count(*) FROM customer WHERE segment = 'huge'"},
            "There is no segment “huge”; there are large, small.",
        ),
        ({}, "The language model gave nothing that could be asked."),
    ],
)
def test_what_would_give_a_wrong_number_is_not_run(northerner: User, written: dict[str, Any], sentence: str) -> None:
    with talking(northerner, *[says_json(written)] * (1 if "missing" in written else 3)) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert sentence in called.result.error
    assert called.result.findings == ()
    assert actions() == []


def test_prose_is_no_answer(northerner: User) -> None:
    with talking(northerner, *[says("There are 75 loyal customers.")] * 3) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert called.result.findings == ()
    assert len(talk.server.requests) == 3


def test_a_query_of_another_form_goes_back_with_the_reason(northerner: User) -> None:
    wrong = says_json({"query": {"metrics": [{"name": "customer", "agg": "median"}]}})
    with talking(northerner, wrong, says_json({"query": LOYAL})) as talk:
        assert talk.ask().result.data["rows"] == [[75]]
    assert "query.metrics.0.agg" in sent(talk.server.requests[1])


def test_an_answer_in_a_fence_is_read_and_nonsense_is_asked_for_again(northerner: User) -> None:
    fenced = says(f'Here it is:\n```json\n{{"query": {json.dumps(LOYAL)},}}\n```')
    with talking(northerner, says("forty-two"), fenced) as talk:
        assert talk.ask().result.data["rows"] == [[75]]


def test_several_meanings_are_asked_back(northerner: User) -> None:
    unclear = ["How many customers are large?", "How many customers bought in 2026?"]
    with talking(northerner, says_json({"unclear": unclear})) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert called.result.data["readings"] == unclear


def test_a_model_s_statement_is_held_by_the_guard(northerner: User) -> None:
    """The sandbox is not asked: the guard refuses what names another unit's rows or writes."""
    theirs = says_json({"sql": "SELECT count(*) FROM customer WHERE org_unit = 'South'"})
    with talking(northerner, theirs) as talk:
        assert talk.ask().result.data["rows"] == [[0]]
    deletes = says_json({"sql": "DELETE FROM customer"})
    with talking(northerner, deletes, deletes) as talk:
        assert "Only questions are run" in talk.ask().result.error


def test_who_may_ask_nothing_sends_nothing_to_the_model(source: DataSource) -> None:
    with talking(make_user("sam")) as talk:
        assert "There is no data source that you may ask" in talk.ask().result.error


def test_the_most_similar_examples_come_last() -> None:
    examples = [
        Example("How many orders are there?", "1"),
        Example("哪些客户最忠诚？", "2"),
        Example("How many loyal customers do we have?", "3"),
        Example("Who was born on Mars", "4"),
    ]
    assert [example.sql for example in similar(QUESTION, examples)] == ["3"]
    assert [example.sql for example in similar("哪些客户忠诚", examples)] == ["2"]
    assert similar("How many are there?", examples) == []


def test_the_command_measures_the_model_s_way(db: None, tmp_path: Path) -> None:
    make_user("eva")
    (tmp_path / "tiny.sql").write_text(
        "CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, 'a'), (2, 'b');"
    )
    lines = [
        {"id": "1", "question": "How many are loyal?", "query": "SELECT count(*) FROM t", "db_name": "tiny"},
        {"id": "2", "question": "Who will win?", "db_name": "tiny", "answerable": False},
    ]
    (tmp_path / "questions.x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(CommandError, match="No language model is configured"):
        call_command("evaluate_sql", str(tmp_path), username="eva", way="model", execute=True, stdout=StringIO())
    out = StringIO()
    with modelled(says_json({"sql": "SELECT count(*) FROM t"}), says_json({"sql": "", "missing": "the future"})):
        call_command("evaluate_sql", str(tmp_path), username="eva", way="model", execute=True, stdout=out)
    total = json.loads(out.getvalue())["total"]
    assert (total["right"], total["wrong"], total["abstained"]) == (1, 0, 1)


@pytest.fixture
def demo(db: None, demo_data: Address) -> DataSource:
    """Not shared: other tests of this file share the shop."""
    return make_demo(demo_data)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_counted_without_a_measure_s_filter_is_not_shown_by_its_definition(
    demo: DataSource, language: str
) -> None:
    """With cancelled orders it is more than what was sold, and says that it is something else."""
    question = {"en": "What did loyal customers bring us?", "zh": "忠实的顾客带来的营业额是多少？"}[language]
    definition = {
        "en": "revenue: Order amounts without cancelled orders.",
        "zh": "销售额：订单金额，不含已取消的订单。",
    }[language]
    told: list[list[str]] = []
    for where in ("", " WHERE status IN ('paid', 'open')"):
        reply = says_json({"sql": f"SELECT sum(amount) AS revenue FROM sales_order{where}"})
        with talking(User.objects.get(username="zhao"), *[reply] * (1 if where else 3)) as talk:
            told.append(talk.ask(question).result.data["definitions"])
            assert len(talk.server.requests) == (1 if where else 3)  # the model is told of the difference, twice
    without, by_definition = told
    assert by_definition == [definition]
    assert definition not in without
    assert len(without) == 2
