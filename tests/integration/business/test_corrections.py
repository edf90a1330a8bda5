"""Who corrects answers in the demo, and what a correction is good for: the next question's example, and a case of evaluation."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from agent.business.models import ConfirmedPair, DataSource
from agent.business.sources import managed_sources
from agent.models import Message
from agent.sessions import create_session
from authz.principal import Principal
from demo.business_data import FILES, OWNERS, may_correct
from demo.company import load_company
from demo.logins import logins
from demo.seed import group_of
from tests.integration.agent.conversations import asked, stored
from tests.integration.agent.modelled import modelled, sent
from tests.integration.business.test_model_way import talking
from tests.modelserver import Request, says_json

REGIONS = "How many customers are there by region?"
LOYAL = "How many loyal customers are there by region?"  # no word of the layer says what loyal is
SQL = "SELECT region, count(*) AS customers FROM customer WHERE country = 'China' GROUP BY region"


@pytest.fixture
def demo(demo: DataSource) -> DataSource:
    """The demo's business data, and those who may correct its answers."""
    company = load_company()
    may_correct(demo, [group_of(company, key) for key in OWNERS])
    return demo


def signed_in(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


def answered(username: str, question: str = REGIONS) -> Message:
    principal = Principal.named(username)
    return stored(asked(principal, question, create_session(principal)))


def correct(username: str, sql: str = SQL) -> int:
    message = answered(username)
    address = f"/chat/{message.session_id}/messages/{message.pk}/queries/1/correct/"
    return signed_in(username).post(address, {"sql": sql}).status_code


def test_who_of_the_demo_may_correct_an_answer(demo: DataSource) -> None:
    everybody = {login.username for login in logins()}
    may = {name for name in everybody if managed_sources(Principal.named(name)) == {"demo"}}
    assert may == {"emma", "pieter"}
    offered = set()
    for name in ("emma", "zhao", "chen", "lin", "pieter"):
        message = answered(name)
        page = signed_in(name).get(f"/chat/{message.session_id}/").content.decode()
        offered |= {name} if f"/messages/{message.pk}/queries/1/correct/" in page else set()
    assert offered == {"emma", "pieter"}


def test_whoever_may_not_correct_stores_nothing(demo: DataSource) -> None:
    assert correct("zhao") == 403
    assert not ConfirmedPair.objects.exists()
    assert correct("emma") == 302
    assert ConfirmedPair.objects.get().sql == SQL


def test_a_correction_is_an_example_for_the_next_question_of_somebody_else(demo: DataSource) -> None:
    assert correct("emma") == 302

    def is_shown(request: Request) -> None:
        assert f"<example>\n{REGIONS}\n{SQL}\n</example>" in sent(request)

    written = says_json({"sql": SQL}, check=is_shown)
    with talking(User.objects.get(username="zhao"), written) as talk:
        assert dict(talk.ask(LOYAL).result.data["rows"]).keys() == {"华东", "华南", "华北", "西南"}


def test_a_correction_is_a_case_of_evaluation_for_the_model_s_way(demo: DataSource, tmp_path: Path) -> None:
    """A pair is never shown as an example where it is what is asked."""
    assert correct("emma") == 302
    cases = StringIO()
    call_command("data_source", "examples", "demo", stdout=cases)
    (tmp_path / "questions.confirmed.jsonl").write_text(cases.getvalue())

    def is_not_told(request: Request) -> None:
        assert "</example>" not in sent(request)

    def totals(sql: str) -> tuple[int, int]:
        out = StringIO()
        with modelled(says_json({"sql": sql}, check=is_not_told)):
            call_command(
                "evaluate_sql", str(tmp_path), username="emma", way="model", execute=True, databases=[FILES], stdout=out
            )
        total = json.loads(out.getvalue())["total"]
        return total["right"], total["wrong"]

    assert totals("SELECT count(*) AS n, region FROM customer WHERE country = 'China' GROUP BY 2") == (1, 0)
    assert totals("SELECT count(*) AS n, region FROM customer GROUP BY 2") == (0, 1)
