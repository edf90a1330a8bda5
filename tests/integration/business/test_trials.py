"""A question for business data, tried again by whoever oversees: today's number, with the person's rights, and nothing as if they asked."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import InternalError
from django.urls import reverse

from agent.models import Message, QueryCitation, Session
from agent.oversight.dry_run import dry_run_question
from agent.tools.database_query import DatabaseQuery
from audit.actions import Action, Outcome
from audit.models import Entry
from audit.record import DeferredEntries
from authz.models import OrgUnit, PermissionSnapshot
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from business.connections.address import Address
from business.models import DataSource
from business.sources.grants import revoke_right
from tests.factories import allow, make_base, make_user
from tests.integration.agent.conversations import asked, stored
from tests.integration.business.conftest import one_more_customer
from tests.integration.governance.world import client_of, staff, text_of
from tests.tokens import client_with

QUESTION = "how many customers are there"
RECORDED = {
    Action.SQL_EXECUTED,
    Action.SQL_REFUSED,
    Action.TOOL_CALLED,
    Action.QUESTION_ASKED,
    Action.QUESTION_ANSWERED,
}


def seen_as(overseer: User, person: User) -> Any:
    return client_of(overseer).post(reverse("see-as", args=[person.pk]), {"what": "ask", "text": QUESTION})


def replayed(overseer: User, answer: Message) -> Any:
    return client_of(overseer).get(reverse("replay", args=[answer.pk]))


def history() -> list[int]:
    """What there is of conversations, answers, results and rights."""
    return [model.objects.count() for model in (Session, Message, QueryCitation, PermissionSnapshot)]


def done_by(username: str) -> list[tuple[str, str]]:
    """What of asking and answering the log says that somebody did, with whose rights."""
    rows = Entry.objects.filter(actor_name=username, action__in=RECORDED).order_by("id")
    return list(rows.values_list("action", "on_behalf_of_name"))


def test_see_as_shows_the_number_they_would_get_and_is_recorded_as_the_overseer_s(
    northerner: User, shop: Address, overseer: User
) -> None:
    theirs = stored(asked(northerner, QUESTION))
    before, by_them = history(), done_by("nora")
    with one_more_customer(shop):
        page = seen_as(overseer, northerner)
    assert page.status_code == 200
    (result,) = page.context["trial"].results
    assert result.table.rows == ((76,),)
    assert page.context["trial"].text == theirs.content.replace("75", "76")
    assert "Only rows of their units: North" in text_of(page)
    assert (history(), done_by("nora")) == (before, by_them)
    assert done_by("olga") == [(Action.SQL_EXECUTED, "nora"), (Action.TOOL_CALLED, "nora")]
    entry = Entry.objects.get(action=Action.SQL_EXECUTED, actor_name="olga")
    assert (entry.outcome, entry.target_name, entry.run_id) == (Outcome.ALLOW, "shop", "")
    assert (entry.detail["trial"], entry.detail["rows"]) == (True, 1)
    looked = Entry.objects.get(action=Action.ACCESS_PREVIEWED)
    assert looked.request_id == entry.request_id


def test_a_token_without_the_scope_asks_documents_only(northerner: User, shop: Address) -> None:
    """For one's own questions, too: `sql` opens business data, and nothing else does."""
    for scopes, rows in (({"chat"}, 0), ({"chat", "sql"}, 1)):
        client = client_with(issue_token(Principal.of(northerner), name="script", scopes=scopes)[1])
        session = client.post("/api/v1/sessions", {}).json()["id"]
        answer = client.post(f"/api/v1/sessions/{session}/messages", {"query": QUESTION}).json()
        assert len(answer["queries"]) == rows, scopes
        assert Entry.objects.filter(action=Action.SQL_EXECUTED, actor_name="nora").count() == rows
        tools = {tool["name"]: tool for tool in client.get("/api/v1/agent-tools").json()}
        assert tools["database_query"]["is_available"] == bool(rows)
    chat_only = client_with(issue_token(Principal.of(northerner), name="script", scopes={"chat"})[1])
    again = chat_only.post(f"/api/v1/sessions/{session}/messages/{answer['id']}/queries/1/again", {})
    assert (again.status_code, again.json()["code"]) == (403, "missing_scope")


