"""An answer shows its meaning: on the page, over REST and the socket, as a file; for whoever may still ask, and nobody else."""

import json
import re
from datetime import date
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import gettext, override

from agent.conversations.sessions import create_session
from agent.events import References
from agent.models import Message, MessageRole, QueryCitation, VerifiedAnswer
from agent.revocation import Grounds, may_read_grounds
from agent.runs.report import build_run_report
from audit.actions import Action
from audit.models import Entry
from authz.models import OrgUnit
from authz.people.units import add_member, remove_member
from authz.permissions import Right
from authz.principal import Principal
from business.models import DataSource, SourceGrant
from business.presentation.query import chart_of
from business.results.shown_query import ChartSpec, QueryShown
from business.results.visibility import Queried
from business.sources.grants import grant, revoke_right
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored

REGIONS = "How many customers are there by region?"
SECRETS = ("SELECT", "customer", "demo ·", "table.csv", "<canvas", "result-table")


def named(username: str) -> User:
    return User.objects.get(username=username)


def signed_in(username: str) -> Client:
    client = Client()
    client.force_login(named(username))
    return client


def answered(question: str, username: str = "emma") -> Message:
    principal = Principal.named(username)
    return stored(asked(principal, question, create_session(principal)))


def page_of(message: Message, username: str = "emma") -> str:
    return signed_in(username).get(f"/chat/{message.session_id}/").content.decode()


def address_of(message: Message, what: str) -> str:
    return f"/chat/{message.session_id}/messages/{message.pk}/queries/1/{what}"


def test_page_rest_socket_and_file_show_the_answer_to_whoever_may_still_ask_and_to_nobody_else(
    demo: DataSource,
) -> None:
    principal = Principal.named("emma")
    session = create_session(principal)
    events = asked(principal, REGIONS, session)
    message = stored(events)
    page = page_of(message)
    assert "<canvas" in page
    assert 'data-type="bar"' in page
    assert '<details class="result-sql">' in page
    assert '<p class="result-note" lang="en">in the rows of ' in page
    assert "public.customer" in page
    assert "table.csv" in page
    assert "Correct the answer" not in page
    (row,) = QueryCitation.objects.filter(message=message)
    assert row.perm_snapshot_id == message.state["authz"]["perm_snapshot_id"]
    assert row.result is not None
    assert row.result["sha256"]

    (reference,) = [event for event in events if isinstance(event, References)][-1].query_references
    assert reference.result is not None
    answer = signed_in("emma").get(f"/api/v1/sessions/{session.pk}/messages").json()["results"][-1]
    result = answer["queries"][0]["result"]
    assert result["table"]["rows"] == json.loads(reference.result.model_dump_json())["table"]["rows"]
    assert (result["chart"]["type"], result["tables"]) == ("bar", ["public.customer"])
    told = result["meaning"]
    assert f"{told['headline']}\n{told['note']}" == message.sentences[0]["text"]

    for what, method in (("table.csv", "get"), ("again/", "post"), ("correct/", "get"), ("correct/", "post")):
        assert getattr(signed_in("lin"), method)(address_of(message, what)).status_code == 404
    SourceGrant.objects.all().delete()
    nothing_left(message, "emma")


def test_the_value_stands_alone_and_what_is_ours_is_said_in_the_language_of_the_page(demo: DataSource) -> None:
    message = answered("上个月新增了多少客户？")
    page = page_of(message)
    assert re.match(r"共 \d+ 个客户（新增：", message.sentences[0]["text"])
    assert re.search(r'共 <strong class="figure">\d+</strong> 个客户（新增：', page)
    assert "result-table" not in page
    client = signed_in("emma")
    client.post(address_of(message, "again/"))
    day = r"\d{4}-\d\d-\d\d"
    for language in ("en", "zh-hans"):
        client.cookies["django_language"] = language
        with override(language):
            page = client.get(f"/chat/{message.session_id}/").content.decode()
            window = gettext("%(start)s to %(end)s") % {"start": day, "end": day}
            assert len(re.findall(f"<dd>{window}", page)) == 2
            assert gettext("The same query, run again with your current rights.") in page


@pytest.mark.parametrize(
    ("question", "told", "hidden"),
    [
        ("How many customers are there by region?", {"East China", "South China"}, {"华东", "华南"}),
        ("各行业的客户数量", {"港口", "仓储"}, {"port", "warehouse"}),
    ],
)
def test_values_are_told_in_the_language_of_the_question(
    demo: DataSource, question: str, told: set[str], hidden: set[str]
) -> None:
    """The file has them as they are stored, as does whatever sorts the table."""
    message = answered(question)
    page = page_of(message)
    cells = set(re.findall(r"<td[^>]*>([^<]*)</td>", page))
    assert told <= cells
    assert not hidden & cells
    stored = set(re.findall(r'<td data-value="([^"]*)"', page))
    assert hidden <= stored
    sentence = message.sentences[0]["text"]
    assert not any(word in sentence for word in hidden)
    answer = signed_in("emma").get(address_of(message, "table.csv"))
    csv = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert all(word in csv for word in hidden)


