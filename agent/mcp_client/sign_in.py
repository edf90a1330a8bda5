"""Sign in to a service: an administrator is sent to its token issuer, and returns with a code.

Signing out deletes the tokens.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac
from django.utils.translation import gettext as _

from agent.connections import service_keys
from agent.mcp_client import oauth
from agent.mcp_client.address import ServiceAddress, format_secret_place, open_service_secret
from agent.mcp_client.connection import convert_service_errors, make_http_client
from agent.models import McpService
from agent.models.mcp_services import Transport
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput

if TYPE_CHECKING:
    import httpx2

    from agent.mcp_client.authorization_code import IssuedTokens

T = TypeVar("T")
KIND = "mcp service sign-in, begun"  # that is sealed
BEGUN_S = 600  # time to sign in
ANSWER_S = 30.0  # time limit for service and issuer
STATE_LENGTH = 43  # characters; 256 bits


@dataclass(frozen=True)
class Begun:
    """address: where the person signs in and authorises this site. scopes: requested permissions."""

    address: str
    scopes: tuple[str, ...]

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc


def begin_sign_in(row: McpService, *, callback: str, session: str) -> Begun:
    """Find the sign-in address of a service. callback: our address that they return to, in the same session.

    Raises InvalidInput where the service needs no sign-in, ServiceUnusable where service or issuer fail.
    """
    if not row.is_signed_in_to:
        raise InvalidInput(_("Choose first that an administrator signs in, and save."))
    secret = open_service_secret(row)

    async def begin(http: "httpx2.AsyncClient") -> "tuple[str, IssuedTokens]":
        from agent.mcp_client.authorization_code import Beginning

        client = {"issuer": row.oauth_issuer, "client_id": row.oauth_client_id, "secret": secret}
        beginning = Beginning(row.url, callback, scope=row.oauth_scope, **client)
        grant = await beginning.begin(http, by_sse=row.transport == Transport.SSE)
        return beginning.address, grant

    address, grant = _run_with_http_client(row, begin)
    state = get_random_string(STATE_LENGTH)
    kept = {"service": row.pk, "place": format_secret_place(row), "grant": grant.model_dump_json()}
    key = _build_sign_in_key(session, state)
    cache.set(key, service_keys.seal_service_key(json.dumps(kept), key, of=KIND), BEGUN_S)
    return Begun(f"{address}&state={state}", tuple((grant.scope or "").split()))


def finish_sign_in(by: Principal, answer: Mapping[str, str], *, session: str) -> McpService:
    """Finish a sign-in, and return the service. answer: the issuer's response, valid once.

    Raises InvalidInput for a response that this session does not wait for, or a refusal; ServiceUnusable where no
    tokens come.
    """
    begun = _pop_pending_sign_in(_build_sign_in_key(session, answer.get("state", "")))
    row = McpService.objects.filter(pk=begun["service"]).first() if begun else None
    if row is None or format_secret_place(row) != begun["place"]:
        raise InvalidInput(_("This sign-in took too long, or was already used. Connect again."))
    if not answer.get("code"):
        raise InvalidInput(
            _("Nobody signed in to “%(name)s”: its issuer was not allowed to give a token.") % {"name": row.name}
        )

    async def exchange(http: "httpx2.AsyncClient") -> "IssuedTokens":
        from agent.mcp_client.authorization_code import GrantedProvider, IssuedTokens

        grant = IssuedTokens.model_validate_json(begun["grant"])
        return await GrantedProvider(row.url).exchanged(http, grant, code=answer["code"], issuer=answer.get("iss"))

    grant = _run_with_http_client(row, exchange)
    _store_sign_in(
        by,
        row,
        oauth.seal_grant(grant, begun["place"]),
        detail={"signed_in": True, "issuer": str(grant.metadata.issuer)},
    )
    return row


def sign_out(by: Principal, row: McpService) -> None:
    """Delete the tokens. They are not revoked at the issuer."""
    _store_sign_in(by, row, "", detail={"signed_in": False})


@transaction.atomic
def _store_sign_in(by: Principal, row: McpService, sealed: str, *, detail: Mapping[str, Any]) -> None:
    """Store the sign-in. Raises InvalidInput where the service was changed meanwhile."""
    kept = McpService.objects.select_for_update().filter(pk=row.pk).first()
    if kept is None or format_secret_place(kept) != format_secret_place(row):
        raise InvalidInput(_("The service was changed meanwhile. Connect again."))
    row.encrypted_sign_in, row.signed_in_at = sealed, timezone.now() if sealed else None
    row.save(update_fields=["encrypted_sign_in", "signed_in_at"])
    record_action(by, Action.AGENT_CHANGED, row, detail=detail)


def _run_with_http_client(row: McpService, work: "Callable[[httpx2.AsyncClient], Coroutine[Any, Any, T]]") -> T:
    """Run `work` with a client for the service. Raises ServiceUnusable."""
    address = ServiceAddress(row.name, row.transport, row.url)

    async def done() -> T:
        async with convert_service_errors(address), asyncio.timeout(ANSWER_S), make_http_client(address) as http:
            return await work(http)

    return async_to_sync(done)()


def _build_sign_in_key(session: str, state: str) -> str:
    """Return the cache key of a sign-in, known only to the session that began it."""
    return f"mcp-sign-in:{salted_hmac(KIND, json.dumps((session, state)), algorithm='sha256').hexdigest()}"


def _pop_pending_sign_in(key: str) -> dict[str, Any]:
    """Pop a waiting sign-in from the cache; {} for none."""
    sealed = cache.get(key)
    if sealed is None or not cache.delete(key):
        return {}
    try:
        found: dict[str, Any] = json.loads(service_keys.open_service_key(sealed, key, of=KIND))
    except service_keys.KeyLost:
        return {}
    return found
