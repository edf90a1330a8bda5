import uuid
from typing import Any

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.managers import Guarded
from copilot_site.lib.text.line_fields import LineField
from knowledge.losses import LostParts, list_unread_parts
from knowledge.models.bases import ATTACHMENTS, KnowledgeBase, Recognition
from knowledge.models.folders import Folder
from knowledge.parsers.losses import PICTURES


class ParseStatus(models.TextChoices):
    """The state of a version, in the specification's four words."""

    PENDING = "pending", _("waiting")
    PROCESSING = "processing", _("in progress")
    COMPLETED = "completed", _("ready")
    FAILED = "failed", _("failed")


UNFINISHED = (ParseStatus.PENDING, ParseStatus.PROCESSING, ParseStatus.FAILED)


class StageName(models.TextChoices):
    PARSE = "parse", _("read")
    CHUNK = "chunk", _("split")
    EMBED = "embed", _("index")
    PUBLISH = "publish", _("publish")


class StageStatus(models.TextChoices):
    PENDING = "pending", _("waiting")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


def format_failure_reason(code: str, params: dict[str, str | int | float]) -> str:
    """Return the sentence for a stored failure, in the reader's language."""
    from knowledge.failure_reasons import REASONS

    return gettext(REASONS[code]) % params


def stored_name(version: "DocumentVersion", filename: str) -> str:
    """Return the storage path of the original: ids only, a person's file name is never a path."""
    return f"originals/{version.document.knowledge_base_id}/{version.pk}"


def build_pages_path(version_id: uuid.UUID) -> str:
    """Return the storage folder of what is made from a version's pages: images and recognised text."""
    return f"pages/{version_id}"


