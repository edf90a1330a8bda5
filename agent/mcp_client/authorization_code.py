"""The SDK's authorization code flow with PKCE, in three independent parts: discovery, code exchange, renewal.

The state between them is a `IssuedTokens`. This module imports the SDK, so import it only where it is used.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlencode

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, PKCEParameters, TokenStorage
from mcp.client.auth.utils import issuers_match, validate_authorization_response_iss
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl, BaseModel

PROGRAM = "Enterprise Knowledge Copilot"  # client name shown by the issuer
MARGIN_S = 30  # before its end, a token is renewed


class IssuedTokens(BaseModel):
    """Tokens of an issuer, with what is needed to renew them. verifier: of PKCE, until the code has come.

    ends_at: of the token, in seconds since 1970; None: unknown.
    """

    client: OAuthClientInformationFull
    metadata: OAuthMetadata
    callback: str
    resource: ProtectedResourceMetadata | None = None
    scope: str | None = None
    verifier: str = ""
    tokens: OAuthToken | None = None
    ends_at: float | None = None

    def may_send(self, refused: str) -> bool:
        """Return whether there is a valid token other than the refused one."""
        is_there = self.tokens is not None and self.tokens.access_token != refused
        return is_there and (self.ends_at is None or time.time() < self.ends_at - MARGIN_S)


class Scoped(OAuthClientMetadata):
    """Requests the configured scopes, if any, instead of those that the service asks for."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "scope" or not self.scope:
            super().__setattr__(name, value)


class NotWanted(OAuthFlowError):
    """The service answers without a token."""


class NoPkce(OAuthFlowError):
    """The issuer does not support PKCE with S256, which is required."""


class GrantRefused(OAuthFlowError):
    """The token is no longer accepted, and cannot be renewed."""


class _Nowhere(TokenStorage):
    """A no-op storage: the callers store grants."""

    async def get_tokens(self) -> None: ...
    async def set_tokens(self, tokens: OAuthToken) -> None: ...
    async def get_client_info(self) -> None: ...
    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None: ...


class Beginning(OAuthClientProvider):
    """Discovers a service's issuer (RFC 9728, 8414), registers a client (RFC 7591), and finds the sign-in address."""

    def __init__(
        self, url: str, callback: str, *, scope: str = "", issuer: str = "", client_id: str = "", secret: str = ""
    ) -> None:
        """Set up the discovery. issuer: "" for the one that the service names; client_id: "" to register a client."""
        super().__init__(url, _build_client_metadata(callback, scope), _Nowhere())
        self.callback, self.issuer, self.secret = callback, issuer, secret
        self.known = OAuthClientInformationFull(client_id=client_id, issuer=issuer) if client_id else None
        self.grant: IssuedTokens | None = None
        self.address = ""  # that the person's browser goes to, without the state

    async def begin(self, http: httpx2.AsyncClient, *, by_sse: bool) -> IssuedTokens:
        """Call the service unauthenticated and follow the discovery.

        Raises OAuthFlowError; NotWanted where no token is needed.
        """
        headers = {
            "Accept": "application/json, text/event-stream",
            MCP_PROTOCOL_VERSION_HEADER: LATEST_PROTOCOL_VERSION,
        }
        message = None if by_sse else {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        asked = http.build_request("GET" if by_sse else "POST", self.context.server_url, headers=headers, json=message)
        flow = self.async_auth_flow(asked)
        request = await anext(flow)
        try:
            while self.grant is None:
                response = await http.send(request, stream=request is asked)  # only its status counts
                if request is asked:
                    await response.aclose()
                    if response.status_code not in {
                        400,
                        401,
                    }:  # 400: it reads what nobody in particular sends, and dislikes it
                        response.raise_for_status()
                request = await flow.asend(response)
        except StopAsyncIteration:
            raise NotWanted("it answers without a token") from None
        finally:
            await flow.aclose()
        return self.grant

    async def _initialize(self) -> None:
        self.context.client_info = self.known
        self._initialized = True

    def _select_authorization_server(self, advertised: list[str]) -> str:
        for server in advertised:
            if not self.issuer or issuers_match(server, self.issuer):
                return server
        raise OAuthFlowError("the service names other issuers")

    async def _perform_authorization(self) -> httpx2.Request:
        """Store the grant and the address instead of waiting for the person, who returns in another request."""
        metadata, client = self.context.oauth_metadata, self.context.client_info
        if metadata is None or client is None or (self.issuer and not issuers_match(str(metadata.issuer), self.issuer)):
            raise OAuthFlowError("no metadata of the issuer")
        if "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise NoPkce("no S256")
        if client is self.known:
            client = client.model_copy(
                update=self._choose_client_authentication(metadata.token_endpoint_auth_methods_supported)
            )
        pkce, scope = PKCEParameters.generate(), self.context.client_metadata.scope
        self.grant = IssuedTokens(
            client=client,
            metadata=metadata,
            callback=self.callback,
            resource=self.context.protected_resource_metadata,
            scope=scope,
            verifier=pkce.code_verifier,
        )
        asked = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": self.callback,
            "code_challenge": pkce.code_challenge,
            "code_challenge_method": "S256",
            "resource": self.context.get_resource_url(),
        }
        if scope:
            asked["scope"] = scope
        if "offline_access" in (scope or "").split():
            asked["prompt"] = "consent"  # required by OpenID Connect for it
        endpoint = str(metadata.authorization_endpoint)
        self.address = f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"
        return httpx2.Request("GET", self.address)  # never sent from here

    def _choose_client_authentication(self, taken: list[str] | None) -> dict[str, str]:
        """Return how a configured client authenticates: in the header where the issuer does not say (RFC 8414)."""
        if not self.secret:
            return {"token_endpoint_auth_method": "none"}
        by = "basic" if taken is None or "client_secret_basic" in taken else "post"
        return {"token_endpoint_auth_method": f"client_secret_{by}", "client_secret": self.secret}


