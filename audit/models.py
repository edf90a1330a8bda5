"""Audit entries (who did what, to what, with which result), the hash chain that links them, and its signatures.

Rows are added and never changed, with two recorded exceptions: names and addresses can be erased, and old rows are
purged behind a signed cut. The database refuses everything else, by trigger and by role.
"""

import secrets
from datetime import UTC, datetime
from typing import Any, ClassVar, NoReturn

from django.db import models
from django.utils import timezone
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from audit.actions import Action, Outcome
from audit.verify_export import CONTENT, PERSONAL, compute_commitment, compute_content_hash

SALT_BYTES = 16


class AppendOnly(Exception):
    """Somebody tried to change or delete an audit entry."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit entries are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnly("audit entries are never deleted")


class AppendOnlyModel(models.Model):
    """A row that is written once. unreadable: see `Hold`."""

    unreadable: tuple[str, ...] = ()
    objects: ClassVar[models.Manager[Any]] = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("audit entries are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit entries are never deleted")


def format_utc_time(at: datetime) -> str:
    """Format a time in UTC with microseconds, as the chain writes it: 2026-11-21T09:30:00.000001Z."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def known_actions() -> list[tuple[str, Any]]:
    """Return the vocabulary; by name, so that a new word needs no migration."""
    return Action.choices


class Entry(AppendOnlyModel):
    """One line of the audit log.

    The actor's name is kept beside the id, so that the line still speaks when the account is gone. `detail` holds ids, counts
    and sizes; never text of a document, never a secret. Names and addresses are personal: the chain holds only `personal`, their
    salted hashes, so that `erase_person` can remove text and salt.
    """

    at = models.DateTimeField(_("time"), default=timezone.now)
    actor_id = models.BigIntegerField(_("actor id"), null=True)
    actor_name = models.CharField(_("actor"), max_length=150, blank=True)
    on_behalf_of_id = models.BigIntegerField(_("on behalf of, id"), null=True)
    on_behalf_of_name = models.CharField(_("on behalf of"), max_length=150, blank=True)
    action = models.CharField(_("action"), max_length=64, choices=known_actions)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome.choices, default=Outcome.ALLOW)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    target_type = models.CharField(_("target type"), max_length=64, blank=True)
    target_id = models.CharField(_("target id"), max_length=64, blank=True)
    target_name = models.CharField(_("target"), max_length=255, blank=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True)
    run_id = models.CharField(_("run id"), max_length=64, blank=True)
    address = models.GenericIPAddressField(_("address"), null=True)
    detail = models.JSONField(_("detail"), default=dict)
    personal = models.JSONField(_("hashes of names and addresses"), default=dict)
    salts = models.JSONField(_("salts of names and addresses"), default=dict)
    content_hash = models.BinaryField(_("hash of the content"), max_length=32)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ("-id",)
        # named, not db_index: that would add an index for LIKE to each text, and each costs every entry
        indexes: ClassVar = [
            models.Index(fields=[name], name=f"audit_entry_{name}_idx")
            for name in ("at", "actor_id", "action", "target_id", "run_id")
        ]
        permissions: ClassVar = [("export_entry", "Can export the audit log")]

    def __str__(self) -> str:
        at = "-" if "at" in self.unreadable else f"{localtime(self.at):%Y-%m-%d %H:%M:%S}"
        return f"{at} {self.actor_name or '-'} {self.get_action_display()} {self.target_name}".rstrip()


class Shown(models.Model):
    """A document that an entry showed to its actor, with the entry's time: an index that `audit.shown` derives from entries."""

    pk = models.CompositePrimaryKey("entry_id", "document_id")
    entry = models.ForeignKey(Entry, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False)
    document_id = models.UUIDField()
    how = models.CharField(max_length=12)  # of `How`
    at = models.DateTimeField()
    person_id = models.BigIntegerField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["document_id", "-at"], name="audit_shown_document_idx"),
            models.Index(fields=["person_id", "-at"], name="audit_shown_person_idx"),
        ]


