"""Access tokens of the company's sign-in, sent by programs: signed by a configured issuer, with an address of ours as
audience, for a person who has signed in with it before. They create no account or membership: they carry few claims.

Source: RFC 9068 (claims), RFC 8707 (the address it is for).
"""

import hashlib
import time
from typing import Any

import jwt
import structlog
from allauth.socialaccount.models import SocialAccount, SocialApp
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.translation import gettext as _
from requests import RequestException

from audit.actions import Action, Outcome
from audit.record import record_action
from authz.oidc import IssuerAdapter, UnknownKey, list_sign_ins, verify_token
from authz.principal import Principal
from authz.scopes import DEFAULT_SCOPES, TokenScope
from authz.tokens.api_tokens import Bearer, TokenRefused
from copilot_site.lib.errors import Unavailable
from copilot_site.lib.http.client_address import find_client_address

log = structlog.get_logger(__name__)

KEPT_S, KEPT_FAILURE_S = 600, 20  # cache times of an issuer's metadata, and of its failure
KEYS_READ_EVERY_S = 60  # at most, for an unknown key id
RECORDED_EVERY_S = 3_600  # audit interval of a token's use, as for our own tokens
OPENED = {TokenScope.SEARCH, TokenScope.CHAT, TokenScope.SQL}  # the scopes such a token may have
_WELL_KNOWN = "/.well-known/"


def list_issuers(request: HttpRequest) -> list[str]:
    """Return the configured issuers by their published names; one that does not answer by its configured name."""
    named = []
    for app in list_sign_ins(request):
        try:
            named.append(_load_issuer_keys(request, app)["issuer"])
        except Unavailable:
            named.append(_build_issuer_address(app))
    return named


def authenticate_access_token(request: HttpRequest, token: str, *, audience: str) -> Bearer:
    """Return the bearer of this token. audience: the address of ours that it must name.

    Raises TokenRefused, Unavailable where its issuer does not answer.
    """
    app = _find_sign_in_app(request, token)
    claims = _verify_claims(request, app, token, audience)
    uid = str(claims.get(app.settings.get("uid_field", "sub"), ""))
    account = SocialAccount.objects.filter(provider=app.provider_id, uid=uid).select_related("user").first()
    if account is None:
        raise TokenRefused(_("Sign in to this site once with your company account; then programs can act for you."))
    user = account.user
    is_alive = user.is_active and not hasattr(user, "service_account")
    _record_token_use(request, app, user, is_refused=not is_alive)
    if not is_alive:
        raise TokenRefused(_("The account of this token is disabled. Ask an administrator."))
    return Bearer(user, _select_scopes(claims))


def _find_sign_in_app(request: HttpRequest, token: str) -> SocialApp:
    """Return the sign-in whose issuer a token names. Raises TokenRefused."""
    try:
        named = str(jwt.decode(token, options={"verify_signature": False}).get("iss", ""))
    except jwt.PyJWTError as problem:
        raise TokenRefused(_("This token cannot be read.")) from problem
    for app in list_sign_ins(request):
        if _build_issuer_address(app).rstrip("/") == named.rstrip("/"):
            return app
    raise TokenRefused(_("This token is of a sign-in that is not set up here."))


def _verify_claims(request: HttpRequest, app: SocialApp, token: str, audience: str) -> dict[str, Any]:
    """Return a token's claims, checking signature, issuer, audience and expiry. Raises TokenRefused, Unavailable."""
    issuer = _load_issuer_keys(request, app)
    try:
        try:
            return verify_token(token, issuer["keys"], audience=audience, issuer=issuer["issuer"])
        except UnknownKey:
            if time.time() - issuer["read_at"] < KEYS_READ_EVERY_S:
                raise
        issuer = _load_issuer_keys(request, app, is_anew=True)
        return verify_token(token, issuer["keys"], audience=audience, issuer=issuer["issuer"])
    except jwt.ExpiredSignatureError as problem:
        raise TokenRefused(_("This token has expired. Sign in again.")) from problem
    except jwt.InvalidAudienceError as problem:
        raise TokenRefused(_("This token is not for %(address)s.") % {"address": audience}) from problem
    except jwt.PyJWTError as problem:
        log.info("access_token.refused", provider=app.provider_id, problem=str(problem))
        raise TokenRefused(_("This token cannot be used here.")) from problem


def _load_issuer_keys(request: HttpRequest, app: SocialApp, *, is_anew: bool = False) -> dict[str, Any]:
    """Return issuer, keys and read_at of a sign-in, cached for a while, as are failures. Raises Unavailable."""
    key = f"issuer:{hashlib.sha256(_build_issuer_address(app).encode()).hexdigest()}"
    found: dict[str, Any] | None = None if is_anew else cache.get(key)
    if found is None:
        adapter = IssuerAdapter(request, app.provider_id)
        try:
            answer = {"issuer": str(adapter.openid_config["issuer"]), "keys": adapter.keys()}
            found, kept = {**answer, "read_at": time.time()}, KEPT_S
        except (RequestException, ValueError, KeyError, TypeError):
            log.warning("access_token.issuer_unreachable", provider=app.provider_id, exc_info=True)
            found, kept = {}, KEPT_FAILURE_S
        cache.set(key, found, kept)
    if not found:
        raise Unavailable(_("The company sign-in does not answer now. Try again in a moment."))
    return found


def _select_scopes(claims: dict[str, Any]) -> tuple[str, ...]:
    """Return those of our scopes that the token names, else the default ones."""
    given = claims.get("scope") or claims.get("scp") or ""
    named = {str(scope) for scope in (given if isinstance(given, list) else str(given).split())}
    return tuple(scope.value for scope in TokenScope if scope in OPENED and scope.value in named) or tuple(
        scope.value for scope in DEFAULT_SCOPES
    )


def _record_token_use(request: HttpRequest, app: SocialApp, user: Any, *, is_refused: bool) -> None:
    """Record the use of the token, once per hour and address."""
    if cache.add(f"access-token:{user.pk}:{find_client_address(request)}:{is_refused}", 1, RECORDED_EVERY_S):
        action, outcome = (Action.TOKEN_REFUSED, Outcome.DENY) if is_refused else (Action.TOKEN_USED, Outcome.ALLOW)
        record_action(Principal.of(user), action, user, outcome=outcome, detail={"sign_in": app.provider_id})


def _build_issuer_address(app: SocialApp) -> str:
    return str(app.settings["server_url"]).partition(_WELL_KNOWN)[0]
