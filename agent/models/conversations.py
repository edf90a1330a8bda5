"""Models of conversations: sessions, messages, and the sources of answers."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from agent.events import StopReason
from agent.models.profiles import AgentProfile
from copilot_site.lib.text.line_fields import LineField


class Session(models.Model):
    """One conversation of one person.

    label: chosen by the person. is_archived: hidden from the rail. within: the folder of the restricted token it was
    begun with; None for no restriction. profile: the last assistant, offered again by the page; scope: the last scope
    (`agent.profiles.kept_scope`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    title = LineField(_("title"), max_length=200, blank=True)
    label = LineField(_("label"), max_length=40, blank=True)
    is_pinned = models.BooleanField(_("pinned"), default=False)
    is_archived = models.BooleanField(_("archived"), default=False)
    within = models.UUIDField(null=True, editable=False)
    profile = models.ForeignKey(AgentProfile, models.SET_NULL, null=True, editable=False, related_name="+")
    scope = models.JSONField(default=dict, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ("-updated_at",)

    def __str__(self) -> str:
        return str(self.pk)  # never the title, which is a question: names of rows go into the audit log


class MessageRole(models.TextChoices):
    USER = "user", _("question")
    ASSISTANT = "assistant", _("answer")


class Rating(models.TextChoices):
    HELPFUL = "helpful", _("helpful")
    NOT_HELPFUL = "not_helpful", _("not helpful")


class AnswerFault(models.TextChoices):
    WRONG = "wrong", _("wrong")
    OUTDATED = "outdated", _("outdated")
    INCOMPLETE = "incomplete", _("incomplete")
    NOT_TO_BE_SHOWN = "not_to_be_shown", _("should not be shown")


class Message(models.Model):
    """A question or an answer.

    parent: of an answer its question; of a question the answer that it follows, None where it begins the conversation
    (`agent.conversations.branches`). An answer stores its sentences with the numbers they cite, so that each can be
    shown or masked.

    sentences: [{"text": str, "citations": [number, …]}], empty for questions and for refusals. state: the run's state
    as the specification has it, for an answer; without text of documents. notice: what was done differently from what
    the person would expect, in their language. prompts: {name: hash} of the prompts used. attachments: of a question,
    the ids of its files. rating, fault, comment: of the asker. opened_lower: whether the asker opened a
    source below the first. is_shown_to_keepers: whether those who manage a cited
    document may see their question and these. asked_key: of a question from a program that sends all earlier ones
    again: a key of all of them in order (`agent.openai_api`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="messages")
    parent = models.ForeignKey("self", models.CASCADE, null=True, editable=False, related_name="+")
    role = models.CharField(max_length=10, choices=MessageRole.choices)
    content = models.TextField(blank=True)
    sentences = models.JSONField(default=list)
    stop_reason = models.CharField(max_length=20, choices=StopReason.choices, blank=True)
    is_complete = models.BooleanField(default=True)
    provider = models.CharField(max_length=80, blank=True)  # as long as a language model's name
    state = models.JSONField(default=dict)
    notice = models.TextField(blank=True)
    prompts = models.JSONField(default=dict)
    duration_ms = models.PositiveIntegerField(null=True)
    rating = models.CharField(_("rating"), max_length=20, choices=Rating.choices, blank=True)
    fault = models.CharField(_("what is wrong"), max_length=20, choices=AnswerFault.choices, blank=True)
    comment = models.TextField(_("comment"), blank=True)
    is_shown_to_keepers = models.BooleanField(default=False, editable=False)
    opened_lower = models.BooleanField(default=False, editable=False)
    attachments = models.JSONField(default=list, editable=False)
    asked_key = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ("created_at", "id")
        indexes = [  # for the reaper, every ten seconds; for the list of answers
            models.Index(fields=["created_at"], condition=models.Q(is_complete=False), name="message_open_idx"),
            models.Index(
                fields=["-created_at", "-id"], condition=models.Q(role="assistant"), name="message_answers_idx"
            ),
            models.Index(
                fields=["-created_at", "-id"], condition=models.Q(is_shown_to_keepers=True), name="message_kept_idx"
            ),
            models.Index(fields=["asked_key"], condition=~models.Q(asked_key=""), name="message_asked_idx"),
        ]


class Share(models.Model):
    """A conversation shared with others in the company, up to an answer; each reader sees it under their own rights."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="shares")
    last = models.ForeignKey(Message, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("shared conversation")
        verbose_name_plural = _("shared conversations")
        constraints = [models.UniqueConstraint("session", "last", name="share_once")]


class QueryCitation(models.Model):
    """A cited query result. source: name of the data source, whose rights of today decide.

    result: the query with its table and meaning as `business.results.shown_query.QueryShown`; null where the source
    keeps none. perm_snapshot_id: of the rights that it ran under, for the audit.
    """

    message = models.ForeignKey(Message, models.CASCADE, related_name="queries")
    number = models.PositiveSmallIntegerField()
    evidence_id = models.CharField(max_length=200)
    source = LineField(max_length=100)
    title = LineField(max_length=300, blank=True)
    text_hash = models.CharField(max_length=64)
    perm_snapshot_id = models.CharField(max_length=100, blank=True)
    result = models.JSONField(null=True)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint("message", "number", name="query_citation_number_once")]


class WebCitation(models.Model):
    """A cited web page. snippet: the cited words, since the page may have changed."""

    message = models.ForeignKey(Message, models.CASCADE, related_name="pages")
    number = models.PositiveSmallIntegerField()
    evidence_id = models.CharField(max_length=200)
    url = models.TextField()
    title = LineField(max_length=300)
    snippet = models.TextField()
    read_at = models.DateTimeField()
    text_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint("message", "number", name="web_citation_number_once")]


class Citation(models.Model):
    """A cited passage: its place, never its text, which is read again under today's rights.

    start, end: the cited span, as character offsets into the passage.
    """

    message = models.ForeignKey(Message, models.CASCADE, related_name="citations")
    number = models.PositiveSmallIntegerField()
    evidence_id = models.CharField(max_length=200)
    knowledge_base_id = models.UUIDField()
    document_id = models.UUIDField()
    version_id = models.UUIDField()
    chunk_id = models.UUIDField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    score = models.FloatField()
    text_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint("message", "number", name="citation_number_once")]