class GrantedProvider(OAuthClientProvider):
    """Has a grant. Its secrets are sent only to its issuer, whatever the service names later."""

    grant: IssuedTokens

    def __init__(self, url: str) -> None:
        super().__init__(url, OAuthClientMetadata(redirect_uris=None), _Nowhere())

    async def exchanged(
        self, http: httpx2.AsyncClient, grant: IssuedTokens, *, code: str, issuer: str | None
    ) -> IssuedTokens:
        """Exchange a code for tokens, and return the grant with them. issuer: as the answer named it (RFC 9207). Raises OAuthFlowError."""
        self._apply_grant(grant)
        validate_authorization_response_iss(issuer, grant.metadata)
        request = await self._exchange_token_authorization_code(code, grant.verifier)
        await self._handle_token_response(await http.send(request))
        return self._build_successor_grant()

    def _apply_grant(self, grant: IssuedTokens) -> None:
        self.grant, context = grant, self.context
        context.client_info, context.current_tokens = grant.client, grant.tokens
        context.oauth_metadata, context.protected_resource_metadata = grant.metadata, grant.resource
        context.client_metadata = _build_client_metadata(grant.callback, grant.scope)

    def _build_successor_grant(self) -> IssuedTokens:
        """Return the grant with the tokens just received."""
        tokens = self.context.current_tokens
        ends_at = time.time() + tokens.expires_in if tokens is not None and tokens.expires_in is not None else None
        self._apply_grant(self.grant.model_copy(update={"tokens": tokens, "ends_at": ends_at, "verifier": ""}))
        return self.grant


class Renewing(GrantedProvider):
    """Adds a grant's token to requests, and renews it when it expires or is refused early."""

    def __init__(
        self,
        url: str,
        *,
        read: Callable[[], Awaitable[IssuedTokens]],
        keep: Callable[[IssuedTokens], Awaitable[None]],
        alone: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        """Set up the renewal. read, keep: load and store the grant.

        alone: a lock; while one process renews, others wait and use its result.
        """
        super().__init__(url)
        self.read, self.keep, self.alone = read, keep, alone

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        refused = ""
        while True:
            self._apply_grant(await self.read())
            if not self.grant.may_send(refused):
                async with self.alone():
                    self._apply_grant(await self.read())
                    if not self.grant.may_send(refused):
                        await self._store_renewed_tokens((yield await self._build_renewal_request()))
            self._add_auth_header(request)
            response = yield request
            if response.status_code != 401:
                return
            if refused or self.grant.tokens is None:
                raise GrantRefused("a new token is refused, too")
            refused = self.grant.tokens.access_token

    async def _build_renewal_request(self) -> httpx2.Request:
        if not self.context.can_refresh_token():
            raise GrantRefused("the issuer gave nothing to renew it with")
        return await self._refresh_token()

    async def _store_renewed_tokens(self, response: httpx2.Response) -> None:
        if response.status_code in {400, 401}:
            raise GrantRefused("the issuer renews it no more")
        if not await self._handle_refresh_response(response):
            raise OAuthFlowError("the issuer did not answer as it should")
        await self.keep(self._build_successor_grant())


def _build_client_metadata(callback: str, scope: str | None) -> OAuthClientMetadata:
    """Return the client metadata of this site for an issuer."""
    return Scoped(redirect_uris=[AnyUrl(callback)], client_name=PROGRAM, application_type="web", scope=scope or None)
