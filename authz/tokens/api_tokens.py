"""API tokens: shown once, stored as a hash, always expiring, limited to scopes and optionally to one folder."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from audit.actions import Action, Outcome
from audit.record import record_action
from authz.models import ApiToken, TokenUse
from authz.principal import Principal
from authz.rights.checks import get_visible
from authz.rights.tree import require_tree
from authz.scopes import DEFAULT_SCOPES, validate_scopes
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.text.bilingual import in_language

DEFAULT_DAYS = 90
MAX_DAYS = 366
MAX_FOLDERS = 500  # listed on the page; a folder's own page links to the form for it
PREFIX_LENGTH = 12  # "ekc_" and eight hexadecimal digits: what a page shows of a token
SEEN_EVERY = timedelta(minutes=1)  # last_used_at is for people; writing it on each request would cost a write a call
# A token's actions are recorded where they happen. Its use and address are recorded once per hour and address: a
# stolen token shows as a new address, and a program that asks every second does not bury the log.
RECORDED_EVERY = timedelta(hours=1)


class TokenRefused(Exception):
    """The token was refused; the text tells its holder why."""


@dataclass(frozen=True)
class Bearer:
    """The sender of a token. scopes: those of the token. token: one of ours; None for the company sign-in's."""

    user: User
    scopes: tuple[str, ...]
    token: ApiToken | None = None

    @property
    def principal(self) -> Principal:
        person = Principal.of(self.user)
        if self.token is not None:
            return person.through(self.token)
        return person.narrowed(scopes=frozenset(self.scopes), folder_id=None)


@transaction.atomic
def issue_token(
    principal: Principal,
    *,
    name: str,
    days: int = DEFAULT_DAYS,
    scopes: Iterable[str] = DEFAULT_SCOPES,
    folder_id: UUID | None = None,
    owner: Principal | None = None,
) -> tuple[ApiToken, str]:
    """Create a token; return the row and the secret, which is not stored.

    days: until it expires, 1..366. folder_id: it reaches this folder, which its owner may see, and what lies below it.
    owner: the service account for which an administrator makes it; else the person asking.
    Raises InvalidInput, NotFound (no such folder, or the owner may not see it).
    """
    holder = owner or principal
    if not name.strip():
        raise InvalidInput(_("Name the token after the program that uses it."))
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(
            _("A token is valid for 1 to %(most)s days, not %(days)s.") % {"most": MAX_DAYS, "days": days}
        )
    chosen = validate_scopes(scopes)
    folder = find_token_folder(holder, folder_id) if folder_id else None
    secret = f"ekc_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(
        user_id=holder.user_id,
        name=name.strip()[:100],
        prefix=secret[:PREFIX_LENGTH],
        sha256=_hash_secret(secret),
        scopes=chosen,
        folder=folder,
        expires_at=timezone.now() + timedelta(days=days),
    )
    detail = {"days": days, "scopes": chosen, "user": token.user_id}
    record_action(
        principal, Action.TOKEN_ISSUED, token, detail=detail | ({"folder": str(folder_id)} if folder_id else {})
    )
    return token, secret


def list_tokens(principal: Principal) -> QuerySet[ApiToken]:
    """Return the person's tokens that are not revoked, the newest first."""
    return ApiToken.objects.filter(user_id=principal.user_id, revoked_at=None)


def find_token_folder(holder: Principal, folder_id: UUID) -> Any:
    """Return the folder that a token is to be limited to; raise NotFound."""
    return get_visible(require_tree().folder, holder, pk=folder_id)


def list_folder_choices(principal: Principal) -> list[tuple[UUID, str]]:
    """Return the first MAX_FOLDERS folders that a token of this person can be limited to, with their bases' names."""
    rows = require_tree().folder.objects.visible_to(principal).order_by("knowledge_base__name", "name", "pk")
    found = rows.values_list("pk", "knowledge_base__name", "name", "parent_id")[:MAX_FOLDERS]
    named = ((pk, in_language(base), in_language(name) if parent_id else "") for pk, base, name, parent_id in found)
    return [(pk, f"{base} › {name}" if name else base) for pk, base, name in named]


