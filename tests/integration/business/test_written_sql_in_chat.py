"""A model writes SQL in a conversation: what it is told, and by which definition its numbers are counted."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from business.models import DataSource
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored, words
from tests.integration.agent.modelled import modelled, sent
from tests.integration.business.writing import Writing
from tests.modelserver import calls, says

FREE = "Counted by a model's own query, not by a definition in the data."
OTHERWISE = "This is not counted by the definition “revenue: Order amounts without cancelled orders”."


@pytest.fixture
def zhao(demo: DataSource) -> User:
    return User.objects.get(username="zhao")


def test_what_follows_no_definition_is_objected_to_once_and_then_said(zhao: User) -> None:
    for written, doubt in (
        ("SELECT sum(amount) AS revenue FROM sales_order", OTHERWISE),
        ("SELECT count(*) AS revenue FROM sales_order", OTHERWISE),
        ("SELECT count(*) FROM customer WHERE region IN ('欧洲', 'Atlantis')", "There is no region “Atlantis”"),
    ):
        writing = Writing(zhao)
        first = writing.call(sql=written)
        assert (first.problem, first.result.findings) == ("Objection", ())
        said = writing.call(sql=written).result.data["definitions"]
        assert any(item.startswith(doubt) for item in said), written
        assert FREE in said


def test_what_is_counted_as_the_measure_is_shown_by_its_definition(zhao: User) -> None:
    statement = "SELECT sum(amount) AS revenue FROM sales_order WHERE status IN ('paid', 'open')"
    for language, definition in (
        ("en", "revenue: Order amounts without cancelled orders."),
        ("zh", "销售额：订单金额，不含已取消的订单。"),
    ):
        assert Writing(zhao, language).insist(statement).result.data["definitions"] == [definition]


def test_in_a_run_the_linked_tables_stand_before_the_question_and_the_result_is_cited(zhao: User) -> None:
    question = "How many customers are there by region?"
    sql = "SELECT region, count(*) AS customers FROM customer GROUP BY region ORDER BY region"
    with modelled(calls(("database_query", {"sql": sql})), says("Europe has 48 customers [1].")) as server:
        events = asked(zhao, question)
    assert len(server.requests) == 2
    first = sent(server.requests[0])
    assert first.index("table customer:") < first.rindex(question)
    assert "Europe has 48 customers" in words(events)
    row = stored(events)
    assert (row.state["plan"]["route"], row.queries.count()) == ("SQL", 1)
    with modelled(says("NO_ANSWER")) as server:
        asked(zhao, "And in China?", row.session)
    assert f'<earlier source="demo">\n{sql}\n</earlier>' in sent(server.requests[0])


def test_a_question_of_documents_is_told_no_tables(zhao: User) -> None:
    with modelled(says("NO_ANSWER")) as server:
        asked(zhao, "May I bring a dog?")
    assert "<tables" not in sent(server.requests[0])


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
        call_command("evaluate_sql", str(tmp_path), username="eva", way="model", stdout=StringIO())
    out = StringIO()
    with modelled(calls(("database_query", {"sql": "SELECT count(*) FROM t"})), says("NO_ANSWER")):
        call_command("evaluate_sql", str(tmp_path), username="eva", way="model", stdout=out)
    total = json.loads(out.getvalue())["total"]
    assert (total["right"], total["wrong"], total["abstained"]) == (1, 0, 1)
