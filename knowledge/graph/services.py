"""Decisions of people about the graph of a base: its settings, merged names, wrong relations. All can be undone.

The right is `manage` on the base; what they name or see of it comes through what they may read themselves.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import make_not_found
from authz.rights.governing import get_governed
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.graph.names import fold_name
from knowledge.graph.queueing import queue_base_on_commit
from knowledge.models import GraphEntity, GraphMerge, GraphMode, GraphRelation, KnowledgeBase


@transaction.atomic
def change_graph(by: Principal, base_id: UUID, *, graph: str) -> KnowledgeBase:
    """Switch the graph of a base on or off. Raises NotFound, InvalidInput."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    if graph not in GraphMode.values:
        raise InvalidInput(_("There is no such kind of knowledge graph."))
    base.graph = graph
    base.save(update_fields=["graph"])
    record_action(by, Action.KNOWLEDGE_BASE_CHANGED, base, detail={"graph": graph})
    queue_base_on_commit(base.pk)
    return base


@transaction.atomic
def merge_entities(by: Principal, base_id: UUID, *, names: Sequence[str]) -> GraphMerge:
    """Merge two names. Raises NotFound (no passage that they may read has the name), InvalidInput, Conflict (merged already)."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    one, other = sorted((_find_entity(by, base, name) for name in names), key=lambda row: row.pk)
    if one == other:
        raise InvalidInput(_("These are already one: they do not really differ."))
    row, made = GraphMerge.objects.get_or_create(
        one=one, other=other, defaults={"knowledge_base": base, "made_by_id": by.user_id}
    )
    if not made:
        raise Conflict(_("Someone has already done this."))
    record_action(by, Action.GRAPH_MERGED, base, detail={"entities": [str(one.pk), str(other.pk)]})
    return row


@transaction.atomic
def undo_merge(by: Principal, base_id: UUID, *, merge_id: UUID) -> None:
    """Undo a merge, which changed nothing else. Raises NotFound."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    row = GraphMerge.objects.filter(pk=merge_id, knowledge_base=base).first()
    if row is None:
        raise NotFound(_("There is no such merge."))
    record_action(by, Action.GRAPH_SEPARATED, base, detail={"entities": [str(row.one_id), str(row.other_id)]})
    row.delete()


@transaction.atomic
def refuse_graph_relation(by: Principal, base_id: UUID, *, relation_id: UUID, is_refused: bool = True) -> None:
    """Remove a visible relation from the graph, or restore it. Raises NotFound."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    row = GraphRelation.objects.visible_to(by).filter(pk=relation_id, knowledge_base=base).first()
    if row is None:
        raise make_not_found(GraphRelation)
    GraphRelation.unscoped.filter(pk=row.pk).update(is_refused=is_refused)
    record_action(
        by, Action.GRAPH_REFUSED if is_refused else Action.GRAPH_RESTORED, base, detail={"relation": str(row.pk)}
    )


def _find_entity(by: Principal, base: KnowledgeBase, name: str) -> GraphEntity:
    rows = GraphEntity.objects.visible_to(by).filter(knowledge_base=base, key=fold_name(name)).order_by("document_id")
    row = rows.first() if fold_name(name) else None
    if row is None:
        raise NotFound(_("No passage you can read names “%(name)s”.") % {"name": name})
    return row
