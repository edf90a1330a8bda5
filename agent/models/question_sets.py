"""Models of evaluation: sets of questions, each with the person it is asked as, and runs over them.

No answer's text is stored.
"""

import uuid
from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agent.events import StopReason
from agent.models.profiles import AgentProfile
from copilot_site.lib.text.line_fields import LineField

CLAIMED_FOR = timedelta(minutes=10)  # longest claim on a question; longer than any run's time budget


class QuestionSet(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = LineField(_("name"), max_length=80, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("evaluation set")
        verbose_name_plural = _("evaluation sets")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Case(models.Model):
    """One question. person: the account it is asked as; deleting the account deletes the case.

    is_answerable: whether an answer is expected; None: unspecified. answers: the answer must contain one of these;
    empty: any text. documents: the answer must cite one of these file names; empty: any. forbidden: words that this
    person must never be told. message: the answer that the question was taken from; deleting it deletes the case.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="cases")
    question = models.TextField(_("question"))
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("asked as"))
    is_answerable = models.BooleanField(_("has an answer"), null=True)
    answers = ArrayField(models.TextField(), default=list)
    documents = ArrayField(models.TextField(), default=list)
    forbidden = ArrayField(models.TextField(), default=list)
    message = models.ForeignKey("agent.Message", models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return str(self.pk)  # never the question: names of rows go into the audit log


class SetRun(models.Model):
    """One run over a set, asking every question once. started_by: the account that impersonates the others.

    profile: None for each person's default. queued_at: when its last task was queued. stopped_at: stopped by somebody,
    or because the right to oversee ended. ended_at: nothing is left.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question_set = models.ForeignKey(QuestionSet, models.CASCADE, related_name="runs")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    profile = models.ForeignKey(AgentProfile, models.SET_NULL, null=True, related_name="+")
    language = models.CharField(max_length=10, default="en")
    started_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(default=timezone.now)
    stopped_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-started_at",)

    def __str__(self) -> str:
        return str(self.pk)


class CaseFault(models.TextChoices):
    NOT_ANSWERED = "not_answered", _("not answered")
    ANSWERED = "answered", _("answered, though there is no answer")
    OTHER_WORDS = "other_words", _("does not say it")
    OTHER_DOCUMENT = "other_document", _("cites another document")
    FAILED = "failed", _("failed")


class CaseResult(models.Model):
    """The result of one question in a run. question: its words when the run began, even if the case has changed since.

    claimed_at: a worker has it; done_at: finished. leaks: number of things told that this person must not be told.
    """

    run = models.ForeignKey(SetRun, models.CASCADE, related_name="results")
    case = models.ForeignKey(Case, models.CASCADE, related_name="results")
    question = models.TextField()
    claimed_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    stop_reason = models.CharField(max_length=20, choices=StopReason.choices, blank=True)
    fault = models.CharField(max_length=20, choices=CaseFault.choices, blank=True)
    leaks = models.PositiveSmallIntegerField(default=0)
    cost = models.DecimalField(max_digits=16, decimal_places=6, default=Decimal(0))
    duration_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("case__created_at", "case_id")
        constraints = [models.UniqueConstraint("run", "case", name="case_once_a_run")]