def find_folder_names(principal: Principal, tokens: Iterable[ApiToken]) -> dict[UUID, str]:
    """Return the names, by id, of the tokens' folders that the person may see."""
    rows = (
        require_tree()
        .folder.objects.visible_to(principal)
        .filter(pk__in=[token.folder_id for token in tokens if token.folder_id])
    )
    return {pk: in_language(name) for pk, name in rows.values_list("pk", "name")}


def revoke_token(principal: Principal, *, token_id: int) -> None:
    """Revoke a token of the person asking; raise NotFound for anybody else's."""
    token = list_tokens(principal).filter(pk=token_id).first()
    if token is None:
        raise NotFound(_("You have no such token."))
    withdraw_token(principal, token)


@transaction.atomic
def withdraw_token(by: Principal | None, token: ApiToken) -> None:
    """Revoke anybody's token; the caller has checked `by`. A revoked one stays unchanged."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record_action(by, Action.TOKEN_REVOKED, token, detail={"user": token.user_id})


def authenticate_token(secret: str, *, address: str = "") -> Bearer:
    """Return the bearer of this secret; note the use, and audit it once per hour and address.

    Raises TokenRefused. Only the right secret is told what is wrong with its token; any other is just unknown.
    """
    now = timezone.now()
    token = ApiToken.objects.select_related("user").filter(prefix=secret[:PREFIX_LENGTH]).first()
    if token is None or not secrets.compare_digest(token.sha256, _hash_secret(secret)):
        raise TokenRefused(_("There is no such token. Create one on your tokens page."))
    why = _explain_invalid_token(token, now)
    if why:
        _record_token_use(token, address, now, refused=why)
        raise TokenRefused(why)
    if token.last_used_at is None or now - token.last_used_at > SEEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    _record_token_use(token, address, now)
    return Bearer(token.user, tuple(token.scopes), token)


def find_owner_id(secret: str) -> int | None:
    """Return the id of the account that this secret opens, or None. Records nothing."""
    found = ApiToken.objects.filter(
        prefix=secret[:PREFIX_LENGTH], revoked_at=None, expires_at__gt=timezone.now()
    ).first()
    return found.user_id if found and secrets.compare_digest(found.sha256, _hash_secret(secret)) else None


def _explain_invalid_token(token: ApiToken, now: datetime) -> str:
    """Return why this token is invalid, in one sentence; "" while it is valid."""
    if token.revoked_at is not None:
        return _("This token was revoked on %(day)s. Create a new one on your tokens page.") % {
            "day": date_format(timezone.localtime(token.revoked_at))
        }
    if token.expires_at <= now:
        return _("This token expired on %(day)s. Create a new one on your tokens page.") % {
            "day": date_format(timezone.localtime(token.expires_at))
        }
    if not token.user.is_active:
        return _("The account of this token is disabled. Ask an administrator.")
    return ""


def _record_token_use(token: ApiToken, address: str, now: datetime, *, refused: str = "") -> None:
    """Record the use, unless the log has it within the last hour. refused: why it was refused."""
    same = TokenUse.objects.filter(token=token, address=address, is_refused=bool(refused))
    if same.filter(recorded_at__gt=now - RECORDED_EVERY).exists():
        return
    with transaction.atomic():
        _row, is_new = same.get_or_create(
            defaults={"token": token, "address": address, "is_refused": bool(refused), "recorded_at": now}
        )
        if is_new or same.filter(recorded_at__lte=now - RECORDED_EVERY).update(
            recorded_at=now
        ):  # of concurrent uses one is recorded
            action, outcome = (Action.TOKEN_REFUSED, Outcome.DENY) if refused else (Action.TOKEN_USED, Outcome.ALLOW)
            record_action(Principal.of(token.user), action, token, outcome=outcome, reason=refused)


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def count_valid_tokens(folder_id: UUID) -> int:
    """Return the number of valid API tokens limited to this folder."""
    return ApiToken.objects.filter(folder=folder_id, revoked_at=None, expires_at__gt=timezone.now()).count()
