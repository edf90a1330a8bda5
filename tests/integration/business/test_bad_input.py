"""What can go wrong with a question about data: one clear sentence each, and a line in the log."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.business import session
from agent.business.address import Address
from agent.business.guard.refusal import SqlRefused
from agent.business.models import DataSource
from agent.business.queries import run_query
from agent.business.session import SourceUnavailable
from agent.business.sources import grant, open_source
from agent.business.wall.views import WallRefused
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored

COUNT = "SELECT count(*) FROM customer"
DEAR = "SELECT count(*) FROM sale a, sale b, sale c, sale d"
MANY = "How many customers are there?"


def refused(person: User, sql: str = COUNT) -> tuple[type[CopilotError], str]:
    """The error of a statement and its sentence; it is recorded as what it is."""
    principal = Principal.of(person)
    opened = open_source(principal, "shop")
    with pytest.raises(CopilotError) as error:
        async_to_sync(run_query)(principal, opened, sql)
    entry = Entry.objects.filter(action=Action.SQL_REFUSED, actor_name=person.username).latest("pk")
    is_refusal = isinstance(error.value, SqlRefused)
    assert entry.outcome == (Outcome.DENY if is_refusal else Outcome.ERROR)
    assert "\n" not in str(error.value)
    return type(error.value), str(error.value)


def test_a_source_that_does_not_answer(source: DataSource, northerner: User) -> None:
    DataSource.unscoped.filter(pk=source.pk).update(host="127.0.0.1", port=1)
    kind, sentence = refused(northerner)
    assert (kind, sentence) == (
        SourceUnavailable,
        "The database server 127.0.0.1:1 does not answer: check address and network.",
    )


def test_a_wrong_password(source: DataSource, northerner: User, shop: Address) -> None:
    source.host, source.port, source.username = shop.host, shop.port, shop.user
    source.set_password("not the password")
    source.save()
    kind, sentence = refused(northerner)
    assert (kind, sentence) == (
        SourceUnavailable,
        f"The database refuses the account {shop.user}: check its password.",
    )


def test_a_table_without_the_org_column_that_was_named(source: DataSource, northerner: User) -> None:
    layer = source.layer
    next(m for m in layer["semantic_models"] if m["name"] == "customer")["org_unit"] = {"column": "department"}
    source.save()
    kind, sentence = refused(northerner)
    assert kind is WallRefused
    assert sentence.startswith("The table public.customer is not in the database as described")
    assert "department" in sentence


def test_a_query_that_takes_too_long(source: DataSource, northerner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MAX_COST", 1e30)
    monkeypatch.setitem(session.LIMITS, "statement_timeout", "20")
    kind, sentence = refused(northerner, DEAR)
    assert kind is SqlRefused
    assert (
        sentence == "The query took longer than 4 s, or too much space, and was stopped: add a time window or a filter."
    )


def test_a_query_that_would_read_too_much(
    source: DataSource, northerner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_COST", 1.0)
    kind, sentence = refused(northerner)
    assert kind is SqlRefused
    assert sentence == "This would read too much: add a time window or a filter, or ask for fewer tables."


def test_a_table_without_a_grant_is_as_good_as_none(source: DataSource) -> None:
    person = make_user("sal")
    grant(None, source, to=person, table="sale")
    sentences = {
        refused(person, f"SELECT count(*) FROM {table}")[1].replace(table, "…") for table in ("customer", "unicorn")
    }
    assert len(sentences) == 1


def said(person: User, question: str = MANY) -> tuple[str, str]:
    row = stored(asked(person, question))
    return row.content, row.notice


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"host": "127.0.0.1", "port": 1}, "The business data cannot be asked right now"),
        ({"database": "nowhere"}, "The business data cannot be asked right now"),
    ],
)
def test_whoever_asks_is_told_that_the_data_do_not_answer(
    source: DataSource, northerner: User, change: dict[str, Any], sentence: str
) -> None:
    DataSource.unscoped.filter(pk=source.pk).update(**change)
    _content, notice = said(northerner)
    assert notice.startswith(sentence)
    assert "127.0.0.1" not in notice  # that is for the source's managers


def test_whoever_asks_for_too_much_is_told_what_to_change(
    source: DataSource, northerner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_COST", 0.0)
    _content, notice = said(northerner)
    assert notice == "This would read too much: add a time window or a filter, or ask for fewer tables."


def test_an_empty_answer_says_by_which_filter(source: DataSource, northerner: User) -> None:
    content, _notice = said(northerner, "How many customers are there by segment since 2090?")
    assert "No row fits" in content
    assert "2090" in content


def test_a_question_about_a_table_without_a_grant_reveals_nothing(source: DataSource) -> None:
    person = make_user("sal")
    grant(None, source, to=person, table="sale")
    hidden, missing = said(person), said(person, "How many unicorns are there?")
    assert hidden == missing
    assert "customer" not in " ".join(hidden)
