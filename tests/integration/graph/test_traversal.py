"""What a person sees of a graph: what stands in passages they may read, by whatever is known elsewhere."""

from typing import Any
from uuid import UUID

import pytest
from django.db.models import Q, Value

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from knowledge.graph.building import fill_base_graph
from knowledge.graph.drawing import build_picture
from knowledge.graph.traversal import (
    Neighbourhood,
    WalkLimits,
    traverse_from_document,
    traverse_from_entity,
    traverse_from_question,
)
from knowledge.models import Document, GraphEntity, GraphMention, GraphRelation, KnowledgeBase
from knowledge.retrieval.search import Scope
from knowledge.services.trash import restore_document, trash_document
from tests.factories import allow, keeper_of, make_base, make_document, make_folder, make_user
from tests.sharing import share_world

pytestmark = pytest.mark.django_db

OWNERS = """# Service owners

| Service | Team |
|---|---|
| track-api | Team Falcon |
| dock-planner | Team Heron |
"""
TEAMS = """# Teams on call

| Name | Lead |
|---|---|
| Team Falcon | Sun Rui |
"""
PLAIN = "# News\n\nThe track-api was down for an hour, said Team Falcon.\n"


def filled(base: KnowledgeBase) -> KnowledgeBase:
    fill_base_graph(base.pk)
    return base


def names(found: Neighbourhood) -> set[str]:
    return {entity.name for entity in found.entities}


def stated(found: Neighbourhood) -> set[tuple[str, str, str]]:
    by_id = {entity.id: entity.name for entity in found.entities}
    return {(by_id[relation.subject_id], relation.kind, by_id[relation.object_id]) for relation in found.relations}


def make_company() -> dict[str, Any]:
    """Two folders: who owns a service stands in one, who leads a team in the other."""
    base = make_base()
    open_folder, closed = make_folder(base, "open"), make_folder(base, "closed")
    owners = make_document(open_folder, "owners.md", OWNERS, ingested=True)
    teams = make_document(closed, "teams.md", TEAMS, ingested=True)
    news = make_document(open_folder, "news.md", PLAIN, ingested=True)
    filled(base)
    reader, insider = make_user(), make_user()
    allow(reader, open_folder)
    allow(insider, base)
    return {
        "base": base, "open": open_folder, "owners": owners, "teams": teams, "news": news,
        "reader": Principal.of(reader), "reader_user": reader, "insider": Principal.of(insider),
    }  # fmt: skip


shared_company, company = share_world("company", make_company)


def test_two_steps_lead_from_a_service_to_who_leads_its_team(company: dict[str, Any]) -> None:
    found = traverse_from_question(company["insider"], "Who leads the team that owns track-api?", Scope())
    assert ("track-api", "Team", "Team Falcon") in stated(found)
    assert ("Team Falcon", "Lead", "Sun Rui") in stated(found)
    hops = {entity.name: entity.hops for entity in found.entities}
    assert (hops["track-api"], hops["Team Falcon"], hops["Sun Rui"]) == (0, 1, 2)
    near = names(traverse_from_question(company["insider"], "track-api", Scope(), reach=WalkLimits(hops=1)))
    assert ("Team Falcon" in near, "Sun Rui" in near) == (True, False)


def test_a_walk_ends_where_the_passages_do_that_may_be_read(company: dict[str, Any]) -> None:
    """The closed document makes Sun Rui known: for the reader there is no such entity, relation or passage."""
    found = traverse_from_question(company["reader"], "Who leads the team that owns track-api?", Scope())
    assert "Team Falcon" in names(found)
    assert "Sun Rui" not in names(found)
    assert not {item for item in stated(found) if "Sun Rui" in item}
    assert {pk for pk, _score in found.passages} <= set(_chunks(company["owners"], company["news"]))


def test_nobody_learns_from_their_own_words_what_a_hidden_passage_makes_known(company: dict[str, Any]) -> None:
    """Whoever writes a guess into a document of their own must not see it become an entity."""
    make_document(company["open"], "guess.md", "# Guess\n\nIs it sun rui who leads, or dock-planner?\n", ingested=True)
    filled(company["base"])
    assert "sun rui" not in {
        name.lower() for name in names(traverse_from_question(company["reader"], "Sun Rui dock-planner", Scope()))
    }
    found = names(traverse_from_question(company["insider"], "Sun Rui", Scope()))
    assert "Sun Rui" in found


