"""The knowledge graph of a base: the entities its passages name, and what they state about them.

A passage is the only reason why anybody sees anything here: an entity is seen through a passage that makes it one (`defines`), a
relation through the passage that states it and both its ends, and the name shown is the one in such a passage.
What a person sees is therefore what a graph made of their documents alone would show.
"""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids
from authz.rights.managers import Guarded
from copilot_site.lib.text.line_fields import LineField
from knowledge.models.bases import KnowledgeBase
from knowledge.models.documents import Document, DocumentVersion

NAME_LENGTH = 200
KIND_LENGTH = 60


class GraphEntity(Guarded):
    """Something that passages of one base name. key: its name folded (knowledge.graph.names), which makes it one whatever it is.

    document: of an entity that is a document; its visibility is that of the document, whatever names it. is_spread: whether the
    passages that were there before it have been looked through for its name.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, models.CASCADE, related_name="+")
    key = models.CharField(max_length=NAME_LENGTH)
    document = models.ForeignKey(Document, models.CASCADE, null=True, related_name="+")
    is_spread = models.BooleanField(default=False, editable=False)

    class Meta(Guarded.Meta):
        verbose_name = _("entity")
        verbose_name_plural = _("entities")
        constraints = [
            models.UniqueConstraint("key", "knowledge_base", "document", nulls_distinct=False, name="graph_entity_once")
        ]

    def __str__(self) -> str:
        return self.key

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        return Q(Exists(_filter_mentions(principal, right).filter(entity=OuterRef("pk"), defines=True)))


class GraphRelation(Guarded):
    """A relation of two entities that passages state. kind `also_called`: both are names of one thing.

    is_refused: a manager of the base removed it; the row stays, so that the next reading does not restore it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, models.CASCADE, related_name="+")
    subject = models.ForeignKey(GraphEntity, models.CASCADE, related_name="+", db_index=False)
    kind = LineField(_("kind"), max_length=KIND_LENGTH)
    object = models.ForeignKey(GraphEntity, models.CASCADE, related_name="+")
    is_refused = models.BooleanField(default=False, editable=False)

    class Meta(Guarded.Meta):
        verbose_name = _("relation")
        verbose_name_plural = _("relations")
        constraints = [models.UniqueConstraint("subject", "object", "kind", name="graph_relation_once")]

    def __str__(self) -> str:
        return f"{self.subject_id} {self.kind} {self.object_id}"

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        mine = _filter_mentions(principal, right)
        ends = [Q(Exists(mine.filter(entity=OuterRef(end), defines=True))) for end in ("subject_id", "object_id")]
        return Q(Exists(mine.filter(relation=OuterRef("pk")))) & ends[0] & ends[1]


class GraphMention(Guarded):
    """A passage that names an entity, or states a relation: exactly one of both.

    kind: what the passage says it is; "" where it says none, and of a relation. said: the name as it stands there. defines: whether
    the passage by itself makes it an entity; where it only has the name of something that another one defines, it does not.
    """

    id = models.BigAutoField(primary_key=True)
    entity = models.ForeignKey(GraphEntity, models.CASCADE, null=True, related_name="+", db_index=False)
    relation = models.ForeignKey(GraphRelation, models.CASCADE, null=True, related_name="+")
    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    version = models.ForeignKey(DocumentVersion, models.CASCADE, related_name="+")
    chunk_id = models.UUIDField()
    kind = LineField(max_length=KIND_LENGTH, blank=True)
    said = LineField(max_length=NAME_LENGTH, blank=True)
    defines = models.BooleanField(default=True)

    class Meta(Guarded.Meta):
        constraints = [
            models.UniqueConstraint(
                "entity", "chunk_id", condition=Q(relation=None), name="graph_entity_once_in_passage"
            ),
            models.UniqueConstraint(
                "relation", "chunk_id", condition=Q(entity=None), name="graph_relation_once_in_passage"
            ),
            models.CheckConstraint(
                condition=Q(entity=None) ^ Q(relation=None), name="graph_mention_of_an_entity_or_a_relation"
            ),
        ]
        indexes = [models.Index("chunk_id", name="graph_mentions_of_passage")]

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        held = select_folder_ids(principal, right)
        return Q(document__access_id__in=held, version_id=F("document__current_version_id"))


class GraphMerge(models.Model):
    """Two entities merged by a manager of the base. Deleting the row undoes it: nothing else was changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, models.CASCADE, related_name="+")
    one = models.ForeignKey(GraphEntity, models.CASCADE, related_name="+")
    other = models.ForeignKey(GraphEntity, models.CASCADE, related_name="+")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("one", "other", name="graph_merge_once")]
        ordering = ("-made_at",)

    def __str__(self) -> str:
        return f"{self.one_id} = {self.other_id}"


class GraphReading(models.Model):
    """Record how far the graph is with one document. version: the one it was made from. problem: why it could not be read, "" for none."""

    document = models.OneToOneField(Document, models.CASCADE, primary_key=True, related_name="+")
    version = models.ForeignKey(DocumentVersion, models.CASCADE, related_name="+")
    problem = models.CharField(max_length=200, blank=True)
    read_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return str(self.document_id)


def _filter_mentions(principal: Principal, right: Right) -> Any:
    return GraphMention.unscoped.filter(GraphMention.reach(principal, right))
