"""What was done, by whom, to what, and how it ended. Rows are added and never changed."""

from typing import Any, NoReturn

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.actions import Action, Outcome


class AppendOnly(Exception):
    """Somebody tried to change or delete an audit entry."""


class AppendOnlyQuerySet(models.QuerySet["Entry"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit entries are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnly("audit entries are never deleted")


class Entry(models.Model):
    """One line of the audit log. The database refuses UPDATE, DELETE and TRUNCATE by trigger as well.

    The actor's name is kept beside the id, so that the line still speaks when the account is gone.
    `detail` holds ids, counts and sizes; never text of a document, never a secret.
    """

    at = models.DateTimeField(_("time"), auto_now_add=True, db_index=True)
    actor_id = models.BigIntegerField(_("actor id"), null=True, db_index=True)
    actor_name = models.CharField(_("actor"), max_length=150, blank=True)
    action = models.CharField(_("action"), max_length=64, choices=Action.choices, db_index=True)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome.choices, default=Outcome.ALLOW)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    target_type = models.CharField(_("target type"), max_length=64, blank=True)
    target_id = models.CharField(_("target id"), max_length=64, blank=True, db_index=True)
    target_name = models.CharField(_("target"), max_length=255, blank=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True)
    run_id = models.CharField(_("run id"), max_length=64, blank=True, db_index=True)
    address = models.GenericIPAddressField(_("address"), null=True)
    detail = models.JSONField(_("detail"), default=dict)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.actor_name or '-'} {self.action} {self.target_name}".rstrip()

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("audit entries are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("audit entries are never deleted")
