"""Storage of what passages say: entities and relations once in a base, a mention for each passage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID, uuid4

from django.db.models import Exists, OuterRef, Q

from knowledge.graph import kinds
from knowledge.graph.names import Names, fold_name, is_distinctive_name
from knowledge.graph.pattern_extraction import PassageStatements, StatedRelation
from knowledge.models import (
    Chunk,
    Document,
    GraphEntity,
    GraphMention,
    GraphMerge,
    GraphReading,
    GraphRelation,
    KnowledgeBase,
)
from knowledge.models.graph import KIND_LENGTH, NAME_LENGTH


class NamingPassage(NamedTuple):
    """A passage that may name what is known. Fields as those of Chunk."""

    id: UUID
    document_id: UUID
    version_id: UUID
    text: str


class PassageStatement(NamedTuple):
    """Pair a passage with what it says."""

    chunk: Chunk
    said: PassageStatements


@dataclass
class KnownNames:
    """The names that passages of a base are searched for. documents: title or file name as a key → the entities of those documents."""

    names: Names = field(default_factory=Names)
    documents: dict[str, set[UUID]] = field(default_factory=dict)

    def add_document(self, entity_id: UUID, document: Document) -> None:
        for key in list_document_keys(document):
            self.documents.setdefault(key, set()).add(entity_id)
            self.names.add([key])


def list_document_keys(document: Document) -> set[str]:
    """Return the keys by which other documents name this one: its file name, and its title unless a common word."""
    title, filename = fold_name(document.title), fold_name(document.filename)
    return {key for key in (title if is_distinctive_name(title) else "", filename) if key}


def load_known_names(base: KnowledgeBase, entities: Q) -> KnownNames:
    """Return the known names of a base that match."""
    known = KnownNames()
    rows = GraphEntity.unscoped.filter(entities, knowledge_base=base)
    known.names.add(key for key in rows.filter(document=None).values_list("key", flat=True) if is_distinctive_name(key))
    for row in rows.filter(document__isnull=False).select_related("document"):
        assert row.document is not None
        known.add_document(row.pk, row.document)
    return known


def store_statements(
    base: KnowledgeBase, document: Document, readings: Sequence[PassageStatement], known: KnownNames
) -> None:
    """Write what a document's passages say, into the caller's transaction; the earlier rows are deleted already.

    readings: in the order of the passages.
    """
    me = _store_document_entity(base, document)
    known.add_document(me.pk, document)
    entities = _ensure_entities(base, {entry.key for reading in readings for entry in reading.said.named})
    stated = [(reading, entry) for reading in readings for entry in reading.said.stated]
    relations = _ensure_relations(base, {_build_triple(item, me.pk, entities) for _reading, item in stated})
    title = document.title[:NAME_LENGTH]
    mentions = [_build_mention(readings[0].chunk, entity=me.pk, kind=kinds.DOCUMENT, said=title)] if readings else []
    mentions += [
        _build_mention(chunk, entity=entities[entry.key], kind=entry.kind[:KIND_LENGTH], said=entry.said[:NAME_LENGTH])
        for chunk, current in readings for entry in sorted(current.named, key=lambda named: (named.kind, named.said))
    ]  # fmt: skip
    mentions += [
        _build_mention(reading.chunk, relation=relations[_build_triple(item, me.pk, entities)])
        for reading, item in stated
    ]
    GraphMention.unscoped.bulk_create(
        mentions, batch_size=500, ignore_conflicts=True
    )  # a name said twice is one mention
    passages = {
        chunk.id: NamingPassage(chunk.id, document.pk, chunk.version_id, chunk.text) for chunk, _said in readings
    }
    store_mentions(base, passages.values(), known)
    known.names.add(key for key in entities if is_distinctive_name(key))


def store_mentions(base: KnowledgeBase, passages: Iterable[NamingPassage], known: KnownNames) -> None:
    """Store mentions of known names, which make nothing new visible to anybody, and references to documents."""
    found = [(passage, list(known.names.found_in(passage.text))) for passage in passages]
    keys = {key for _passage, pairs in found for key, _said in pairs}
    rows = GraphEntity.unscoped.filter(knowledge_base=base, document=None, key__in=keys)
    by_key = dict(rows.values_list("key", "pk"))
    mentions = [
        _build_mention(passage, entity=by_key[key], said=relation_keys[:NAME_LENGTH], defines=False)
        for passage, pairs in found for key, relation_keys in pairs if key in by_key
    ]  # fmt: skip
    mine = dict(
        GraphEntity.unscoped.filter(document__in={passage.document_id for passage, _pairs in found}).values_list(
            "document_id", "pk"
        )
    )
    references = {
        (passage, (mine[passage.document_id], kinds.REFERS_TO, other))
        for passage, pairs in found if passage.document_id in mine
        for key, _said in pairs for other in known.documents.get(key, ()) if other != mine[passage.document_id]
    }  # fmt: skip
    relations = _ensure_relations(base, {triple for _passage, triple in references})
    mentions += [_build_mention(passage, relation=relations[triple]) for passage, triple in references]
    GraphMention.unscoped.bulk_create(mentions, batch_size=500, ignore_conflicts=True)


def _store_document_entity(base: KnowledgeBase, document: Document) -> GraphEntity:
    key = fold_name(document.title) or fold_name(document.filename) or str(document.pk)
    row, _made = GraphEntity.unscoped.update_or_create(
        knowledge_base=base, document=document, defaults={"key": key, "is_spread": False}
    )
    return row


def _ensure_entities(base: KnowledgeBase, wanted: set[str]) -> dict[str, UUID]:
    """Return the ids of the entities of these keys; new ones are created."""
    rows = GraphEntity.unscoped.filter(knowledge_base=base, document=None, key__in=wanted)
    found: dict[str, UUID] = dict(rows.values_list("key", "pk"))
    new = [GraphEntity(id=uuid4(), knowledge_base=base, key=key) for key in sorted(wanted - found.keys())]
    GraphEntity.unscoped.bulk_create(new, batch_size=500)
    return found | {row.key: row.pk for row in new}


Triple = tuple[UUID, str, UUID]  # subject, kind, object


def _build_triple(stated: StatedRelation, document: UUID, entities: Mapping[str, UUID]) -> Triple:
    subject = document if stated.subject is None else entities[stated.subject.key]
    return subject, stated.kind[:KIND_LENGTH], entities[stated.object.key]


def _ensure_relations(base: KnowledgeBase, wanted: set[Triple]) -> dict[Triple, UUID]:
    """Return the ids of these relations; new ones are created."""
    rows = GraphRelation.unscoped.filter(
        subject__in={subject for subject, _kind, _object in wanted}, knowledge_base=base
    )
    found = {
        (subject, kind, other): pk
        for pk, subject, kind, other in rows.values_list("pk", "subject_id", "kind", "object_id")
    }
    new = [
        GraphRelation(id=uuid4(), knowledge_base=base, subject_id=subject, kind=kind, object_id=other)
        for subject, kind, other in sorted(wanted - found.keys(), key=str)
    ]
    GraphRelation.unscoped.bulk_create(new, batch_size=500)
    return found | {(row.subject_id, row.kind, row.object_id): row.pk for row in new}


def _build_mention(
    passage: NamingPassage | Chunk,
    *,
    entity: UUID | None = None,
    relation: UUID | None = None,
    kind: str = "",
    said: str = "",
    defines: bool = True,
) -> GraphMention:
    return GraphMention(
        entity_id=entity, relation_id=relation, document_id=passage.document_id, version_id=passage.version_id,
        chunk_id=passage.id, kind=kind, said=said, defines=defines,
    )  # fmt: skip


def delete_orphans(base: KnowledgeBase) -> None:
    """Delete what no passage says any more, except what was decided by hand."""
    stated = GraphMention.unscoped.filter(relation=OuterRef("pk"))
    GraphRelation.unscoped.filter(~Exists(stated), knowledge_base=base, is_refused=False).delete()
    kept_by = (
        GraphMention.unscoped.filter(entity=OuterRef("pk")),
        GraphRelation.unscoped.filter(Q(subject=OuterRef("pk")) | Q(object=OuterRef("pk"))),
        GraphMerge.objects.filter(Q(one=OuterRef("pk")) | Q(other=OuterRef("pk"))),
    )
    GraphEntity.unscoped.filter(*(~Exists(rows) for rows in kept_by), knowledge_base=base).delete()


def delete_document_graph(document: Document) -> None:
    """Remove what a document alone named. Call it before the document's rows are deleted."""
    named = set(
        GraphMention.unscoped.filter(document=document, entity__isnull=False).values_list("entity_id", flat=True)
    )
    GraphMention.unscoped.filter(document=document).delete()
    elsewhere = set(GraphMention.unscoped.filter(entity__in=named).values_list("entity_id", flat=True))
    GraphEntity.unscoped.filter(pk__in=named - elsewhere).delete()
    stated = GraphMention.unscoped.filter(relation=OuterRef("pk"))
    GraphRelation.unscoped.filter(~Exists(stated), Q(subject__in=named) | Q(object__in=named)).delete()


def delete_base_graph(base: KnowledgeBase) -> None:
    GraphReading.objects.filter(document__knowledge_base=base).delete()
    GraphMention.unscoped.filter(document__knowledge_base=base).delete()
    GraphMerge.objects.filter(knowledge_base=base).delete()
    GraphRelation.unscoped.filter(knowledge_base=base).delete()
    GraphEntity.unscoped.filter(knowledge_base=base).delete()