def test_a_year_is_a_number_and_told_as_a_year(demo: DataSource) -> None:
    message = answered("revenue by year")
    told = message.sentences[0]["text"].split("\n")[0]
    assert re.fullmatch(r"Revenue by year, in CNY: (\d{4} \([\d,]+\); )*\d{4} \([\d,]+\)", told), told
    (row,) = QueryCitation.objects.filter(message=message)
    result = QueryShown.model_validate(row.result)
    years = [year for year, _revenue in result.table.rows]
    assert all(isinstance(year, int) for year in years)
    assert years == sorted(years)
    assert result.chart is None or (result.chart.type, result.chart.label) == ("line", 0)
    page = page_of(message)
    assert [f">{year}</td>" in page for year in years] == [True] * len(years)
    assert f"{years[0]:,}" not in page


def test_a_cut_table_and_its_file_say_of_how_many_rows_they_are_and_the_file_is_recorded(demo: DataSource) -> None:
    message = answered("list all customers")
    page = page_of(message)
    assert "First 50 of 96 rows" in page
    assert "<canvas" not in page
    client = signed_in("emma")
    answer = client.get(address_of(message, "table.csv"))
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 54
    assert lines[51:] == ["", "First 50 of 96 rows", '"in the rows of 产品组 Product, 销售与产品部 Sales & Product"']
    assert "first-50-of-96" in answer["Content-Disposition"]
    over_rest = client.get(f"/api/v1/sessions/{message.session_id}/messages/{message.pk}/queries/1/csv")
    assert over_rest.status_code == 200
    entries = Entry.objects.filter(action=Action.RESULT_EXPORTED, actor_name="emma")
    assert [entry.detail["rows"] for entry in entries] == [50, 50]


def nothing_left(message: Message, username: str) -> None:
    page = page_of(message, username)
    shown = page.split('id="thread"')[1].split("</ol>")[0].split("message answer")[1]
    assert [secret for secret in SECRETS if secret in shown] == []
    client = signed_in(username)
    assert client.get(address_of(message, "table.csv")).status_code == 404
    assert client.post(address_of(message, "again/")).status_code == 404
    assert client.get(address_of(message, "correct/")).status_code == 404
    rest = client.get(f"/api/v1/sessions/{message.session_id}/messages").json()["results"][-1]
    assert (rest["queries"], rest["content"]) == ([], "")
    assert standing(message, username) == (0, 1, [False])


def standing(message: Message, username: str) -> tuple[int, int, list[bool]]:
    """What the run page shows and hides of the evidence, and whether the kept events of the run may be read again."""
    principal = Principal.named(username)
    report = build_run_report(principal, message)
    kept = QueryShown.model_validate(QueryCitation.objects.get(message=message).result)
    grounds = Grounds(sources=frozenset({Queried(source="demo", reach=kept.reach).key}))
    return len(report.evidence), report.hidden, may_read_grounds(principal, [grounds])


def test_with_the_right_on_one_of_its_tables_the_answer_is_gone(demo: DataSource) -> None:
    person = make_user("tom")
    for unit in OrgUnit.objects.filter(group__user=named("emma")):
        add_member(None, unit, user=person)
    SourceGrant.objects.all().delete()
    tables = ("customer", "sales_order")
    for table in tables:
        grant(None, demo, to=person, table=table)
    message = answered(REGIONS, "tom")
    revoke_right(None, demo, of=person, table="sales_order")
    assert "result-table" in page_of(message, "tom")  # not a table of this answer
    assert standing(message, "tom") == (1, 0, [True])
    grant(None, demo, to=person, table="sales_order")
    revoke_right(None, demo, of=person, table="customer")
    nothing_left(message, "tom")


def test_whoever_leaves_the_org_unit_whose_rows_it_counts_does_not_see_it_any_more(demo: DataSource) -> None:
    person = named("emma")
    grant(None, demo, to=person)
    message = answered(REGIONS)
    for unit in OrgUnit.objects.filter(group__user=person):
        remove_member(None, unit, user=person)
    nothing_left(message, "emma")


