"""Who corrects answers in the demo, and what a correction is good for: the next question's example, and a case of evaluation."""

import json
from datetime import UTC, date, datetime
from io import StringIO
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agent.conversations.sessions import create_session
from agent.events import StopReason
from agent.models import Message, VerifiedAnswer
from agent.verified_answers.services import delete_verified_answer, verify_statement
from authz.principal import Principal
from business.models import DataSource
from business.results.shown_query import QueryShown
from business.sources.grants import managed_sources
from business.sources.services import open_source
from business.statements.verified_sql import update_statement_dates
from demo.business_data import FILES, OWNERS, grant_correcting
from demo.company import load_company
from demo.logins import list_logins
from demo.seed import find_company_group
from tests.integration.agent.conversations import asked, stored
from tests.integration.agent.modelled import judges, modelled, sent
from tests.integration.business.writing import Writing
from tests.modelserver import Request, calls, says

REGIONS = "How many customers are there by region?"
LOYAL = "How many loyal customers are there by region?"  # no word of the layer says what loyal is
SQL = "SELECT region, count(*) AS customers FROM customer WHERE country = 'China' GROUP BY region"


@pytest.fixture
def demo(demo: DataSource) -> DataSource:
    """The demo's business data, and those who may correct its answers."""
    company = load_company()
    grant_correcting(demo, [find_company_group(company, key) for key in OWNERS])
    return demo


