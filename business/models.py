"""Data sources and grants on them. A source's semantic layer is one document; see `semantic_layer/model.py`."""

import uuid
from functools import cached_property
from pathlib import PurePath

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField
from pydantic import ValidationError

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_group_ids
from authz.rights.managers import GuardedManager
from business.connections.address import Address, Tls
from business.limits import MAX_ROWS, StatementLimits
from business.semantic_layer.model import SemanticLayer
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.storage.sealing import SealBroken, seal_text, unseal_text
from copilot_site.lib.text.line_fields import LineField
from knowledge.models import Document


def public_schema() -> list[str]:
    return ["public"]


class SourceEngine(models.TextChoices):
    POSTGRESQL = "postgresql", "PostgreSQL"
    MYSQL = "mysql", "MySQL, MariaDB"


class DataSource(models.Model):
    """A database with business data, on another server than the product's, or a spreadsheet of a knowledge base.

    layer: the semantic layer as JSON; its `name` is the row's. schemas: those that a layer may name tables of.
    is_dedicated: the database holds nothing else, so that rights which PostgreSQL gives everybody on system functions are taken
    away there. is_embedded: a database that the product made on its own server, as the demo's; no form, file or address sets it.
    document: the spreadsheet, whose rights are the source's; it has no grants of its own. drafted_version: of it, that the layer is of.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.SlugField(_("name"), max_length=50, unique=True)
    engine = models.CharField(
        _("kind of database"), max_length=10, choices=SourceEngine.choices, default=SourceEngine.POSTGRESQL
    )
    host = models.CharField(_("host"), max_length=255, blank=True)
    port = models.PositiveIntegerField(_("port"), default=5432)
    database = models.CharField(_("database"), max_length=63)
    username = models.CharField(_("account"), max_length=63, blank=True)
    tls = models.CharField(_("encryption"), max_length=11, choices=Tls.choices, default=Tls.VERIFY_FULL)
    encrypted_password = models.BinaryField(default=b"", editable=False)
    is_dedicated = models.BooleanField(_("holds only business data"), default=False)
    schemas = ArrayField(
        models.CharField(max_length=63),
        verbose_name=_("schemas"),
        default=public_schema,
        help_text=_("Names by comma. The semantic layer can only name tables and views of these."),
    )
    max_seconds = models.FloatField(
        _("seconds for a question"),
        default=10,
        blank=True,
        validators=[MinValueValidator(0.1), MaxValueValidator(300)],
        help_text=_("What takes longer is stopped in the database. Empty: 10."),
    )
    max_rows = models.PositiveSmallIntegerField(
        _("rows of an answer"),
        default=MAX_ROWS,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_ROWS)],
        help_text=_("At most 50, which is what empty means."),
    )
    max_gathered_mb = models.PositiveSmallIntegerField(
        _("megabytes in one value"),
        default=64,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000)],
        help_text=_("Estimated before the query runs: making one long list or text cannot be stopped. Empty: 64."),
    )
    kept_minutes = models.PositiveSmallIntegerField(
        _("minutes that a result is kept"),
        default=0,
        blank=True,
        validators=[MaxValueValidator(60)],
        help_text=_("For the same person under the same rights. Empty or 0: each question reads the database."),
    )
    is_embedded = models.BooleanField(default=False, editable=False)
    document = models.OneToOneField("knowledge.Document", models.CASCADE, null=True, editable=False, related_name="+")
    drafted_version = models.UUIDField(null=True, editable=False)
    is_active = models.BooleanField(_("may be asked"), default=True)
    layer = models.JSONField(default=dict, editable=False)
    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = GuardedManager["DataSource"]()
    unscoped = models.Manager["DataSource"]()

    class Meta:
        verbose_name = _("data source")
        verbose_name_plural = _("data sources")
        ordering = ("name",)
        default_manager_name = base_manager_name = "unscoped"
        permissions = [("change_connection", "Can set the address, account and schemas of data sources")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        """Return sources on which, or on a table of which, the person holds `right`, and spreadsheets on which they do.

        A superuser governs and reads nothing.
        """
        granted = Q(document=None, pk__in=SourceGrant.held_by(principal, right).values("source_id"))
        return Q(is_active=True) & (granted | Q(document__in=Document.objects.reachable_by(principal, right)))

    @property
    def names(self) -> set[str]:
        """Return what it can be named by, in lower case: its own name, its file's title, and the file's name without the ending."""
        of_file = (self.document.title, PurePath(self.document.filename).stem) if self.document else ()
        return {name.lower() for name in (self.name, *of_file) if name}

    @cached_property
    def semantic_layer(self) -> SemanticLayer:
        """Raise InvalidInput for a stored one that this version cannot read."""
        try:
            return SemanticLayer.model_validate(self.layer or {"name": self.name})
        except ValidationError as error:
            message = gettext("The semantic layer of the data source %(name)s cannot be read: import it again.")
            raise InvalidInput(message % {"name": self.name}) from error

    @property
    def limits(self) -> StatementLimits:
        return StatementLimits(self.max_seconds, self.max_rows, self.max_gathered_mb * 1_000_000)

    @property
    def address(self) -> Address:
        """Return the database's address and the source's account. Raises InvalidInput without host or password."""
        if self.is_embedded:
            return self._build_embedded_address()
        if not self.host:
            raise InvalidInput(
                gettext(
                    "The data source %(name)s has no host: the product's own server is never one. Enter the server's."
                )
                % {"name": self.name}
            )
        return Address(self.host, self.port, self.database, self.username, self._unseal_password(), Tls(self.tls))

    @property
    def where(self) -> str:
        """Return the address that the stored password is for, for people and the audit log."""
        if not self.host:
            return f"own server/{self.database}"
        return f"{self.username}@{self.host}:{self.port}/{self.database} ({self.tls})"

    def _build_embedded_address(self) -> Address:
        own = Address.of_django()
        if self.database == own.database:
            raise InvalidInput(gettext("The product's own database is never a data source."))
        return own.at(self.database)

    def set_password(self, password: str) -> None:
        """Store the password for the row's current address: with another one it cannot be decrypted."""
        sealed = seal_text(password, purpose=self._build_seal_purpose(), secrets=[settings.SECRET_KEY])
        self.encrypted_password = sealed.encode()

    def _unseal_password(self) -> str:
        stored = bytes(self.encrypted_password).decode()
        try:
            return unseal_text(stored, purpose=self._build_seal_purpose(), secrets=[settings.SECRET_KEY])
        except SealBroken as error:
            message = _(
                "The password of the data source %(name)s was stored for another address, or under another secret key: enter it again."
            )
            raise InvalidInput(message % {"name": self.name}) from error

    def _build_seal_purpose(self) -> str:
        return f"copilot data source password {self.where}"


