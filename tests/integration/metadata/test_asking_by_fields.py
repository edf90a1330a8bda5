"""A question, or a search of the agent, that is narrowed by what fields of documents say: what is offered, accepted, kept and told."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from agent.conversations.sessions import create_session
from agent.models import Session
from agent.palette.places import NOWHERE, find_places, list_scope_places
from agent.profiles.kept_scope import convert_scope_to_json, read_stored_scope
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Document
from knowledge.retrieval.conditions import FieldCondition
from knowledge.retrieval.search import Scope
from knowledge.services.fields import FieldSpec, change_metadata, parse_conditions, set_fields
from tests.factories import make_user
from tests.integration.agent.conversations import asked, sources
from tests.integration.metadata.test_metadata import QUESTION, Library, browser
from tests.sharing import share_world
from tests.tooling import called

pytestmark = pytest.mark.django_db
MUELLER = FieldCondition("Client", equals="Müller & Söhne")


def make_library() -> Library:
    """In the hidden document a value that no other has, and in a field of the hidden base alone another one."""
    made = Library()
    by = Principal.of(made.keeper)
    change_metadata(by, document_id=made.hidden.pk, values={"Client": "Secret Holding"})
    return made


shared_library, library = share_world("library", make_library)


def offered(person: User, words: str) -> set[tuple[str, int]]:
    return {(place.name, place.count) for place in find_places(Principal.of(person), words) if place.kind == "field"}


def test_values_are_offered_from_documents_that_the_person_may_read(library: Library) -> None:
    both = {("Client: Müller & Söhne", 1), ("Client: Huber", 1)}
    assert offered(library.reader, "client") == both
    assert offered(library.keeper, "client") == both | {("Client: Secret Holding", 1)}
    assert offered(library.reader, "secret") == set()
    assert offered(library.reader, "state:valid") == {("State: valid", 1)}
    assert offered(library.keeper, "state：VALID") == {("State: valid", 2)}
    assert offered(library.reader, "2025") == {("Year: 2025", 1)}
    assert offered(library.reader, "%") == offered(library.reader, "") == offered(make_user(), "client") == set()


def test_a_document_that_does_not_answer_offers_nothing(library: Library) -> None:
    Document.unscoped.filter(pk=library.seen[1].pk).update(current_version=None)
    assert offered(library.reader, "client") == {("Client: Müller & Söhne", 1)}


def test_a_question_is_answered_from_documents_that_say_it(library: Library) -> None:
    question = "How long is the notice period of contract 1?"
    assert "Notice 1" in sources(asked(library.reader, question))
    session = create_session(Principal.of(library.reader))
    narrow = Scope(metadata=(MUELLER,))
    assert set(sources(asked(library.reader, question, session, scope=narrow))) <= {"Notice 0"}
    session.refresh_from_db()
    assert session.scope == {"metadata": [{"field": "Client", "equals": "Müller & Söhne"}]}
    assert read_stored_scope(session.scope) == narrow


def test_a_value_that_only_hidden_documents_have_is_like_one_that_nobody_has(library: Library) -> None:
    def told(client: str) -> list[tuple[str, str]]:
        scope = Scope(metadata=(FieldCondition("Client", equals=client),))
        return [(item.response_type, item.content) for item in asked(library.reader, QUESTION, scope=scope)]

    assert told("Secret Holding") == told("Nobody")


def test_what_is_kept_comes_back_as_it_was() -> None:
    scope = Scope(
        metadata=(MUELLER, FieldCondition("Year", at_least=2024, at_most=2026), FieldCondition("Client", contains="mü"))
    )
    assert read_stored_scope(convert_scope_to_json(scope)) == scope


def test_a_chip_is_named_under_todays_rights(library: Library) -> None:
    session = Session.objects.create(
        user=library.reader, title="x", scope=convert_scope_to_json(Scope(metadata=(MUELLER,)))
    )
    page = browser(library.reader).get(f"/chat/{session.pk}/").content.decode()
    assert "with Client: Müller &amp; Söhne: one document you can read" in page
    revoke_rights(None, [Right.VIEW], library.base, of=library.reader)
    page = browser(library.reader).get(f"/chat/{session.pk}/").content.decode()
    assert "in a place you can no longer see" in page
    assert "ller" not in page
    assert list_scope_places(Principal.of(library.reader), read_stored_scope(session.scope)) == [NOWHERE]


def found_by_tool(person: User, **arguments: Any) -> set[str] | str:
    """Titles that the agent's search brings, or what it is told instead."""
    result = called(person, "knowledge_search", {"queries": [QUESTION], **arguments}).result
    return {row["knowledge_title"] for row in result.data["results"]} if result.success else result.output


def test_the_agents_search_is_narrowed_by_fields(library: Library) -> None:
    recent = [{"field": "Year", "at_least": 2025}]
    assert found_by_tool(library.reader, metadata=recent) == {"Notice 1", "Notice 2"}
    one = str(library.seen[2].pk)
    assert found_by_tool(library.reader, metadata=recent, knowledge_ids=[one]) == {"Notice 2"}
    assert found_by_tool(library.reader, metadata=[*recent, {"field": "State", "equals": "draft"}]) == {"Notice 1"}
    assert found_by_tool(library.reader, metadata=[{"field": "Client", "equals": "Secret Holding"}]) == set()
    assert found_by_tool(library.keeper, metadata=[{"field": "Client", "equals": "Secret Holding"}]) == {"Notice 9"}


def test_a_field_of_a_hidden_base_is_like_one_that_is_missing(library: Library) -> None:
    set_fields(Principal.of(library.keeper), library.other.pk, [FieldSpec("Nickname")])
    hidden, missing = (found_by_tool(library.reader, metadata=[{"field": name}]) for name in ("Nickname", "Nothing1"))
    assert str(hidden).replace("Nickname", "Nothing1") == missing
    assert "There are these: Client, State, Valid until, Year." in str(missing)
    with pytest.raises(InvalidInput):
        parse_conditions(Principal.of(library.reader), [{"field": "Nickname"}])


def test_the_command_asks_by_fields(library: Library) -> None:
    def told(*more: str) -> str:
        out = StringIO()
        call_command("ask", QUESTION, "--as", library.reader.username, *more, stdout=out)
        return out.getvalue()

    assert "Notice 1" in told("--field", "Client=Huber", "--field", "Year=2026")
    assert "You can read nothing in the chosen scope" in told("--field", "Client=Secret Holding")
    for wrong, said in (("Client", "NAME=VALUE"), ("Colour=red", "There is no field “Colour”")):
        before = Session.objects.count()
        with pytest.raises(CommandError, match=said):
            told("--field", wrong)
        assert Session.objects.count() == before
