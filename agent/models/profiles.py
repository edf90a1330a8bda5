"""Agent profiles: the assistants that people choose from."""

import uuid
from collections.abc import Callable

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agent.models.language_models import LanguageModel
from agent.profiles.settings import Icon, Tone
from copilot_site.lib.text.bilingual import in_language
from copilot_site.lib.text.line_fields import LineField

_checks: list[Callable[[list[str]], None]] = []


def add_tool_check(check: Callable[[list[str]], None]) -> None:
    """Register a check of tool names, which raises ValidationError for unknown ones; models do not know the tools."""
    _checks.append(check)


def check_tools(names: list[str]) -> None:
    """Raise ValidationError for the name of an unknown tool, ours or a service's."""
    for check in _checks:
        check(names)


class AgentProfile(models.Model):
    """An assistant that people can choose: its tools, its tone, and its users. Empty limits use the product's defaults.

    questions_en, questions_zh: suggested questions, one per line. groups: may use it, with the units below them; none:
    everybody. `agent.profile_choice.usable_profiles` alone decides who may use it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = LineField(_("name"), max_length=80, unique=True)
    description = LineField(_("description"), max_length=300, blank=True)
    icon = models.CharField(_("icon"), max_length=10, choices=Icon.choices, default=Icon.CHAT)
    tone = models.CharField(
        _("tone"),
        max_length=10,
        choices=Tone.choices,
        blank=True,
        help_text=_("How a language model writes. Quotations from documents stay as they are."),
    )
    questions_en = models.TextField(
        _("opening questions, English"), blank=True, max_length=2_000, help_text=_("One per line, at most six.")
    )
    questions_zh = models.TextField(
        _("opening questions, Chinese"), blank=True, max_length=2_000, help_text=_("One per line, at most six.")
    )
    groups = models.ManyToManyField(
        "auth.Group",
        blank=True,
        related_name="+",
        verbose_name=_("who can use it"),
        help_text=_("People of these groups and units, and of the units below. Empty: everyone."),
    )
    allowed_tools = ArrayField(
        models.CharField(max_length=60),
        verbose_name=_("allowed tools"),
        null=True,
        blank=True,
        validators=[check_tools],
        help_text=_("Names separated by commas. Empty: the default tools."),
    )
    language_model = models.ForeignKey(
        LanguageModel, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("language model")
    )
    judge = models.ForeignKey(
        LanguageModel,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("judge of sentences"),
        help_text=_("The model that compares sentences with their sources; empty: the one that writes."),
    )
    is_strict = models.BooleanField(
        _("shows checked sentences only"),
        default=False,
        help_text=_("Otherwise sentences that could not be checked against their source are shown with a mark."),
    )
    asks_before_web = models.BooleanField(
        _("ask before a question leaves"),
        default=False,
        help_text=_("People see the exact words and allow each web search. The service can require this everywhere."),
    )
    knowledge_bases = models.ManyToManyField(
        "knowledge.KnowledgeBase",
        blank=True,
        related_name="+",
        verbose_name=_("knowledge bases"),
        help_text=_("Limits where it searches; it never shows anyone more. Empty: everything the person can read."),
    )
    uses_tools = models.BooleanField(
        _("chooses tools itself"), default=True, help_text=_("Otherwise it searches once, then writes.")
    )
    most_steps = models.PositiveSmallIntegerField(
        _("most steps"), null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(50)]
    )
    most_tool_calls = models.PositiveSmallIntegerField(
        _("most tool calls"), null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    most_tokens = models.PositiveIntegerField(
        _("most tokens"), null=True, blank=True, validators=[MinValueValidator(1_000)]
    )
    most_seconds = models.PositiveSmallIntegerField(
        _("most seconds"), null=True, blank=True, validators=[MinValueValidator(5), MaxValueValidator(900)]
    )
    most_cost = models.DecimalField(_("most cost"), max_digits=12, decimal_places=4, null=True, blank=True)
    is_default = models.BooleanField(_("default"), default=False)

    class Meta:
        verbose_name = _("assistant")
        verbose_name_plural = _("assistants")
        ordering = ("name",)
        constraints = [models.UniqueConstraint("is_default", condition=Q(is_default=True), name="one_default_profile")]

    def __str__(self) -> str:
        return in_language(self.name)
