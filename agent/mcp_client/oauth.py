"""Tokens for a service, from the issuer that an administrator named: asked for when they are needed, kept sealed until they end."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.utils.crypto import salted_hmac

from agent import service_keys

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

KIND = "mcp service token"  # that is sealed
LONGEST_S, SHORTEST_S = 3_600, 300  # that a token is kept; where its issuer does not say how long it lives
MARGIN_S = 30  # before its end


@dataclass(frozen=True)
class OAuthClient:
    """This site as a client of an issuer (client credentials). scope: by spaces; "" for what the service asks for."""

    issuer: str
    client_id: str
    scope: str = ""
    secret: str = field(default="", repr=False)

    def auth(self, url: str) -> "httpx2.Auth":
        """Adds the token for a service. The secret goes to this issuer alone, whatever the service names."""
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

        return ClientCredentialsOAuthProvider(
            server_url=url,
            storage=_Kept(self, url),
            client_id=self.client_id,
            client_secret=self.secret,
            scope=self.scope or None,
            issuer=self.issuer,
        )


class _Kept:
    """Where the SDK looks for a token: one for each service, client and secret."""

    def __init__(self, client: OAuthClient, url: str) -> None:
        told = json.dumps((url, client.issuer, client.client_id, client.scope, client.secret))
        self.key = f"mcp-token:{salted_hmac(KIND, told, algorithm='sha256').hexdigest()}"

    async def get_tokens(self) -> "OAuthToken | None":
        from mcp.shared.auth import OAuthToken

        stored = await cache.aget(self.key)
        try:
            return OAuthToken.model_validate_json(service_keys.opened(stored, self.key, of=KIND)) if stored else None
        except service_keys.KeyLost:
            return None

    async def set_tokens(self, tokens: "OAuthToken") -> None:
        lives_s = min(tokens.expires_in or SHORTEST_S, LONGEST_S) - MARGIN_S
        if lives_s > 0:
            sealed = service_keys.sealed(tokens.model_dump_json(), self.key, of=KIND)
            await cache.aset(self.key, sealed, lives_s)

    async def get_client_info(self) -> "OAuthClientInformationFull | None":
        return None  # it is named, not registered

    async def set_client_info(self, client_info: "OAuthClientInformationFull") -> None:
        """Nothing to keep."""


def is_refusal(error: BaseException) -> bool:
    """Whether the issuer is what went wrong."""
    from mcp.client.auth import OAuthFlowError

    return isinstance(error, OAuthFlowError)