class SourceGrant(models.Model):
    """A right of a person or group on a source, or on one of its tables; it counts until it ends.

    table: name of a semantic model; empty for the whole source. Membership is authz's: a grant to a unit reaches the people of
    every unit below it.
    """

    source = models.ForeignKey(DataSource, models.CASCADE, related_name="grants")
    table = models.CharField(_("table"), max_length=63, blank=True, help_text=_("Empty: the whole source."))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("user")
    )
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("group"))
    right = models.CharField(
        _("right"), max_length=10, choices=[(r.value, r.label) for r in (Right.VIEW, Right.MANAGE)], default=Right.VIEW
    )
    expires_at = models.DateTimeField(_("ends"), null=True, blank=True)
    granted_at = models.DateTimeField(_("since"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("right on a data source")
        verbose_name_plural = _("rights on data sources")
        constraints = [
            models.CheckConstraint(condition=Q(user=None) ^ Q(group=None), name="source_grant_to_a_person_or_a_group"),
            models.UniqueConstraint(
                fields=["source", "table", "user", "group", "right"], nulls_distinct=False, name="source_grant_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.right}"

    @classmethod
    def held_by(cls, principal: Principal, right: Right) -> "models.QuerySet[SourceGrant]":
        """Return the current grants of this right to a person, by the database's clock.

        With an audience only those to a group that all are in: individual grants are not compared.
        """
        holder = Q(group_id__in=select_group_ids(principal))
        if not principal.audience:
            holder |= Q(user_id=principal.user_id, user__is_active=True)
        return cls.objects.filter(holder, Q(expires_at=None) | Q(expires_at__gt=Now()), right=right.value)


class SavedQuery(models.Model):
    """A logical query under a name: of its owner, or, shared, of everybody who may ask the source. It holds no row of the source.

    It runs under the reader's own rights, with relative times counted from that day.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    source = models.ForeignKey(DataSource, models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = LineField(_("name"), max_length=100)
    query = models.JSONField()
    is_shared = models.BooleanField(_("shared"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = GuardedManager["SavedQuery"]()
    unscoped = models.Manager["SavedQuery"]()

    class Meta:
        verbose_name = _("saved question")
        verbose_name_plural = _("saved questions")
        ordering = ("name", "created_at", "id")
        default_manager_name = base_manager_name = "unscoped"
        constraints = [models.UniqueConstraint("source", "owner", "name", name="saved_query_once")]

    def __str__(self) -> str:
        return str(self.pk)  # not the name: it may be a row's

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        """Return their own queries and, to view, shared ones, of sources they may ask; names inside are not checked."""
        theirs = Q(owner_id=principal.user_id) | (Q(is_shared=True) if right is Right.VIEW else Q(pk__in=[]))
        return theirs & Q(source__in=DataSource.objects.visible_to(principal))


class LayerDraft(models.Model):
    """A worker's latest draft of a source's layer, until somebody has reviewed it.

    attempt: the writer; a later one takes the row over. alive_at: the last sign of life; None while it waits.
    done of count tables are read; `table` is the current one. problem: why it ended early. unread: failures, and why.
    """

    source = models.OneToOneField(DataSource, models.CASCADE, primary_key=True, related_name="+")
    attempt = models.UUIDField(default=uuid.uuid4)
    started_at = models.DateTimeField(default=timezone.now)
    alive_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    done = models.PositiveIntegerField(default=0)
    count = models.PositiveIntegerField(default=0)
    table = models.CharField(max_length=63, blank=True)
    problem = models.CharField(max_length=500, blank=True)
    unread = models.JSONField(default=list)
    layer = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def is_open(self) -> bool:
        return self.ended_at is None


class SchemaVector(models.Model):
    """The vector of a table, column or measure of a source's saved layer, which linking searches.

    It holds no text; sha256: of the embedded text. Readers must check rights on the table.
    """

    source = models.ForeignKey(DataSource, models.CASCADE, related_name="+", db_index=False)
    space = models.ForeignKey("knowledge.EmbeddingSpace", models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=63)
    kind = models.CharField(max_length=9)
    part = models.CharField(max_length=63, blank=True)
    sha256 = models.BinaryField()
    vector = HalfVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "space", "model", "kind", "part"], name="schema_vector_once")
        ]

    def __str__(self) -> str:
        return str(self.pk)