def test_the_api_asks_data_sources_for_a_token_that_opens_them(northerner: User, shop: Address, overseer: User) -> None:
    """As it would for the overseer's own questions; by whom and for whom is recorded alike."""
    for scopes, results, rows in (({"audit", "chat"}, 0, 0), ({"audit", "chat", "sql"}, 1, 1)):
        secret = issue_token(Principal.of(overseer), name="script", scopes=scopes)[1]
        answer = client_with(secret).post("/api/v1/see-as/answer", {"user": "nora", "query": QUESTION})
        assert (answer.status_code, answer.json()["as"]["username"]) == (200, "nora")
        assert len(answer.json()["results"]) == results, scopes
        executed = Entry.objects.filter(action=Action.SQL_EXECUTED, actor_name="olga", on_behalf_of_name="nora")
        assert executed.count() == rows
    assert answer.json()["results"][0]["table"]["rows"] == [[75]]
    assert done_by("nora") == []


def test_a_replay_shows_then_and_now(northerner: User, source: DataSource, shop: Address, overseer: User) -> None:
    answer = stored(asked(northerner, QUESTION))
    before, by_them = history(), done_by("nora")
    replay = replayed(overseer, answer).context["replay"]
    assert replay.now.is_same_text
    assert [(used.today, used.is_found_now) for used in replay.evidence] == [("same", True)]
    with one_more_customer(shop):
        replay = replayed(overseer, answer).context["replay"]
    assert replay.results[0].table.rows == ((75,),)
    assert replay.now.trial.results[0].table.rows == ((76,),)
    assert [(used.today, used.is_found_now) for used in replay.evidence] == [("changed", False)]
    assert (history(), done_by("nora")) == (before, by_them)

    revoke_right(None, source, of=OrgUnit.objects.get(name="North").group)
    replay = replayed(overseer, answer).context["replay"]
    assert (replay.now.trial.results, replay.now.trial.stop_reason) == ([], "no_evidence")
    assert "75" not in replay.now.trial.text
    assert [(used.today, used.is_found_now) for used in replay.evidence] == [(None, False)]
    assert replay.results[0].table.rows == ((75,),), "then stays as it was"
    page = seen_as(overseer, northerner)
    assert (page.context["trial"].results, "75" in page.context["trial"].text) == ([], False)


def test_what_cannot_be_recorded_is_not_shown(
    northerner: User, overseer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object, **_kwargs: object) -> None:
        raise InternalError("the log is gone")

    monkeypatch.setattr(DeferredEntries, "write", fails)
    with pytest.raises(InternalError, match="the log is gone"):
        seen_as(overseer, northerner)


def test_a_tool_that_changes_something_is_not_offered(northerner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool says so itself; the trial knows none by name."""
    withheld = DeferredEntries()
    monkeypatch.setattr(DatabaseQuery, "has_side_effects", True)
    tried = dry_run_question(Principal.of(northerner), QUESTION, language="en", withheld=withheld)
    assert (tried.results, tried.stop_reason) == ([], "no_evidence")


def test_the_query_is_for_overseers_and_for_those_it_was_shown_to(northerner: User, overseer: User) -> None:
    """Whoever manages folders, or governs all of them, is not told what business data said unless they may oversee."""
    answer = stored(asked(northerner, QUESTION))
    assert "count(" in text_of(replayed(overseer, answer)).lower()
    manager = staff("mia")
    allow(manager, make_base("Handbook"), *Right)
    for page in (replayed(manager, answer), seen_as(manager, northerner)):
        assert page.status_code == 403
        assert "customer" not in text_of(page)
    own = reverse("run", args=[answer.session_id, answer.pk])
    assert client_of(manager).get(own).status_code == 404
    assert client_of(make_user("stranger")).get(own).status_code == 404
    assert client_of(northerner).get(own).status_code == 200
