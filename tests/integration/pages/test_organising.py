"""Conversations are named, filed, kept on top and put away by the person whose they are, and by nobody else."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.conversations.sessions import list_session_labels, search_sessions
from agent.models import Session
from authz.principal import Principal
from tests.factories import make_user
from tests.integration.pages.house import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make_user("owner")


def change(person: User, session: Session, **given: str) -> int:
    return client_of(person).post(reverse("conversation-change", args=[session.pk]), given).status_code


def titles(person: User, **chosen: object) -> list[str]:
    return [item.title for item in search_sessions(Principal.of(person), **chosen)]  # type: ignore[arg-type]


def test_what_is_pinned_stands_on_top_and_what_is_archived_apart(owner: User) -> None:
    first, second, third = (Session.objects.create(user=owner, title=title) for title in ("one", "two", "three"))
    before = third.updated_at
    assert change(owner, first, is_pinned="1") == 302
    assert change(owner, second, is_archived="1") == 302
    assert change(owner, third, title="  Three better  ", label="Travel") == 302
    assert titles(owner) == ["one", "Three better"]
    assert titles(owner, is_archived=True) == ["two"]
    assert titles(owner, label="Travel") == ["Three better"]
    assert list_session_labels(Principal.of(owner)) == ["Travel"]
    third.refresh_from_db()
    assert third.updated_at == before
    page = client_of(owner).get(reverse("conversations")).content.decode()
    assert "Three better" in page
    assert reverse("conversation", args=[second.pk]) not in page
    assert reverse("conversation", args=[second.pk]) in client_of(owner).get("/chat/all/?archived=1").content.decode()


def test_nobody_else_changes_it_and_a_bad_name_changes_nothing(owner: User) -> None:
    session = Session.objects.create(user=owner, title="mine")
    assert change(make_user("other"), session, title="theirs", is_archived="1") == 404
    assert change(owner, session, title=" ") == 400
    assert change(owner, session, label="x" * 41) == 400
    assert change(owner, session, is_pinned="perhaps") == 400
    session.refresh_from_db()
    assert (session.title, session.label, session.is_pinned, session.is_archived) == ("mine", "", False, False)


def test_the_way_back_leads_to_this_site_alone(owner: User) -> None:
    session = Session.objects.create(user=owner, title="mine")
    answer = client_of(owner).post(
        reverse("conversation-change", args=[session.pk]), {"is_pinned": "1", "next": "https://evil.example/"}
    )
    assert answer.headers["Location"] == reverse("conversation", args=[session.pk])
