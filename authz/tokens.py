"""API tokens: made once, shown once, kept as a hash, always with an end."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record
from authz.models import ApiToken
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound

DEFAULT_DAYS = 90
MAX_DAYS = 366
PREFIX_LENGTH = 12  # "ekc_" and eight hexadecimal digits: what a page shows of a token
SEEN_EVERY = timedelta(minutes=1)  # last_used_at is for people; writing it on each request would cost a write a call


@transaction.atomic
def issue_token(principal: Principal, *, name: str, days: int = DEFAULT_DAYS) -> tuple[ApiToken, str]:
    """Make a token for the person asking; returns the row and the secret, which nobody can read again.

    days: until it expires, 1..366. Raises InvalidInput.
    """
    if not name.strip():
        raise InvalidInput(_("Give the token a name that tells what uses it."))
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(
            _("A token lives 1 to %(most)s days; %(days)s was asked for.") % {"most": MAX_DAYS, "days": days}
        )
    secret = f"ekc_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(
        user_id=principal.user_id,
        name=name.strip()[:100],
        prefix=secret[:PREFIX_LENGTH],
        sha256=_sha256(secret),
        expires_at=timezone.now() + timedelta(days=days),
    )
    record(principal, Action.TOKEN_ISSUED, token, detail={"days": days})
    return token, secret


@transaction.atomic
def revoke_token(principal: Principal, *, token_id: int) -> None:
    """Delete a token of the person asking; raises NotFound for anybody else's."""
    token = ApiToken.objects.filter(pk=token_id, user_id=principal.user_id).first()
    if token is None:
        raise NotFound(_("You have no such token."))
    withdraw_token(principal, token)


@transaction.atomic
def withdraw_token(by: Principal, token: ApiToken) -> None:
    """Delete anybody's token; the admin page has checked that `by` may."""
    record(by, Action.TOKEN_REVOKED, token, detail={"user": token.user_id})
    token.delete()


def user_of(secret: str) -> User | None:
    """The active user a secret belongs to, or None when it is unknown, expired, or its user was disabled."""
    now = timezone.now()
    token = (
        ApiToken.objects.select_related("user")
        .filter(prefix=secret[:PREFIX_LENGTH], expires_at__gt=now, user__is_active=True)
        .first()
    )
    if token is None or not secrets.compare_digest(token.sha256, _sha256(secret)):
        return None
    if token.last_used_at is None or now - token.last_used_at > SEEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
