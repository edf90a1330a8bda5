"""The five rights on a knowledge base or a folder; none includes another."""

from django.db import models
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise


class Right(models.TextChoices):
    VIEW = "view", _("view (may be answered from)")
    DOWNLOAD = "download", _("download the original")
    ADD = "add", _("add documents and folders")
    CHANGE = "change", _("change, retry and delete")
    MANAGE = "manage", _("manage rights")

    @property
    def word(self) -> str:
        """Return the right as a word, for tables and sentences."""
        return gettext(WORDS[self])


WORDS = {
    Right.VIEW: gettext_noop("view"),
    Right.DOWNLOAD: gettext_noop("download"),
    Right.ADD: gettext_noop("add"),
    Right.CHANGE: gettext_noop("change"),
    Right.MANAGE: gettext_noop("manage"),
}
RIGHT_PERMISSIONS = [("download", "Can download the original from"), ("manage", "Can manage rights on")]


def build_codename(right: Right, model: type[models.Model]) -> str:
    """Return the name of Django's permission row, e.g. `view_folder`."""
    return f"{right.value}_{model._meta.model_name}"


def list_extra_permissions(model_name: str, name: str) -> list[tuple[str, StrOrPromise]]:
    """Return the permission rows that Django does not make by itself, for `Meta.permissions`."""
    return [(f"{verb}_{model_name}", f"{text} {name}") for verb, text in RIGHT_PERMISSIONS]
