"""Through another person's eyes, and old answers again: recorded, read-only, and true."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.events import StopReason
from agent.models import Message, MessageRole, Session
from audit.actions import Action
from audit.models import Entry
from authz.models import PermissionSnapshot
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.models import Chunk, KnowledgeBase
from knowledge.services import access
from knowledge.services.folders import find_root_folder
from tests.factories import make_base, make_folder, make_user
from tests.integration.agent.conversations import LEAVE, SALARY, asked, make_reader, stored
from tests.integration.governance.world import client_of, staff, text_of
from tests.snapshots import folder_ids_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> User:
    """Somebody who may view a base without documents: what needs no answer needs no ingestion either."""
    return make_reader(make_base("Handbook"))


def answered(reader: User) -> Message:
    """A stored answer, as a list shows it."""
    session = Session.objects.create(user=reader)
    asked = Message.objects.create(session=session, role=MessageRole.USER, content=LEAVE)
    return Message.objects.create(
        session=session, parent=asked, role=MessageRole.ASSISTANT, content="30 days.", stop_reason=StopReason.OK
    )


def test_their_tree_and_search_are_theirs_and_the_banner_names_them(
    library: tuple[KnowledgeBase, User], overseer: User
) -> None:
    base, reader = library
    hidden = make_folder(base, "Hidden")
    access.deny_place_rights(None, [Right.VIEW], hidden, to=reader)
    url = reverse("see-as", args=[reader.pk])
    page = text_of(client_of(overseer).get(url))
    assert f"You see what {reader.username} sees. Read-only, and recorded." in page
    assert "Handbook" in page
    assert "Hidden" not in page
    assert "Board" not in page
    found = client_of(overseer).post(url, {"what": "search", "text": "annual leave"})
    assert {hit.passage.title for hit in found.context["found"].hits} == {"Leave"}
    assert f"You see what {reader.username} sees." in text_of(found)
    assert client_of(overseer).get(url, {"folder": str(hidden.pk)}).status_code == 404


def test_only_administrators_and_auditors_look(reader: User, overseer: User) -> None:
    answer = answered(reader)
    urls = [
        reverse("see-as-choose"),
        reverse("see-as", args=[reader.pk]),
        reverse("answers"),
        reverse("replay", args=[answer.pk]),
        reverse("ratings"),
    ]
    may, staff_only, signed_in = client_of(overseer), client_of(staff("staff")), client_of(reader)
    for url in urls:
        assert [client.get(url).status_code for client in (may, staff_only, signed_in)] == [200, 403, 302], url
    assert not Entry.objects.filter(action=Action.ACCESS_PREVIEWED, actor_name__startswith="staff").exists()


def test_every_run_carries_the_snapshot_of_what_they_saw(library: tuple[KnowledgeBase, User]) -> None:
    base, reader = library
    row = stored(asked(reader, LEAVE))
    snapshot = PermissionSnapshot.objects.get(pk=row.state["authz"]["perm_snapshot_id"])
    assert snapshot.username == row.state["authz"]["user_id"] == reader.username
    assert folder_ids_in(snapshot) == {find_root_folder(base).pk}
    assert {item["authz"]["perm_snapshot_id"] for item in row.state["evidence_items"]} == {snapshot.pk}


def test_a_replay_shows_then_and_now(library: tuple[KnowledgeBase, User], overseer: User) -> None:
    base, reader = library
    row = stored(asked(reader, LEAVE))
    url = reverse("replay", args=[row.pk])
    same = client_of(overseer).get(url)
    replay = same.context["replay"]
    assert replay.question == LEAVE
    assert replay.is_snapshot_intact
    assert replay.now.is_same_text
    assert any(used.is_cited for used in replay.evidence)
    assert {used.today for used in replay.evidence} == {"same"}
    assert all(used.is_found_now for used in replay.evidence)
    assert LEAVE in text_of(same)

    revoke_rights(None, [Right.VIEW], base, of=reader)
    Chunk.unscoped.filter(id=row.citations.first().chunk_id).update(text="changed")  # type: ignore[union-attr]
    other = client_of(overseer).get(url).context["replay"]
    assert (other.now.is_same_text, other.now.trial.stop_reason) == (False, "no_evidence")
    assert "changed" in {used.today for used in other.evidence}
    assert not any(used.is_found_now for used in other.evidence)
    assert other.message.content == row.content, "then stays as it was"
    entry = Entry.objects.filter(action=Action.ANSWER_REPLAYED).latest("id")
    assert (entry.actor_name, entry.on_behalf_of_name, entry.run_id) == ("olga", reader.username, str(row.pk))


def test_the_list_of_answers_tells_no_question(reader: User, overseer: User) -> None:
    row = answered(reader)
    client = client_of(overseer)
    page = text_of(client.get(reverse("answers")))
    assert reader.username in page
    assert LEAVE not in page
    assert row.content not in page
    assert reader.username not in text_of(client.get(reverse("answers"), {"user": "else"}))


def test_a_refusal_offers_a_folder_by_its_name_only() -> None:
    """The person may read nothing, so that every answer is a no."""
    reader, salaries = make_user("reader"), make_folder(make_base(), "Salary of directors")
    row = stored(asked(reader, SALARY))
    assert row.state["offers"] == [], "what is not told is as if it were not there"
    access.set_discoverable(None, salaries, is_discoverable=True)
    row = stored(asked(reader, SALARY))
    assert row.state["offers"] == [str(salaries.pk)]
    client = client_of(reader)
    shown = client.get(reverse("message", args=[row.session_id, row.pk])).content.decode()
    assert "Salary of directors" in shown
    assert f"{reverse('my-requests')}?folder={salaries.pk}" in shown
    told = client.get(f"/api/v1/sessions/{row.session_id}/messages").json()["results"][-1]
    assert told["offers"] == [{"folder_id": str(salaries.pk), "name": "Salary of directors", "state": ""}]
    access.set_discoverable(None, salaries, is_discoverable=False)
    again = client.get(reverse("message", args=[row.session_id, row.pk])).content.decode()
    assert str(salaries.pk) not in again, "it may not be asked for any more"
