"""Scopes of API tokens: they limit a token, and never exceed its owner's rights."""

from collections.abc import Iterable

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_site.lib.errors import InvalidInput


class TokenScope(models.TextChoices):
    SEARCH = "search", gettext_lazy("search and read documents")
    CHAT = "chat", gettext_lazy("ask questions and read your own conversations")
    INGEST = "ingest", gettext_lazy("upload and change documents and folders")
    SQL = "sql", gettext_lazy("let answers query business data")
    AUDIT = "audit", gettext_lazy("read and export the audit log")
    PROVISION = "provision", gettext_lazy("keep accounts and groups (SCIM)")


IN_NO_FOLDER = frozenset(
    {TokenScope.SQL}
)  # not limited by a token's folder; the audit log and accounts are closed to tokens for a folder
DEFAULT_SCOPES = (TokenScope.SEARCH, TokenScope.CHAT)  # reading only; more must be requested


def validate_scopes(names: Iterable[str]) -> list[str]:
    """Return these scopes in defined order, each once; raise InvalidInput for none and for an unknown one."""
    asked = set(names)
    for name in sorted(asked - set(TokenScope.values)):
        raise InvalidInput(
            _("There is no scope “%(name)s”. Choose from: %(known)s.")
            % {"name": name, "known": ", ".join(TokenScope.values)}
        )
    if not asked:
        raise InvalidInput(_("Choose at least one scope."))
    return [name for name in TokenScope.values if name in asked]
