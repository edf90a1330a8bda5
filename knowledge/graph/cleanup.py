"""Removal from the graph of what no passage says any more, names included."""

from django.db.models import Exists, OuterRef, Q

from knowledge.models import Document, GraphEntity, GraphMention, GraphMerge, GraphReading, GraphRelation, KnowledgeBase


def clear_orphans(base: KnowledgeBase) -> None:
    """Delete what no passage says any more, except what was decided by hand."""
    stated = GraphMention.unscoped.filter(relation=OuterRef("pk"))
    GraphRelation.unscoped.filter(~Exists(stated), knowledge_base=base, is_refused=False).delete()
    kept_by = (
        GraphMention.unscoped.filter(entity=OuterRef("pk")),
        GraphRelation.unscoped.filter(Q(subject=OuterRef("pk")) | Q(object=OuterRef("pk"))),
        GraphMerge.objects.filter(Q(one=OuterRef("pk")) | Q(other=OuterRef("pk"))),
    )
    GraphEntity.unscoped.filter(*(~Exists(rows) for rows in kept_by), knowledge_base=base).delete()


def forget(document: Document) -> None:
    """Remove what a document alone named. Call it before the document's rows are deleted."""
    named = set(
        GraphMention.unscoped.filter(document=document, entity__isnull=False).values_list("entity_id", flat=True)
    )
    GraphMention.unscoped.filter(document=document).delete()
    elsewhere = set(GraphMention.unscoped.filter(entity__in=named).values_list("entity_id", flat=True))
    GraphEntity.unscoped.filter(pk__in=named - elsewhere).delete()
    stated = GraphMention.unscoped.filter(relation=OuterRef("pk"))
    GraphRelation.unscoped.filter(~Exists(stated), Q(subject__in=named) | Q(object__in=named)).delete()


def empty(base: KnowledgeBase) -> None:
    """Forget the graph of a base."""
    GraphReading.objects.filter(document__knowledge_base=base).delete()
    GraphMention.unscoped.filter(document__knowledge_base=base).delete()
    GraphMerge.objects.filter(knowledge_base=base).delete()
    GraphRelation.unscoped.filter(knowledge_base=base).delete()
    GraphEntity.unscoped.filter(knowledge_base=base).delete()