class Link(models.Model):
    """An entry's place in the chain. The database makes it when the entry's transaction commits, and nobody else does."""

    seq = models.BigIntegerField(_("sequence number"), primary_key=True)
    entry = models.OneToOneField(
        Entry, models.DO_NOTHING, verbose_name=_("audit entry"), related_name="link", db_constraint=False
    )
    hash = models.BinaryField(_("hash of the chain"), max_length=32)

    def __str__(self) -> str:
        return str(self.seq)


class Head(models.Model):
    """The end of the chain, one row: appending locks it, and only while committing."""

    only_one = models.BooleanField(primary_key=True, default=True)
    seq = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return str(self.seq)


class Kind(models.TextChoices):
    PERIODIC = "periodic", _("periodic")
    CUT = "cut", _("everything up to here was purged by rule")


class Checkpoint(AppendOnlyModel):
    """An Ed25519 signature of the chain up to `seq`; its copy lies outside the database."""

    seq = models.BigIntegerField(_("sequence number"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices, default=Kind.PERIODIC)
    hash = models.BinaryField(_("hash of the chain"), max_length=32)
    at = models.DateTimeField(_("time"))
    key = models.CharField(_("public key"), max_length=64)
    signature = models.CharField(_("signature"), max_length=128)

    class Meta:
        verbose_name = _("checkpoint")
        verbose_name_plural = _("checkpoints")
        ordering = ("seq", "id")
        constraints: ClassVar = [  # without the signature, a false row would keep a number from being signed
            models.UniqueConstraint(fields=("seq", "kind", "signature"), name="one_checkpoint_of_a_signature")
        ]

    def __str__(self) -> str:
        return f"{self.seq} ({self.get_kind_display()})"

    def statement(self) -> dict[str, Any]:
        """Return the statement that is signed."""
        return {
            "v": 1,
            "kind": str(self.kind),
            "seq": self.seq,
            "hash": bytes(self.hash).hex(),
            "at": format_utc_time(self.at),
            "key": self.key,
        }


class Hold(models.Model):
    """A legal hold: while it lasts, no entry of its period or about its person is purged or erased.

    unreadable: names of fields that cannot be shown because the row was changed from outside; they are empty.
    """

    unreadable: tuple[str, ...] = ()
    reason = models.CharField(_("reason"), max_length=255, help_text=_("Case or file number, shown in the audit log."))
    person_id = models.BigIntegerField(
        _("user id"),
        null=True,
        blank=True,
        help_text=_("Leave empty for everyone; otherwise only this person's names and entries."),
    )
    from_at = models.DateTimeField(_("from"), null=True, blank=True, help_text=_("Empty: from the first entry."))
    until_at = models.DateTimeField(_("until"), null=True, blank=True, help_text=_("Empty: without an end."))
    placed_at = models.DateTimeField(_("placed"), auto_now_add=True)
    released_at = models.DateTimeField(_("released"), null=True, editable=False)

    class Meta:
        verbose_name = _("legal hold")
        verbose_name_plural = _("legal holds")
        ordering = ("-placed_at",)

    def __str__(self) -> str:
        return self.reason

    def extent(self) -> dict[str, Any]:
        """Return the extent of the hold, as its entry records it."""
        times = {"from": self.from_at, "until": self.until_at}
        return {"person": self.person_id} | {name: format_utc_time(at) if at else None for name, at in times.items()}


def build_chain_content(entry: Entry) -> dict[str, Any]:
    """Return what the chain holds of an entry, as JSON values. The format itself is defined in `verify_export.py`."""
    return {name: getattr(entry, name) for name in CONTENT} | {"at": format_utc_time(entry.at)}


def seal_entry(entry: Entry) -> None:
    """Fill in the entry's hashes for the chain: salted ones of names and address, and one of everything."""
    texts = {name: str(getattr(entry, name) or "") for name in PERSONAL}
    entry.salts = {name: secrets.token_hex(SALT_BYTES) for name, text in texts.items() if text}
    entry.personal = {name: compute_commitment(texts[name], salt) for name, salt in entry.salts.items()}
    entry.content_hash = compute_content_hash(build_chain_content(entry))