def month_start(index: int) -> date:
    """index: months since year 0."""
    return date(index // 12, index % 12 + 1, 1)


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
    everybody = {login.username for login in list_logins()}
    may = {name for name in everybody if managed_sources(Principal.named(name)) == {"demo"}}
    assert may == {"emma", "pieter"}
    offered = set()
    for name in ("emma", "zhao"):
        message = answered(name)
        page = signed_in(name).get(f"/chat/{message.session_id}/").content.decode()
        offered |= {name} if f"/messages/{message.pk}/queries/1/correct/" in page else set()
    assert offered == {"emma"}


def test_what_is_not_read_from_the_data_is_no_correction(demo: DataSource) -> None:
    message = answered("emma")
    address = f"/chat/{message.session_id}/messages/{message.pk}/queries/1/correct/"
    for sql, why in (
        ("SELECT '12'", "The statement reads no table."),
        ("WITH c AS (SELECT 12 AS n) SELECT n FROM c", "The statement reads no table."),
        ("SELECT 12 AS customers FROM customer LIMIT 1", "is not read from the data: 12."),
    ):
        page = signed_in("emma").post(address, {"sql": sql}, follow=True, headers={"accept-language": "en"})
        assert why in page.content.decode(), sql
    assert not VerifiedAnswer.unscoped.exists()


def test_a_correction_is_an_example_for_the_next_question_of_somebody_else(demo: DataSource) -> None:
    assert correct("emma") == 302

    told = Writing(User.objects.get(username="zhao")).call(question=LOYAL).result.output
    assert f"<example>\n{REGIONS}\n{SQL}\n</example>" in told


def test_a_correction_is_a_case_of_evaluation_for_the_model_s_way(demo: DataSource, tmp_path: Path) -> None:
    """A pair is never shown as an example where it is what is asked."""
    assert correct("emma") == 302
    cases = StringIO()
    call_command("verified_answers", "demo", stdout=cases)
    (tmp_path / "questions.verified.jsonl").write_text(cases.getvalue())

    def is_not_told(request: Request) -> None:
        assert "</example>" not in sent(request)

    def totals(sql: str) -> tuple[int, int]:
        out = StringIO()
        with modelled(calls(("database_query", {"sql": sql}), check=is_not_told)):
            call_command("evaluate_sql", str(tmp_path), username="emma", way="model", databases=[FILES], stdout=out)
        total = json.loads(out.getvalue())["total"]
        return total["right"], total["wrong"]

    assert totals("SELECT count(*) AS n, region FROM customer WHERE country = 'China' GROUP BY 2") == (1, 0)
    assert totals("SELECT count(*) AS n, region FROM customer GROUP BY 2") == (0, 1)


CHINA = [("华东", 12), ("华南", 12), ("华北", 12), ("西南", 12)]


def result_of(message: Message) -> QueryShown:
    return QueryShown.model_validate(message.queries.get().result)


def rows_of(message: Message) -> list[tuple[object, ...]]:
    return sorted(result_of(message).table.rows, key=str)


def test_the_same_question_of_anybody_is_answered_by_the_verified_statement_until_it_is_retired(
    demo: DataSource,
) -> None:
    before = rows_of(answered("zhao"))
    assert correct("zhao") == 403
    assert not VerifiedAnswer.unscoped.exists()
    assert correct("emma") == 302
    for asked_again in (
        " HOW MANY customers are there by region??",
        "Number of customers per region",
        "各地区有多少客户？",
    ):
        message = answered("zhao", asked_again)
        assert rows_of(message) == sorted(CHINA, key=str) != before, asked_again
        (told,) = result_of(message).meaning.definitions
        assert User.objects.get(username="emma").get_full_name() in told
        assert str(timezone.localdate().year) in told
        assert "org_unit" in result_of(message).sql  # guard and sandbox stand before it
    assert result_of(answered("lin")).table.rows == ()  # HR has no customers of its own
    assert answered("sofia").stop_reason == StopReason.NO_EVIDENCE  # she may not ask the source
    delete_verified_answer(Principal.named("emma"), VerifiedAnswer.unscoped.get().pk)
    assert rows_of(answered("zhao")) == before


def test_another_question_is_not_answered_by_it(demo: DataSource) -> None:
    question = "Number of customers per country"
    before = rows_of(answered("zhao", question))
    assert correct("emma") == 302
    assert rows_of(answered("zhao", question)) == before


def test_a_model_is_not_asked_what_was_verified(demo: DataSource) -> None:
    """Neither for the way nor for the statement: it only puts the rows into words."""
    assert correct("emma") == 302
    with modelled(says("There are 12 customers in 华东. [1]"), judges("supported", quote="12")):
        message = answered("zhao")
    assert rows_of(message) == sorted(CHINA, key=str)


@pytest.mark.parametrize(
    ("question", "sql", "asked_next", "ran"),
    [
        ("How many friends in Germany?", "country = 'Germany'", "how many friends in Norway", "country = 'Norway'"),
        ("华东有多少老朋友？", "region = '华东'", "华南有多少老朋友？", "region = '华南'"),
        (
            "How many old friends in October 2025?",
            "created_on >= '2025-10-01' AND created_on < '2025-11-01'",
            "How many old friends in March 2026?",
            "created_on >= '2026-03-01' AND created_on < '2026-04-01'",
        ),
        # a value that the statement names twice, a statement that tells its days from the clock
        ("How many friends in Germany?", "country = 'Germany' OR name = 'Germany'", "How many friends in Norway?", ""),
        ("How many friends this month?", "created_on > current_date - 30", "How many friends in March 2026?", ""),
    ],
)
def test_the_same_question_with_another_value_or_time(
    demo: DataSource, question: str, sql: str, asked_next: str, ran: str
) -> None:
    """Nobody but the one who verified it says who a friend is."""
    emma = Principal.named("emma")
    statement = f"SELECT count(*) AS n FROM customer WHERE {sql}"
    async_to_sync(verify_statement)(emma, open_source(emma, "demo"), question=question, sql=statement)
    message = answered("zhao", asked_next)
    assert message.queries.count() == bool(ran)
    if ran:
        assert result_of(message).statement == f"SELECT count(*) AS n FROM customer WHERE {ran}"
        (told,) = result_of(message).meaning.definitions
        assert "Emma" in told
        assert "another value or time" in told or "另一取值或时间" in told


SOLD = "上个月的销售额是多少？"
STATEMENT = "SELECT sum(amount) AS n FROM sales_order WHERE ordered_at >= '{0}' AND ordered_at < '{1}'"


def test_relative_days_of_a_verified_statement_are_those_of_today(demo: DataSource) -> None:
    """As if verified three months ago; with dates that are none of the question's days it is not used, nor what it put right."""
    today = timezone.localdate()
    then = month_start(today.year * 12 + today.month - 1 - 3)
    days = [month_start(then.year * 12 + then.month - 2).isoformat(), then.isoformat()]
    now = [month_start(today.year * 12 + today.month - 2).isoformat(), today.replace(day=1).isoformat()]
    message = answered("emma", SOLD)
    address = f"/chat/{message.session_id}/messages/{message.pk}/queries/1/correct/"
    for dates, ran in ((days, True), ([days[0], "2020-02-02"], False)):
        assert signed_in("emma").post(address, {"sql": STATEMENT.format(*dates)}).status_code == 302
        VerifiedAnswer.unscoped.update(verified_at=datetime(then.year, then.month, 15, tzinfo=UTC))
        again = answered("zhao", SOLD)
        assert again.queries.count() == ran
        assert not ran or result_of(again).statement == STATEMENT.format(*now)


def test_a_statement_verified_in_november_as_of_another_day() -> None:
    october, clock = "d >= '2026-10-01' AND d <= '2026-10-31'", "d >= date_trunc('month', now())"
    year = "d >= '2026-01-01' AND d < '2027-01-01'"
    for sql, question, today, whole in (
        (october, "last month", "2026-11-30", october),
        (october, "last month", "2027-03-02", "d >= '2027-02-01' AND d <= '2027-02-28'"),
        (clock, "this month", "2027-03-02", clock),
        (year, "in 2026", "2027-03-02", year),
        ("extract(year FROM d) = 2026", "this year", "2027-03-02", ""),
        ("d >= '2026-10-01'", "last month against this month", "2027-03-02", ""),
    ):
        assert (
            update_statement_dates(sql, question, verified=date(2026, 11, 21), today=date.fromisoformat(today)) == whole
        ), sql
