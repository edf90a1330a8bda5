"""The questions of `manage.py benchmark model` have the answers that their file says, in the demo's documents and data."""

import re
from decimal import Decimal
from math import inf

import pytest
from asgiref.sync import async_to_sync

from authz.principal import Principal
from business.models import DataSource
from business.sources.services import open_source
from business.statements.run_query import run_query
from demo.build.__main__ import SOURCES
from demo.company import DOCUMENTS
from evals.model_benchmark import RESULT, ModelBenchmark, ask_plainly
from evals.model_script import Script, ScriptedQuestion, folded, load_questions
from evals.scripted_service import PacedService, ReplyPace, served

QUESTIONS = load_questions()


def test_the_words_of_each_answer_stand_in_a_document() -> None:
    files = [*SOURCES.rglob("*.md"), *(path for path in DOCUMENTS.rglob("*") if path.suffix in {".md", ".txt"})]
    documents = [folded(path.read_text(encoding="utf-8")) for path in files]
    sentences = [said for question in QUESTIONS for said in question.answer if said.words]
    assert [said.words for said in sentences if not any(folded(said.words) in text for text in documents)] == []


def test_each_statement_gives_the_numbers_of_its_answer(demo: DataSource) -> None:
    for question in QUESTIONS:
        if question.sql:
            assert numbers_of(question) <= reply_content(question), question.ask


def numbers_of(question: ScriptedQuestion) -> set[str]:
    """Of the result, as whole numbers are written."""
    person = Principal.named(question.username)
    rows = async_to_sync(run_query)(person, open_source(person, "demo"), question.sql).answer.rows
    assert rows is not None
    return {f"{cell:,.0f}" for row in rows.rows for cell in row if isinstance(cell, int | Decimal)}


def reply_content(question: ScriptedQuestion) -> set[str]:
    return {number for item in question.answer for number in re.findall(r"\d[\d,]*\d|\d", item.says)}


def test_the_plain_pipeline_has_a_statement_run_and_tells_its_result(demo: DataSource) -> None:
    question = next(item for item in QUESTIONS if item.group == "data")
    service = PacedService(Script(QUESTIONS).reply, ReplyPace(0.0, inf, inf))
    messages = [{"role": "user", "content": f"The tables are environment(name, status). {question.ask}"}]
    with served(service.answer) as model:
        plain = async_to_sync(ask_plainly)(model, Principal.named(question.username), question, messages)
    assert plain.text == f"5 environments are in use [{RESULT}]."
    assert [call.cached_tokens > 0 for call in service.calls] == [False, True]


@pytest.mark.usefixtures("demo")
def test_the_product_shows_all_of_each_answer_on_data_after_two_calls() -> None:
    """The benchmark as it is run, of a model that is never waited for."""
    report = ModelBenchmark(ReplyPace(0.0, inf, inf)).run({"group": ["data"]}).parts
    assert len(report["questions"]) == sum(question.group == "data" for question in QUESTIONS)
    for asked in report["questions"]:
        assert (asked["shown"], asked["unchecked"], asked["ours"]["calls"]) == (asked["sentences"], 0, 2), asked
