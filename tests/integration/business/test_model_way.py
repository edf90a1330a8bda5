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

from agent.business.ask.words.lexicon import Lexicon
from agent.business.examples import Example
from agent.business.layer.model import SemanticLayer
from agent.business.models import DataSource
from agent.business.sources import save_layer
from agent.business.ways.by_model import alike
from agent.business.ways.linking import link
from agent.business.ways.telling import told
from agent.prompting import Prompt
from agent.providers.configured import connect, served_model
from agent.tools.base import ToolContext
from agent.tools.calling import Called, call_tool
from audit.actions import Action
from audit.models import Entry
from authz.principal import Principal
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.agent.modelled import modelled, sent
from tests.modelserver import ModelServer, Step, says, says_json

QUESTION = "How many loyal customers are there?"  # no word of the layer says what loyal is: the reader hands it on
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


def test_what_the_reader_cannot_read_the_model_writes(northerner: User) -> None:
    with talking(northerner, says_json({"sql": COUNT})) as talk:
        called = talk.ask()
    assert called.problem == ""
    assert called.result.data["rows"] == [[75]]
    assert "IN ('North')" in called.result.data["sql"]
    (finding,) = called.result.findings
    assert (finding.item.type, finding.item.by) == ("sql_result", "sql")
    assert talk.prompts == ["sql.en"]
    asked = sent(talk.server.requests[0])
    assert "table public.customer" in asked
    assert "table public.sale" not in asked  # nothing in the question is about sales
    assert "api_token" not in asked
    assert f"question: {QUESTION}" in asked


def test_what_the_reader_reads_costs_no_model(northerner: User) -> None:
    with talking(northerner) as talk:
        assert talk.ask("how many customers are there").result.data["rows"] == [[75]]


def test_a_refused_statement_is_shown_its_fault_once(northerner: User) -> None:
    wrong = says_json({"sql": "SELECT count(*) FROM customer WHERE loyal"})
    with talking(northerner, wrong, says_json({"sql": COUNT})) as talk:
        called = talk.ask()
    assert called.result.data["rows"] == [[75]]
    assert 'column "loyal" does not exist' in sent(talk.server.requests[1])
    assert talk.prompts == ["sql.en", "sql_mend.en"]
    assert actions() == [Action.SQL_EXECUTED, Action.SQL_REFUSED]


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
        ({"sql": "SELECT 42 AS loyal_customers"}, "the statement reads no table"),
    ],
)
def test_what_the_tables_cannot_answer_is_not_answered(
    northerner: User, written: dict[str, Any], sentence: str
) -> None:
    with talking(northerner, says_json(written)) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert sentence in called.result.error
    assert called.result.findings == ()
    assert actions() == []


def test_an_answer_in_a_fence_is_read_and_nonsense_is_asked_for_again(northerner: User) -> None:
    fenced = says(f'Here it is:\n```json\n{{"sql": "{COUNT}",}}\n```')
    with talking(northerner, says("forty-two"), fenced) as talk:
        assert talk.ask().result.data["rows"] == [[75]]


def test_a_word_of_several_meanings_is_asked_back_not_guessed(source: DataSource, northerner: User) -> None:
    layer = source.semantic_layer
    models = tuple(m.model_copy(update={"synonyms": ("record",)}) for m in layer.semantic_models)
    save_layer(None, source, layer.model_copy(update={"semantic_models": models}))
    with talking(northerner) as talk:
        called = talk.ask("how many records are there")
    assert called.problem == "NotReadable"
    assert "Ask the person which is meant" in called.result.error


def test_a_model_s_statement_is_held_by_the_walls(northerner: User) -> None:
    """The second wall is not asked: the first refuses what names another unit's rows or writes."""
    theirs = says_json({"sql": "SELECT count(*) FROM customer WHERE org_unit = 'South'"})
    with talking(northerner, theirs) as talk:
        assert talk.ask().result.data["rows"] == [[0]]
    deletes = says_json({"sql": "DELETE FROM customer"})
    with talking(northerner, deletes, deletes) as talk:
        assert "Only questions are run" in talk.ask().result.error


def test_who_may_ask_nothing_sends_nothing_to_the_model(source: DataSource) -> None:
    with talking(make_user("sam")) as talk:
        assert "There is no data source that you may ask" in talk.ask().result.error


def layer_of(*names: str) -> SemanticLayer:
    """Tables without anything in common, each with a key and a name."""
    models = [
        {
            "name": name, "table": name, "org_unit": {"shared_with": "everyone"},
            "entities": [{"name": name, "type": "primary", "expr": "id"}],
            "dimensions": [{"name": "colour", "expr": "colour", "values": [{"value": f"{name}-red"}]}],
        }
        for name in names
    ]  # fmt: skip
    return SemanticLayer.model_validate({"name": "many", "semantic_models": models})


def test_of_many_tables_only_the_named_ones_are_told() -> None:
    letters = [f"table{letter}" for letter in "abcdefghijkl"]
    linked = link("the colour tabled-red of tablec", Lexicon.of(layer_of(*letters)))
    assert {model.name for model in linked.models} >= {"tablec", "tabled"}
    assert len(linked.models) < len(letters)
    assert "'tabled-red'" in told(linked)


def test_the_most_similar_examples_come_last() -> None:
    examples = [
        Example("How many orders are there?", "1"),
        Example("哪些客户最忠诚？", "2"),
        Example("How many loyal customers do we have?", "3"),
        Example("Who was born on Mars", "4"),
    ]
    assert [example.sql for example in alike(QUESTION, examples)] == ["3"]
    assert [example.sql for example in alike("哪些客户忠诚", examples)] == ["2"]
    assert alike("How many are there?", examples) == []


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
        with talking(
            User.objects.get(username="zhao"),
            says_json({"sql": f"SELECT sum(amount) AS revenue FROM sales_order{where}"}),
        ) as talk:
            told.append(talk.ask(question).result.data["definitions"])
    without, by_definition = told
    assert by_definition == [definition]
    assert definition not in without
    assert len(without) == 2
