"""What can go wrong with a question about data: one clear sentence each, and a line in the log."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from agent.events import StopReason
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.principal import Principal
from business import layer_drafts
from business.connections import postgres_session as session
from business.connections.address import Address
from business.guard.refusal import RefusalKind, SqlRefused
from business.models import DataSource, LayerDraft
from business.sources.services import open_source
from business.statements.run_query import run_query
from copilot_site.lib.errors import CopilotError
from tests.factories import make_user
from tests.integration.rest.world import signed_in

COUNT = "SELECT count(*) FROM customer"
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


def said(person: User, question: str = MANY) -> dict[str, Any]:
    """The answer over REST; how it ended is recorded beside it."""
    client = signed_in(person)
    session = client.post("/api/v1/sessions").json()
    answer = client.post(f"/api/v1/sessions/{session['id']}/messages", {"query": question}, format="json")
    assert answer.status_code == 201, answer.content
    told: dict[str, Any] = answer.json()
    entry = Entry.objects.get(run_id=told["id"], action=Action.QUESTION_ANSWERED)
    assert entry.reason == told["stop_reason"]
    assert entry.outcome == (Outcome.ALLOW if told["stop_reason"] == StopReason.OK else Outcome.DENY)
    return told


def governing() -> Client:
    """The pages as a superuser has them."""
    person = make_user("root", is_superuser=True)
    person.is_staff = True
    person.save()
    client = Client()
    client.force_login(person)
    return client


def unreachable(source: DataSource, _shop: Address) -> str:
    DataSource.unscoped.filter(pk=source.pk).update(host="127.0.0.1", port=1, is_embedded=False, tls="disable")
    return "The database server 127.0.0.1:1 does not answer: check address and network."


def wrong_password(source: DataSource, shop: Address) -> str:
    source.is_embedded, source.host, source.port, source.username = False, shop.host, shop.port, shop.user
    source.tls = "disable"
    source.set_password("not the password")
    source.save()
    return f"The database refuses the account {shop.user}: check its password."


def no_org_column(source: DataSource, _shop: Address) -> str:
    for model in source.layer["semantic_models"]:
        if model["name"] == "customer":
            model["org_unit"] = {"column": "department"}
    source.save()
    fault = "column &quot;department&quot; does not exist"
    return f"The table public.customer is not in the database as described: {fault}. Correct the data source."


@pytest.mark.parametrize("broken", [unreachable, wrong_password, no_org_column])
def test_a_source_that_does_not_answer_says_why_to_those_who_manage_it_alone(
    source: DataSource, northerner: User, shop: Address, broken: Callable[[DataSource, Address], str]
) -> None:
    """To them on the admin's page for statements; a draft of the layer asks the same database."""
    sentence = broken(source, shop)
    told = said(northerner)
    assert told["notice"].startswith("Business data is not available right now")
    assert all(word not in str(told) for word in ("127.0.0.1", "password", "department"))
    assert Entry.objects.filter(action=Action.SQL_REFUSED, run_id=told["id"], outcome=Outcome.ERROR).exists()
    client = governing()
    form = {"source": "shop", "person": "nora", "sql": COUNT, "protection": "both", "execute": "on"}
    page = client.post("/admin/data-sources/check/", form)
    assert (page.status_code, sentence in page.content.decode()) == (400, True), page.content.decode()
    assert Entry.objects.filter(action=Action.SQL_REFUSED, actor_name="root", outcome=Outcome.ERROR).exists()
    if broken is no_org_column:
        return
    before = DataSource.unscoped.get(pk=source.pk).layer
    client.post(f"/admin/data-sources/{source.pk}/layer/", {"draft": "1"})
    layer_drafts.run_draft(LayerDraft.objects.get(source=source).attempt)
    assert sentence in client.get(f"/admin/data-sources/{source.pk}/layer/draft/").content.decode()
    assert DataSource.unscoped.get(pk=source.pk).layer == before
    entry = Entry.objects.filter(action=Action.SETTING_CHANGED).latest("pk")
    assert (entry.outcome, entry.reason, entry.target_name) == (Outcome.ERROR, "SourceUnavailable", "shop")


TOO_LONG = "The query took longer than 0.05 s, or too much space, and was stopped: add a time window or a filter."
BUSY = "A table this question needs is being changed. Ask again in a moment."


def test_whoever_has_to_wait_too_long_is_told_what_to_do(
    northerner: User, shop: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody changes the table meanwhile: the question waits for them, no longer than its limits."""
    assert said(northerner)["stop_reason"] == StopReason.OK
    with psycopg.connect(**shop.keywords()) as holder:
        holder.execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
        for seconds, lock_ms, told in (
            (0.05, "0", (TOO_LONG, RefusalKind.COST)),
            (10, "20", (BUSY, RefusalKind.DATABASE)),
        ):
            DataSource.unscoped.update(max_seconds=seconds)
            monkeypatch.setitem(session.LIMITS, "lock_timeout", lock_ms)
            answer = said(northerner)
            entry = Entry.objects.get(action=Action.SQL_REFUSED, run_id=answer["id"])
            assert (answer["notice"], entry.reason) == told