def test_run_again_is_a_new_answer_under_the_rights_of_now(demo: DataSource) -> None:
    message = answered(REGIONS)
    answer = signed_in("emma").post(address_of(message, "again/"))
    again = Message.objects.filter(session=message.session_id, role=MessageRole.ASSISTANT).latest("created_at")
    assert answer["Location"].endswith(f"#m-{again.pk}")
    (before,), (after,) = (QueryCitation.objects.filter(message=m) for m in (message, again))
    assert after.result is not None
    assert before.result is not None
    assert after.result["statement"] == before.result["statement"]
    assert after.result["query_id"] != before.result["query_id"]
    assert after.result["table"]["rows"] == before.result["table"]["rows"]
    assert "run again" in page_of(message)


def corrected(username: str, message: Message, sql: str) -> Any:
    return signed_in(username).post(address_of(message, "correct/"), {"sql": sql})


def test_a_manager_corrects_an_answer_on_its_page_and_over_rest(demo: DataSource) -> None:
    message = answered(REGIONS)
    sql = "SELECT region, count(*) AS customers FROM customer GROUP BY region ORDER BY 2 DESC"
    assert corrected("emma", message, sql).status_code == 403
    grant(None, demo, to=named("emma"), right=Right.MANAGE)
    assert "Verify or correct" in page_of(message)
    refused = corrected("emma", message, "DELETE FROM customer")
    assert refused.status_code == 400
    assert "Only SELECT is allowed" in refused.content.decode()
    assert "DELETE FROM customer" in refused.content.decode()  # what was typed stays
    assert not VerifiedAnswer.unscoped.exists()
    assert corrected("emma", message, sql).status_code == 302
    pair = VerifiedAnswer.unscoped.get()
    assert (pair.question, pair.sql) == (REGIONS, sql)

    client = signed_in("emma")
    base = f"/api/v1/sessions/{message.session_id}/messages/{message.pk}/queries/1"
    again = client.post(f"{base}/again", {}, content_type="application/json")
    assert again.status_code == 201, again.content
    given = {"sql": "SELECT count(*) AS customers FROM customer"}
    fixed = client.post(f"{base}/correction", given, content_type="application/json")
    assert fixed.json()["queries"][0]["result"]["table"]["rows"] == [[96]]


CHARTS: list[tuple[tuple[str, ...], list[Any], ChartSpec | None]] = [
    (("region", "n"), [("a", 1), ("b", 2)], ChartSpec(type="bar", label=0, series=(1,))),
    (("n", "region"), [(1, "a"), (2, "b")], ChartSpec(type="bar", label=1, series=(0,))),
    (("region", "n"), [("a", 1)], None),
    (("region", "n"), [("a", 1), ("a", 2)], None),
    (("customer_id", "n"), [(1, 1), (2, 2)], None),
    (("region", "customer_id"), [("a", 1), ("b", 2)], None),
    (("month", "n"), [(date(2026, 1, 1), 1), (date(2026, 2, 1), 2)], ChartSpec(type="line", label=0, series=(1,))),
    (("quarter", "n"), [("2026-Q1", 1), ("2026-Q2", 2)], ChartSpec(type="line", label=0, series=(1,))),
    (("quarter", "n"), [("2026-Q2", 1), ("2026-Q1", 2)], ChartSpec(type="bar", label=0, series=(1,))),
    (
        ("region", "current", "previous", "change", "change_percent"),
        [("a", 3, 2, 1, 50), ("b", 2, 2, 0, 0)],
        ChartSpec(type="bar", label=0, series=(1, 2)),
    ),
    (("region", "city", "n"), [("a", "x", 1), ("b", "y", 2)], None),
    (("n",), [(1,), (2,)], None),
    (("region", "n"), [(str(n), n) for n in range(51)], None),
]


def test_a_table_is_drawn_where_its_shape_asks_for_it() -> None:
    for columns, rows, spec in CHARTS:
        assert chart_of(columns, rows) == spec, (columns, rows)


def test_the_question_of_an_answer_can_be_changed_in_the_form(demo: DataSource) -> None:
    message = answered("How many customers are there in East China?")
    (row,) = QueryCitation.objects.filter(message=message)
    result = QueryShown.model_validate(row.result)
    assert result.meaning.conditions == ("region = East China",)
    assert "华东" in result.sql
    (address,) = re.findall(r'<a href="(/data/[^"]*)#result"', page_of(message))
    form = signed_in("emma").get(unescape(address)).content.decode()
    assert ">12 customers (East China)</h2>" in form


def test_a_question_that_is_not_read_leads_to_the_form_with_what_was_understood(demo: DataSource) -> None:
    message = answered("How many happy customers are there in Germany?")
    assert message.stop_reason == "no_evidence"
    assert "These words mean nothing in the data: happy." in message.notice
    (address,) = re.findall(r'<a class="button" href="(/data/[^"]*)">', page_of(message))
    form = signed_in("emma").get(unescape(address)).content.decode()
    assert ">12 customers (Germany)</h2>" in form
