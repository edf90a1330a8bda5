"""Tokens for a service: of this site as a client of an issuer, cached sealed until they expire; or of an administrator's sign-in,
stored sealed with the service and renewed on demand.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from agent.connections import service_keys
from agent.models import McpService

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

    from agent.mcp_client.authorization_code import IssuedTokens

KIND = "mcp service token"  # that is sealed
MAX_S, SHORTEST_S = 3_600, 300  # longest caching of a token; and where its issuer gives no lifetime


@dataclass(frozen=True)
class OAuthClient:
    """This site as a client of an issuer (client credentials).

    scope: separated by spaces; "" for the scopes that the service asks for.
    """

    issuer: str
    client_id: str
    scope: str = ""
    secret: str = field(default="", repr=False)

    def auth(self, url: str) -> "httpx2.Auth":
        """Return the authentication that adds the service's token.

        The secret is sent to this issuer only, whatever the service names.
        """
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

        from agent.mcp_client.authorization_code import Scoped

        provider = ClientCredentialsOAuthProvider(
            server_url=url,
            storage=_KeptTokens(self, url),
            client_id=self.client_id,
            client_secret=self.secret,
            scope=self.scope or None,
            issuer=self.issuer,
        )
        asks = provider.context.client_metadata
        provider.context.client_metadata = Scoped.model_validate(asks.model_dump())
        return provider


class _KeptTokens:
    """The SDK's token storage: one for each service, client and secret."""

    def __init__(self, client: OAuthClient, url: str) -> None:
        identity = json.dumps((url, client.issuer, client.client_id, client.scope, client.secret))
        self.key = f"mcp-token:{salted_hmac(KIND, identity, algorithm='sha256').hexdigest()}"

    async def get_tokens(self) -> "OAuthToken | None":
        from mcp.shared.auth import OAuthToken

        stored = await cache.aget(self.key)
        try:
            return (
                OAuthToken.model_validate_json(service_keys.open_service_key(stored, self.key, of=KIND))
                if stored
                else None
            )
        except service_keys.KeyLost:
            return None

    async def set_tokens(self, tokens: "OAuthToken") -> None:
        from agent.mcp_client.authorization_code import MARGIN_S

        lives_s = min(tokens.expires_in or SHORTEST_S, MAX_S) - MARGIN_S
        if lives_s > 0:
            sealed = service_keys.seal_service_key(tokens.model_dump_json(), self.key, of=KIND)
            await cache.aset(self.key, sealed, lives_s)

    async def get_client_info(self) -> "OAuthClientInformationFull | None":
        return None  # it is named, not registered

    async def set_client_info(self, client_info: "OAuthClientInformationFull") -> None:
        """Do nothing: the client is configured, not registered."""


def find_error_sentence(error: BaseException) -> str | None:
    """Return the message for an error of the issuer, with a placeholder for the service's `name`.

    None for other errors.
    """
    from mcp.client.auth import OAuthFlowError, OAuthRegistrationError

    from agent.mcp_client.authorization_code import GrantRefused, NoPkce, NotWanted

    sentences = {
        NotWanted: _("“%(name)s” answers without a token: nobody needs to sign in to it."),
        NoPkce: _("The issuer of tokens for “%(name)s” takes no PKCE (S256), and nobody signs in from here without."),
        GrantRefused: _("The sign-in to “%(name)s” has ended: an administrator connects it again on its page."),
        OAuthRegistrationError: _(
            "The issuer of tokens for “%(name)s” lets no program register itself: have it name a client id for this site, and enter it."
        ),
    }
    if not isinstance(error, OAuthFlowError):
        return None
    other = _(
        "The issuer of tokens for “%(name)s” gave none: look at the issuer, the client id, its secret and the scopes."
    )
    return sentences.get(type(error), other)


SIGN_IN_KIND = "mcp service sign-in"  # that is sealed
RENEWS_S = 60  # longest renewal before another process takes over
LOOKS_S = 0.2  # between two checks for another process's renewal


@dataclass(eq=False)
class SignedIn:
    """The grant of one service, for one connection. place: that the sign-in is bound to."""

    service_id: int
    place: str
    _stored: str = field(default="", init=False, repr=False)

    def auth(self, url: str) -> "httpx2.Auth":
        """Return the authentication that adds the service's token."""
        from agent.mcp_client.authorization_code import Renewing

        return Renewing(
            url, read=sync_to_async(self.read), keep=sync_to_async(self.keep), alone=self._hold_renewal_lock
        )

    def read(self) -> "IssuedTokens":
        """Read the stored grant. Raises Refused where nobody is signed in."""
        from agent.mcp_client.authorization_code import GrantRefused, IssuedTokens

        kept = McpService.objects.filter(pk=self.service_id).values_list("encrypted_sign_in", flat=True)
        self._stored = kept.first() or ""
        try:
            opened = service_keys.open_service_key(self._stored, self.place, of=SIGN_IN_KIND)
        except service_keys.KeyLost:
            opened = ""
        if not opened:
            raise GrantRefused("nobody is signed in")
        return IssuedTokens.model_validate_json(opened)

    def keep(self, grant: "IssuedTokens") -> None:
        """Store the renewed grant, unless somebody signed out or in again meanwhile."""
        read = McpService.objects.filter(pk=self.service_id, encrypted_sign_in=self._stored)
        read.update(encrypted_sign_in=seal_grant(grant, self.place))

    @asynccontextmanager
    async def _hold_renewal_lock(self) -> AsyncIterator[None]:
        """Let one process renew at a time: many issuers accept a refresh token only once."""
        key = f"mcp-sign-in-renewal:{self.service_id}"
        while not await cache.aadd(key, 1, RENEWS_S):  # noqa: ASYNC110 - held by another process
            await asyncio.sleep(LOOKS_S)
        try:
            yield
        finally:
            await cache.adelete(key)


def seal_grant(grant: "IssuedTokens", place: str) -> str:
    """Seal a grant for this place alone."""
    return service_keys.seal_service_key(grant.model_dump_json(), place, of=SIGN_IN_KIND)