def test_the_guard_that_stands_on_what_defines_is_what_hides_it(
    company: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control of the test above."""
    make_document(company["open"], "guess.md", "# Guess\n\nIs it sun rui who leads?\n", ingested=True)
    filled(company["base"])
    monkeypatch.setattr("knowledge.graph.traversal._MADE", "EXISTS (SELECT 1 WHERE {entity} IS NOT NULL){may_d:.0}")
    assert traverse_from_question(company["reader"], "Sun Rui", Scope()).entities


def test_a_right_that_is_taken_back_is_gone_at_once(company: dict[str, Any]) -> None:
    revoke_rights(None, [Right.VIEW], company["open"], of=company["reader_user"])
    assert traverse_from_question(company["reader"], "track-api", Scope()) == Neighbourhood([], [], [])


def test_what_lies_in_the_trash_is_not_there_and_comes_back(company: dict[str, Any]) -> None:
    keeper = keeper_of(company["open"])
    trash_document(keeper, document_id=company["teams"].pk)
    assert "Sun Rui" not in names(traverse_from_question(company["insider"], "track-api", Scope()))
    restore_document(keeper, document_id=company["teams"].pk)
    assert "Sun Rui" in names(traverse_from_question(company["insider"], "track-api", Scope()))


def test_an_older_version_says_nothing_from_the_moment_the_newer_one_answers(company: dict[str, Any]) -> None:
    """Before and after the graph was read again."""
    make_document(company["teams"].folder, "teams.md", "# Teams on call\n\nNobody leads.\n", ingested=True)
    assert "Sun Rui" not in names(traverse_from_question(company["insider"], "track-api", Scope()))
    filled(company["base"])
    assert "Sun Rui" not in names(traverse_from_question(company["insider"], "track-api Sun Rui", Scope()))
    assert not GraphEntity.unscoped.filter(key="sun rui").exists()


def test_a_scope_narrows_the_walk(company: dict[str, Any]) -> None:
    narrow = Scope(document_ids=(company["owners"].pk,))
    found = traverse_from_question(company["insider"], "track-api", narrow)
    assert "Team Falcon" in names(found)
    assert "Sun Rui" not in names(found)
    elsewhere = Scope(knowledge_base_ids=(make_base().pk,))
    assert traverse_from_question(company["insider"], "track-api", elsewhere).entities == []


def test_the_neighbourhood_of_a_document_and_of_an_entity(company: dict[str, Any]) -> None:
    of_document = traverse_from_document(company["insider"], company["teams"].pk)
    assert {"Team Falcon", "Sun Rui", "Teams on call"} <= names(of_document)
    assert traverse_from_document(company["reader"], company["teams"].pk) == Neighbourhood([], [], [])
    rui = next(entity.id for entity in of_document.entities if entity.name == "Sun Rui")
    assert "Team Falcon" in names(traverse_from_entity(company["insider"], rui))
    assert traverse_from_entity(company["reader"], rui) == Neighbourhood([], [], [])


def test_the_models_show_what_the_statement_shows(company: dict[str, Any]) -> None:
    """The door of each model, for both people: exact sets."""
    for person, visible in ((company["reader"], [company["owners"], company["news"]]), (company["insider"], None)):
        documents = set(Document.objects.visible_to(person).values_list("pk", flat=True))
        assert visible is None or documents == {row.pk for row in visible}
        mentions = GraphMention.unscoped.filter(document__in=documents)
        made = set(mentions.filter(defines=True, entity__isnull=False).values_list("entity_id", flat=True))
        assert set(GraphEntity.objects.visible_to(person).values_list("pk", flat=True)) == made
        said = set(mentions.filter(relation__isnull=False).values_list("relation_id", flat=True))
        ends = GraphRelation.unscoped.filter(pk__in=said, subject__in=made, object__in=made)
        assert set(GraphRelation.objects.visible_to(person)) == set(ends)


def test_without_the_filter_the_tests_above_are_red(company: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.graph.traversal._MAY", "CROSS JOIN (SELECT 1) AS {m}_of")
    assert "Sun Rui" in names(traverse_from_question(company["reader"], "track-api", Scope()))
    monkeypatch.setattr(GraphMention, "reach", classmethod(lambda cls, principal, right: Q(Value(True))))
    assert GraphEntity.objects.visible_to(company["reader"]).filter(key="sun rui").exists()


def _chunks(*documents: Document) -> list[UUID]:
    from knowledge.models import Chunk

    return list(Chunk.unscoped.filter(document__in=documents).values_list("id", flat=True))


def test_a_picture_leads_to_no_passage_that_may_not_be_read() -> None:
    """Hidden documents name both ends of a line, too: the one that it leads to is the reader's own."""
    base, reader = make_base(), make_user()
    open_folder, closed = make_folder(base, "open"), make_folder(base, "closed")
    text = "# Parts\n\nThe KG-400 is used with the KG-500.\n"
    for number in range(6):
        make_document(closed, f"{number}.md", f"{text}\nNumber {number}.\n", ingested=True)
    mine = make_document(open_folder, "mine.md", text, ingested=True)
    filled(base)
    allow(reader, open_folder)
    principal = Principal.of(reader)
    start = GraphEntity.unscoped.get(key="KG-400")
    picture = build_picture(principal, traverse_from_entity(principal, start.pk))
    assert {node.entity.name for node in picture.nodes} >= {"KG-400", "KG-500"}
    assert {line.document_id for line in picture.lines} == {mine.pk}
