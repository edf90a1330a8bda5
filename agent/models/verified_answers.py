"""Verified answers: a question, its answer, and the sources of the answer."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from agent.models.conversations import Message
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids
from authz.rights.managers import GuardedManager
from business.sources.grants import list_wholly_askable_sources, list_wholly_managed_sources
from copilot_site.lib.text.line_fields import LineField
from knowledge.models import Document


class Flag(models.TextChoices):
    """Why an answer waits for its keeper's review."""

    CHANGED = "changed", _("a source has changed")
    GONE = "gone", _("a source no longer exists")
    LAYER = "layer", _("the tables of a data source have changed their meaning")


class VerifiedAnswer(models.Model):
    """A question with its verified answer: a text in a folder, or a statement run again for each question.

    question_key: of its words, for lookup. layer_sha256: hash of the layer's definition of the statement's tables when
    it was verified, "" for unknown. flag: why it must be reviewed; until then it is not used.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    folder = models.ForeignKey(
        "knowledge.Folder", models.CASCADE, null=True, related_name="+", verbose_name=_("folder")
    )
    source = models.ForeignKey(
        "business.DataSource", models.CASCADE, null=True, related_name="+", verbose_name=_("data source")
    )
    question = models.TextField(_("question"))
    question_key = models.CharField(max_length=64, editable=False)
    text = models.TextField(_("answer"), blank=True)
    sql = models.TextField(_("query"), blank=True)
    layer_sha256 = models.CharField(max_length=64, blank=True, editable=False)
    expires_on = models.DateField(_("valid until"), null=True, blank=True)
    verified_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("verified by")
    )
    verified_at = models.DateTimeField(_("verified"), default=timezone.now)
    flag = models.CharField(_("to be reviewed"), max_length=10, choices=Flag.choices, blank=True, editable=False)

    unscoped = models.Manager()
    objects = GuardedManager["VerifiedAnswer"]()

    class Meta:
        verbose_name = _("verified answer")
        verbose_name_plural = _("verified answers")
        ordering = ("-verified_at", "id")
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"
        constraints = [
            models.CheckConstraint(
                condition=Q(folder__isnull=False, source=None, sql="") & ~Q(text="")
                | Q(folder=None, source__isnull=False, text="") & ~Q(sql=""),
                name="verified_text_or_statement",
            ),
            models.UniqueConstraint(
                fields=["folder", "source", "question_key"], nulls_distinct=False, name="verified_answer_once"
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)  # never the question: only readers of its sources may see it

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        """Return a filter for answers that this person holds the right to.

        Texts in readable folders with this right, all of whose sources they may read now; statements over data sources
        that they manage. Answers whose sources are gone are visible to keepers only, who could read these before.
        """
        sources = VerifiedSource.objects.filter(answer=OuterRef("pk"))
        seen = Q(document__in=Document.objects.visible_to(principal).values("pk"))
        seen |= Q(document=None, data_source__in=list_wholly_askable_sources(principal).values("pk"))
        readable = select_folder_ids(principal, Right.VIEW)
        if right == Right.MANAGE:
            seen |= Q(document__trashed_at__isnull=False, document__trashed_from_id__in=readable)
            seen |= Q(document=None, data_source=None, folder_id__in=readable)
        texts = Q(folder_id__in=readable) & ~Q(Exists(sources.exclude(seen)))
        if right != Right.VIEW:
            texts &= Q(folder_id__in=select_folder_ids(principal, right))
        return texts | Q(source__in=list_wholly_managed_sources(principal).values("pk"))


class VerifiedWording(models.Model):
    """A wording of the question: the question itself, or another. key: of its normalised words.

    vector: in the embedder's space of sentences; None until it is embedded.
    """

    answer = models.ForeignKey(VerifiedAnswer, models.CASCADE, related_name="wordings")
    text = models.TextField()
    key = models.CharField(max_length=64, db_index=True)
    space = models.CharField(max_length=200, blank=True)
    vector = HalfVectorField(null=True)

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint("answer", "key", name="verified_wording_once")]


class VerifiedSource(models.Model):
    """A source of a verified text: a passage, a whole document, or a data source.

    folder: of the deleted document, whose readers may know of it; None while it exists, and where it had rights of its
    own. chunk_id: None for the whole version; start, end: the cited span of the passage. layer_sha256: of a data source,
    as its answer has it.
    """

    answer = models.ForeignKey(VerifiedAnswer, models.CASCADE, related_name="sources")
    document = models.ForeignKey("knowledge.Document", models.SET_NULL, null=True, related_name="+")
    data_source = models.ForeignKey("business.DataSource", models.SET_NULL, null=True, related_name="+")
    folder = models.ForeignKey("knowledge.Folder", models.SET_NULL, null=True, related_name="+")
    version_id = models.UUIDField(null=True)
    chunk_id = models.UUIDField(null=True)
    start = models.PositiveIntegerField(default=0)
    end = models.PositiveIntegerField(default=0)
    layer_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.CheckConstraint(condition=Q(document=None) | Q(data_source=None), name="verified_source_of_one_kind")
        ]


class VerifiedCitation(models.Model):
    """A cited verified answer; its text is read again, under today's rights. by, verified_on: as of then."""

    message = models.ForeignKey(Message, models.CASCADE, related_name="verified")
    number = models.PositiveSmallIntegerField()
    evidence_id = models.CharField(max_length=200)
    answer = models.ForeignKey(VerifiedAnswer, models.SET_NULL, null=True, related_name="+")
    by = LineField(max_length=200, blank=True)
    verified_on = models.DateField()
    text_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint("message", "number", name="verified_citation_number_once")]


def build_validity_filter() -> Q:
    """Return a filter for usable answers: not flagged for review, and not expired."""
    return Q(flag="") & (Q(expires_on=None) | Q(expires_on__gte=timezone.localdate()))
