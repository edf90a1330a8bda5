"""Answers as text, for programs and chat platforms: rows that the sentence does not list are shown, and where the rest is."""

from uuid import uuid4

import pytest

from agent.events import Answer, Complete, QueryReference, References
from agent.run_state.run import Run
from agent.text_answer import TextAnswer
from authz.principal import Principal
from business.results.shown_query import QueryShown, ResultMeaning, ResultTable
from knowledge.retrieval.search import Scope


def told(rows: int, *, total: int | None = None, listed: str = "", language: str = "en") -> str:
    """The text of an answer whose only source is a result with so many rows."""
    table = ResultTable(
        columns=("name", "amount"),
        labels=("customer", "revenue"),
        rows=tuple((f"Port [x](http://a) {n}", 1000 * n) for n in range(1, rows + 1)),
        total=total,
    )
    meaning = ResultMeaning(headline=listed or "Revenue by customer", title="Revenue by customer")
    result = QueryShown(query_id="q", question="", statement="", sql="", sha256="0", meaning=meaning, table=table)
    source = QueryReference(number=1, evidence_id="e", source="demo", title="Revenue", snippet="", result=result)
    answer = TextAnswer(
        Run(uuid4(), uuid4(), Principal.nobody(), question="", scope=Scope(), language=language), "https://kb.example"
    )
    pieces = [
        answer.took(event.model_dump(mode="json"))
        for event in (
            References(seq=0, id="a", query_references=[source]),
            Answer(seq=1, id="a", content=f"{meaning.headline} [1]"),
            Complete(seq=2, id="a", done=True),
        )
    ]
    assert "".join(pieces) == answer.text, "a stream says the same"
    return answer.text


def test_rows_that_the_sentence_does_not_list_are_shown_and_where_the_rest_is() -> None:
    text = told(12)
    assert "| customer | revenue |\n| --- | --- |\n| Port [x]\\(http://a) 1 | 1,000 |" in text
    assert text.count("Port") == 10
    assert text.endswith("Shown here: 10 of 12 rows; more under [1].")
    assert "of 96 rows" in told(50, total=96)
    assert "96 行中的 10 行，更多见 [1]。" in told(50, total=96, language="zh-hans")


@pytest.mark.parametrize(("rows", "listed"), [(3, "Revenue by customer: A (1); B (2); C (3)"), (0, "")])
def test_what_the_sentence_lists_is_not_repeated(rows: int, listed: str) -> None:
    assert "|" not in told(rows, listed=listed)
    assert told(6).count("| Port") == 6
    assert "Shown here" not in told(6)
