import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from authz.permissions import Right, list_extra_permissions
from authz.principal import Principal
from authz.rights.folders import select_base_ids, select_surrounding_base_ids
from authz.rights.managers import Guarded
from copilot_site.lib.text.bilingual import in_language
from copilot_site.lib.text.line_fields import LineField

ATTACHMENTS = uuid.UUID("5c1f0a52-7a8e-4d0b-9c55-3f6d2b9e41aa")  # the base of the files of all conversations


class Recognition(models.TextChoices):
    """The pictures to read (OCR). A PDF's page is one when pictures cover most of it, or when its text says nothing."""

    OFF = "off", _("none")
    BARE = "bare", _("only where there is no text")
    ALL = "all", _("all, also pages that have text")


class GraphMode(models.TextChoices):
    """Choose whether a base has a knowledge graph."""

    OFF = "off", _("none")
    CERTAIN = "certain", _("what is certain: references, terms, codes, people and tables")


class Language(models.TextChoices):
    """The languages that `knowledge.text.language` tells from each other."""

    ENGLISH = "en", _("English")
    CHINESE = "zh", _("Chinese")
    JAPANESE = "ja", _("Japanese")
    KOREAN = "ko", _("Korean")


class KnowledgeBase(Guarded):
    """A body of documents with one folder tree. Visible to people who may see it or anything in it.

    chunk_tokens, chunk_max_tokens: what a passage of its documents should have, and has at most, in tokens of the embedder; None for
    the settings of the system. language: of all its documents; "" where each is recognised.
    org_unit: whose it is. Belonging gives no right by itself; a grant does, to this unit and to others.
    is_approval_wanted: whether its documents show if a manager has approved the present version.
    is_hidden_text_indexed: whether a document's hidden text is searched like the rest.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = LineField(_("name"), max_length=200, unique=True)
    description = models.TextField(_("description"), blank=True)
    org_unit = models.ForeignKey(
        "authz.OrgUnit", models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("belongs to")
    )
    is_approval_wanted = models.BooleanField(
        _("documents are approved"),
        default=False,
        help_text=_(
            "The managers of a folder approve the versions of its documents. Until then, answers use them and say so."
        ),
    )
    is_hidden_text_indexed = models.BooleanField(
        _("hidden text answers"),
        default=False,
        help_text=_(
            "Text that readers of the original cannot see is searched, quoted and given to the language model "
            "like any other. Leave this off unless you trust all authors."
        ),
    )
    recognition = models.CharField(
        _("text in pictures"),
        max_length=4,
        choices=Recognition.choices,
        default=Recognition.BARE,
        help_text=_("Scanned pages, photos and pictures in documents are read on this server, some seconds each."),
    )
    graph = models.CharField(
        _("knowledge graph"),
        max_length=8,
        choices=GraphMode.choices,
        default=GraphMode.CERTAIN,
        help_text=_("What documents name and say about it, for questions over several documents."),
    )
    chunk_tokens = models.PositiveSmallIntegerField(null=True, blank=True, editable=False)
    chunk_max_tokens = models.PositiveSmallIntegerField(null=True, blank=True, editable=False)
    language = models.CharField(_("language"), max_length=8, choices=Language.choices, blank=True, editable=False)
    average_terms = models.FloatField(default=250.0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    OF_THE_SYSTEM = models.Q(pk=ATTACHMENTS)

    class Meta(Guarded.Meta):
        verbose_name = _("knowledge base")
        verbose_name_plural = _("knowledge bases")
        ordering = ("name",)
        permissions = list_extra_permissions("knowledgebase", "knowledge base")

    def __str__(self) -> str:
        return in_language(self.name)

    @property
    def cut_as(self) -> str:
        """Return the cutting settings of its documents, comparable to `DocumentVersion.cut_as`."""
        if not (self.chunk_tokens or self.chunk_max_tokens or self.language):
            return ""
        return f"{self.chunk_tokens or ''}/{self.chunk_max_tokens or ''}/{self.language}"

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        reached = Q(pk__in=select_base_ids(principal, right))
        if right is Right.VIEW:
            reached |= Q(pk__in=select_surrounding_base_ids(principal, right))
        return reached
