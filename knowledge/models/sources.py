"""Sources of documents: where a folder's documents come from, the state of each, and the runs that update them."""

import uuid

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from authz.rights.managers import Guarded
from copilot_site.lib.text.bilingual import in_language
from copilot_site.lib.text.line_fields import LineField
from knowledge.models.documents import Document
from knowledge.models.folders import Folder

MAX_PROBLEMS = 100  # of one run that are kept with their reasons; all are counted


class Every(models.IntegerChoices):
    """The interval at which a source is read, in minutes."""

    NEVER = 0, _("only by hand")
    QUARTER_HOUR = 15, _("every 15 minutes")
    HOUR = 60, _("every hour")
    SIX_HOURS = 360, _("every 6 hours")
    DAY = 1_440, _("every day")
    WEEK = 10_080, _("every week")


class Source(Guarded):
    """A system outside that a folder is kept in step with.

    kind: the name of its connector; settings: what that connector asks for, without secrets. encrypted_secret: sealed for the
    address that the settings lead to. state: what the connector wants to know next time, such as the commit it has read.
    at, quiet_from, quiet_until: times of the day in the product's time zone. next_at: when beat has it read next.
    """

    RIGHTS_AT = "folder_id"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = LineField(_("name"), max_length=100, unique=True)
    folder = models.ForeignKey(Folder, models.CASCADE, related_name="+", verbose_name=_("folder"))
    kind = models.CharField(_("kind"), max_length=30)
    settings = models.JSONField(default=dict, editable=False)
    encrypted_secret = models.TextField(default="", editable=False)
    encrypted_hook_secret = models.TextField(default="", editable=False)
    is_active = models.BooleanField(_("is kept fresh"), default=True)
    every_minutes = models.PositiveIntegerField(_("how often"), choices=Every.choices, default=Every.DAY)
    at = models.TimeField(
        _("at"), null=True, blank=True, help_text=_("For a source that is read every day or week: at this time.")
    )
    quiet_from = models.TimeField(_("quiet from"), null=True, blank=True)
    quiet_until = models.TimeField(
        _("quiet until"), null=True, blank=True, help_text=_("No run starts during this time. Empty: any time.")
    )
    most_per_minute = models.PositiveIntegerField(
        _("most requests a minute"),
        default=0,
        validators=[MaxValueValidator(60_000)],
        help_text=_("Keeps a run from slowing down the other side. 0: no limit."),
    )
    grace_hours = models.PositiveIntegerField(
        _("hours of grace"),
        default=24,
        validators=[MaxValueValidator(24 * 365)],
        help_text=_("What is removed at the source stays in answers for this time. 0: until the run that notices."),
    )
    takes_rights = models.BooleanField(
        _("copy rights from the source"),
        default=False,
        help_text=_("People who can see something there can view it here, as far as the source says."),
    )
    state = models.JSONField(default=dict, editable=False)
    next_at = models.DateTimeField(_("next run"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta(Guarded.Meta):
        verbose_name = _("source of documents")
        verbose_name_plural = _("sources of documents")
        ordering = ("name",)
        permissions = [("connect_source", "Can set where sources of documents are and with which secret")]

    def __str__(self) -> str:
        return in_language(self.name)


class SourceItem(Guarded):
    """A page or file of a source, and its document here.

    original_id: its stable id in the source. version: by which the connector sees that it changed.
    memory: what the connector wants to know of it next time. sections: [[heading, anchor], …], where headings can be linked to.
    read_at: when it was last read; checked_at: when it was last seen to be as it was read. gone_at: since when it is missed;
    failure: why it could not be read, as a sentence. is_left_out: its document was deleted for good here, and is not brought again.
    """

    RIGHTS_AT = "document__access_id"

    source = models.ForeignKey(Source, models.CASCADE, related_name="+")
    original_id = models.CharField(max_length=1_000)
    document = models.OneToOneField(Document, models.SET_NULL, null=True, related_name="+")
    path = models.CharField(_("path"), max_length=1_000)
    title = LineField(_("title"), max_length=300, blank=True)
    version = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    url = models.CharField(_("address"), max_length=2_048, blank=True)
    author = LineField(_("author"), max_length=200, blank=True)
    modified_at = models.DateTimeField(_("changed there"), null=True)
    sections = models.JSONField(default=list)
    memory = models.JSONField(default=dict)
    read_at = models.DateTimeField(_("read"), null=True)
    checked_at = models.DateTimeField(null=True)
    gone_at = models.DateTimeField(_("gone since"), null=True)
    failure = models.CharField(_("why it failed"), max_length=500, blank=True)
    is_left_out = models.BooleanField(default=False, editable=False)

    class Meta(Guarded.Meta):
        verbose_name = _("page of a source")
        verbose_name_plural = _("pages of sources")
        ordering = ("path",)
        constraints = [models.UniqueConstraint("source", "original_id", name="item_once_in_source")]

    def __str__(self) -> str:
        return self.title or self.path


class SourceRunState(models.TextChoices):
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    PARTIAL = "partial", _("done in part")
    FAILED = "failed", _("failed")


class Trigger(models.TextChoices):
    HAND = "hand", _("by hand")
    SCHEDULE = "schedule", _("by schedule")
    WEBHOOK = "webhook", _("by webhook")


class SourceRun(models.Model):
    """One reading of a source. While it runs it holds a lease: a source has one running run, and a run that lost it writes nothing more.
    lease_holder: the process that runs it (`find_process_name`).

    seen: pages in the source. problem: why the run as a whole ended early; problems: [{"what": path, "why": sentence}, …].
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="runs")
    trigger = models.CharField(_("started by"), max_length=10, choices=Trigger.choices)
    state = models.CharField(_("state"), max_length=10, choices=SourceRunState.choices, default=SourceRunState.RUNNING)
    lease_expires_at = models.DateTimeField(null=True)
    lease_holder = models.CharField(max_length=120, default="", db_default="", editable=False)
    started_at = models.DateTimeField(_("from"), auto_now_add=True)
    finished_at = models.DateTimeField(_("until"), null=True)
    seen = models.PositiveIntegerField(_("found"), default=0)
    added = models.PositiveIntegerField(_("new"), default=0)
    changed = models.PositiveIntegerField(_("changed"), default=0)
    moved = models.PositiveIntegerField(_("moved"), default=0)
    unchanged = models.PositiveIntegerField(_("as before"), default=0)
    withdrawn = models.PositiveIntegerField(_("withdrawn"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)
    problem = models.CharField(_("reason"), max_length=500, blank=True)
    problems = models.JSONField(default=list)

    class Meta:
        verbose_name = _("run of a source")
        verbose_name_plural = _("runs of sources")
        ordering = ("-started_at",)
        constraints = [
            models.UniqueConstraint(
                "source", condition=Q(state=SourceRunState.RUNNING), name="one_running_run_of_a_source"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.started_at:%Y-%m-%d %H:%M}"