class Document(Guarded):
    """A named thing in a folder, with versions. `current_version` is the one that answers.

    access: the node that its rights are read from: its folder, or a node of its own below it when it has exceptions.
    owner: the person responsible for it; None for whoever added it. review_on: the day of its next review.
    superseded_by: the document that holds instead of this one. trashed_from: the access node of before it went to the trash,
    where no rights reach it; None outside of the trash.
    metadata: values of the base's fields (`DocumentField`), by their names; dates as ISO 8601.
    withdrawn_at: since when no version answers, because it is gone where it came from; a new version, or its return, ends that.
    """

    RIGHTS_AT = "access_id"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, models.CASCADE, related_name="+")
    folder = models.ForeignKey(Folder, models.CASCADE, related_name="+", verbose_name=_("folder"))
    access = models.ForeignKey(Folder, models.RESTRICT, related_name="+", editable=False)
    filename = LineField(_("file name"), max_length=255)
    title = LineField(_("title"), max_length=300)
    language = models.CharField(_("language"), max_length=8, blank=True)
    metadata = models.JSONField(_("fields"), default=dict, blank=True, editable=False)
    current_version = models.ForeignKey("DocumentVersion", models.SET_NULL, null=True, blank=True, related_name="+")
    withdrawn_at = models.DateTimeField(_("withdrawn"), null=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("owner")
    )
    review_on = models.DateField(_("to be reviewed by"), null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("superseded by")
    )
    trashed_at = models.DateTimeField(null=True, editable=False)
    trashed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", editable=False
    )
    trashed_from = models.ForeignKey(Folder, models.SET_NULL, null=True, related_name="+", editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta(Guarded.Meta):
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ("filename",)
        constraints = [models.UniqueConstraint("access", "filename", name="file_name_once_in_place")]
        indexes = [
            models.Index("knowledge_base", "folder", name="document_place"),
            models.Index("knowledge_base", name="document_beside", condition=~Q(access=F("folder"))),
            GinIndex(fields=["metadata"], opclasses=["jsonb_path_ops"], name="document_metadata"),
            models.Index("trashed_from", name="document_in_trash", condition=Q(trashed_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return str(self.pk) if self.is_attached else self.title  # names go into the audit log

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self.access_id:
            self.access_id = self.folder_id
        super().save(*args, **kwargs)

    @property
    def is_attached(self) -> bool:
        """Tell whether it is a conversation's file, whose name only its own person may see."""
        return self.knowledge_base_id == ATTACHMENTS


class DocumentVersion(Guarded):
    """One stored file of a document and how far its ingestion is.

    parser_version: which PARSER_VERSION read it, 0 before there were any. hidden_apart, hidden_indexed: how many blocks that people
    do not see were kept apart, and how many answer because the base wanted it.
    bare_pictures, scanned_pages: how many pictures a base reads that reads where there is no text, and how many more one that reads
    all; recognised: how many were read. losses: how many parts of each kind were not read, by the keys of `parsers.losses.LOSSES`.
    stated: what the file says of itself (front matter), name → value.
    cut_as: the sizes of passages and the language by which its base had it cut (`KnowledgeBase.cut_as`); "" for those of the system.
    The lease says which worker holds the version: every write names its `lease` and is refused after a takeover.
    lease_holder: the process that took it (`find_process_name`).
    """

    RIGHTS_AT = "document__access_id"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(_("version"))
    file = models.FileField(_("file"), upload_to=stored_name, max_length=200)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField(_("size"))
    mime_type = models.CharField(_("type"), max_length=100, blank=True)
    page_count = models.PositiveIntegerField(_("pages"), null=True)
    parser_version = models.PositiveSmallIntegerField(default=0, editable=False)
    hidden_apart = models.PositiveIntegerField(default=0, editable=False)
    hidden_indexed = models.PositiveIntegerField(default=0, editable=False)
    bare_pictures = models.PositiveIntegerField(default=0, editable=False)
    scanned_pages = models.PositiveIntegerField(default=0, editable=False)
    recognised = models.PositiveIntegerField(default=0, editable=False)
    losses = models.JSONField(default=dict, blank=True, editable=False)
    stated = models.JSONField(default=dict, blank=True, editable=False)
    cut_as = models.CharField(max_length=30, default="", blank=True, editable=False)
    parse_status = models.CharField(
        _("status"), max_length=12, choices=ParseStatus.choices, default=ParseStatus.PENDING, db_index=True
    )
    failure = models.JSONField(_("failure"), null=True, editable=False)
    queue = models.CharField(max_length=20, default="interactive")
    queued_at = models.DateTimeField(null=True, editable=False)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    lease = models.UUIDField(null=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, editable=False)
    lease_holder = models.CharField(max_length=120, default="", db_default="", editable=False)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("uploaded"), auto_now_add=True)
    published_at = models.DateTimeField(_("published"), null=True)
    approved_at = models.DateTimeField(_("approved"), null=True, editable=False)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", editable=False
    )

    class Meta(Guarded.Meta):
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ("-number",)
        constraints = [models.UniqueConstraint("document", "number", name="version_number_once")]
        indexes = [  # what reapers, `/metrics` and the page of ingestion look for; of a whole library few
            models.Index("parse_status", name="version_unfinished_idx", condition=Q(parse_status__in=UNFINISHED))
        ]

    def __str__(self) -> str:
        return f"{self.document} v{self.number}"

    @property
    def waits_for_approval(self) -> bool:
        """Tell whether its base requires approval, and this version has none."""
        return self.approved_at is None and self.document.knowledge_base.is_approval_wanted

    @property
    def failure_reason(self) -> str:
        """Return why ingestion failed, in the reader's language; empty when it did not."""
        return format_failure_reason(self.failure["code"], self.failure["params"]) if self.failure else ""

    @property
    def unread_pictures(self) -> int:
        """Return how many wanted pictures are unread: they failed, or the base's setting was another."""
        if not self.bare_pictures + self.scanned_pages:  # most documents: nothing to ask their base about
            return 0
        wanted = {Recognition.BARE: self.bare_pictures, Recognition.ALL: self.bare_pictures + self.scanned_pages}
        return max(0, wanted.get(Recognition(self.document.knowledge_base.recognition), 0) - self.recognised)

    @property
    def not_read(self) -> list[LostParts]:
        return list_unread_parts({**self.losses, PICTURES: self.unread_pictures})

    @property
    def parsed_name(self) -> str:
        return f"parsed/{self.document.knowledge_base_id}/{self.pk}.json"

    def page_name(self, name: str) -> str:
        """Return the storage path of something of this name made from a page."""
        return f"{build_pages_path(self.pk)}/{name}"


class Stage(models.Model):
    """One of the four steps of a version's ingestion, for the page that shows them and the worker that resumes them."""

    version = models.ForeignKey(DocumentVersion, models.CASCADE, related_name="stages")
    name = models.CharField(max_length=8, choices=StageName.choices)
    position = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=8, choices=StageStatus.choices, default=StageStatus.PENDING)
    items_done = models.PositiveIntegerField(default=0)
    items_total = models.PositiveIntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint("version", "name", name="stage_once_in_version")]


class FieldKind(models.TextChoices):
    """The type of a field of documents. Numbers and dates can be compared."""

    TEXT = "text", _("text")
    NUMBER = "number", _("number")
    DATE = "date", _("date")
    CHOICE = "choice", _("one of a list")


class DocumentField(Guarded):
    """A metadata field that a base defines for its documents. Its values are in `Document.metadata`, under its name.

    choices: of a field of that kind. Whoever sees the base sees what its fields are called.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, models.CASCADE, related_name="+")
    name = LineField(_("name"), max_length=60)
    kind = models.CharField(_("kind"), max_length=6, choices=FieldKind.choices, default=FieldKind.TEXT)
    choices = models.JSONField(default=list)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta(Guarded.Meta):
        verbose_name = _("field of documents")
        verbose_name_plural = _("fields of documents")
        ordering = ("position", "name")
        constraints = [models.UniqueConstraint("knowledge_base", "name", name="field_once_in_base")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        bases = KnowledgeBase.objects.reachable_by(principal, right)
        return Q(knowledge_base_id__in=bases.values("pk"))
