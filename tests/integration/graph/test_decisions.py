"""What people decide by hand about a graph: undoable, recorded, and only about what they may read and manage."""

from collections.abc import Callable

import pytest

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.graph.building import fill
from knowledge.graph.names import folded
from knowledge.graph.services import change_graph, merge, refuse, separate
from knowledge.graph.traversal import Neighbourhood, about_question
from knowledge.models import Graph, GraphEntity, GraphMention, GraphRelation, KnowledgeBase
from knowledge.retrieval.search import Scope
from knowledge.services.removal import remove_document
from tests.factories import allow, make_base, make_document, make_user
from tests.sharing import Share

pytestmark = pytest.mark.django_db

TEXT = "# Rules\n\n“Error budget” means what may fail.\n\n| Service | Team |\n|---|---|\n| track-api | Team Falcon |\n"


@pytest.fixture(scope="module")
def shared_managed(share: Share) -> Callable[[], tuple[KnowledgeBase, Principal]]:
    return share(make_managed)


@pytest.fixture
def managed(shared_managed: Callable[[], tuple[KnowledgeBase, Principal]], db: None) -> tuple[KnowledgeBase, Principal]:
    return shared_managed()


def make_managed() -> tuple[KnowledgeBase, Principal]:
    base, keeper = make_base(), make_user()
    make_document(base, "rules.md", TEXT, ingested=True)
    make_document(base, "other.md", "# Other\n\n“Allowance” means the same.\n", ingested=True)
    allow(keeper, base, Right.VIEW, Right.MANAGE)
    fill(base.pk)
    return base, Principal.of(keeper)


def hops(found: Neighbourhood) -> dict[str, int]:
    return {entity.name: entity.hops for entity in found.entities}


def test_two_names_become_one_and_two_again(managed: tuple[KnowledgeBase, Principal]) -> None:
    base, keeper = managed
    assert "Allowance" not in hops(about_question(keeper, "error budget", Scope()))
    row = merge(keeper, base.pk, names=["error  BUDGET", "Allowance"])
    assert hops(about_question(keeper, "error budget", Scope()))["Allowance"] == 0
    with pytest.raises(Conflict):
        merge(keeper, base.pk, names=["Allowance", "Error budget"])
    fill(base.pk)
    separate(keeper, base.pk, merge_id=row.pk)
    assert "Allowance" not in hops(about_question(keeper, "error budget", Scope()))
    actions = list(Entry.objects.filter(action__startswith="graph.").order_by("id").values_list("action", flat=True))
    assert actions == [Action.GRAPH_MERGED, Action.GRAPH_SEPARATED]


def test_a_refused_relation_stays_out_when_it_is_read_again(managed: tuple[KnowledgeBase, Principal]) -> None:
    base, keeper = managed
    row = next(item for item in about_question(keeper, "track-api", Scope()).relations if item.kind == "Team")
    refuse(keeper, base.pk, relation_id=row.id)
    make_document(base, "rules.md", TEXT + "\nMore.\n", ingested=True)
    fill(base.pk)
    assert all(item.kind != "Team" for item in about_question(keeper, "track-api", Scope()).relations)
    refuse(keeper, base.pk, relation_id=row.id, is_refused=False)
    assert any(item.kind == "Team" for item in about_question(keeper, "track-api", Scope()).relations)


def test_who_does_not_manage_the_base_decides_nothing(managed: tuple[KnowledgeBase, Principal]) -> None:
    base, _keeper = managed
    reader = make_user()
    allow(reader, base)
    relation = GraphRelation.unscoped.filter(knowledge_base=base).first()
    assert relation is not None
    for decide in (
        lambda by: merge(by, base.pk, names=["Error budget", "Allowance"]),
        lambda by: refuse(by, base.pk, relation_id=relation.pk),
        lambda by: change_graph(by, base.pk, graph="off"),
    ):
        with pytest.raises(NotFound):
            decide(Principal.of(reader))


def test_a_name_that_one_may_not_read_is_one_that_is_not_there(managed: tuple[KnowledgeBase, Principal]) -> None:
    base, _keeper = managed
    manager = make_user()
    allow(manager, base, Right.MANAGE)
    said = []
    for name in ("Allowance", "Nothing like it"):
        with pytest.raises(NotFound) as error:
            merge(Principal.of(manager), base.pk, names=[name, name])
        said.append(str(error.value).replace(name, "X"))
    assert said[0] == said[1]


def test_an_unknown_setting_changes_nothing_and_off_empties_the_graph(managed: tuple[KnowledgeBase, Principal]) -> None:
    base, keeper = managed
    with pytest.raises(InvalidInput):
        change_graph(keeper, base.pk, graph="model")
    assert KnowledgeBase.unscoped.get(pk=base.pk).graph == Graph.CERTAIN
    change_graph(keeper, base.pk, graph="off")
    fill(base.pk)
    assert not GraphEntity.unscoped.filter(knowledge_base=base).exists()


def test_a_deleted_document_leaves_no_name_behind(managed: tuple[KnowledgeBase, Principal]) -> None:
    base, _keeper = managed
    for mention in list(GraphMention.unscoped.filter(said="Other").select_related("document"))[:1]:
        remove_document(None, mention.document)
    assert not GraphEntity.unscoped.filter(knowledge_base=base, key="allowance").exists()
    assert GraphEntity.unscoped.filter(knowledge_base=base, key="error budget").exists()
    left = Entry.objects.filter(action=Action.DOCUMENT_ERASED).values_list("detail", flat=True)
    assert all(detail["left"]["graph_mentions"] == 0 for detail in left)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Error Budget", "error  budget", True),
        ("ＫＧ－400", "kg-400", False),
        ("軟體發佈", "软体发布", True),
        ("“SLA”", "SLA", True),
        ("US", "us", False),
        ("Team Falcon", "Team Falcons", False),
    ],
)
def test_names_are_folded_by_careful_rules(one: str, other: str, same: bool) -> None:
    assert (folded(one) == folded(other)) is same
