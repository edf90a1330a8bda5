"""A service with a tool that gives its own tokens to whoever signs in: the SDK's resource and authorization server in a process of its own.

`python -m tests.mcp_authorization OPTIONS`, where OPTIONS is the JSON of `Options`; its first line says where it is. Whoever comes to it is
`mei` and consents. What it was asked for is at /heard.
"""

import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

ROOT = Path(__file__).resolve().parent.parent
SCOPE = "tickets"


@dataclass
class Options:
    """lives_s: a token. registers: whether programs make themselves known. known: {"client_id", "client_secret", "redirect_uris"}."""

    lives_s: int = 300
    registers: bool = True
    refuses: bool = False
    known: dict[str, Any] | None = None
    way: str = "http"


@dataclass
class Signing(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """In memory. A refresh token is taken once: sent again, all tokens of its client end (RFC 9700)."""

    options: Options
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)
    spent: set[str] = field(default_factory=set)
    heard: list[str] = field(default_factory=list)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.heard.append(f"registered {client_info.client_name} {client_info.redirect_uris}")
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if self.options.refuses:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [SCOPE],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject="mei",
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        self.heard.append("code")
        return self._given(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        if refresh_token in self.spent:
            self.heard.append("stolen")
            self.access.clear()
            self.refresh.clear()
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.spent.add(refresh_token.token)
        self.heard.append("refresh")
        return self._given(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _given(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        token, refresh = (f"{kind}-{secrets.token_urlsafe(24)}" for kind in ("access", "refresh"))
        of: dict[str, Any] = {"client_id": client_id, "scopes": scopes, "resource": resource, "subject": "mei"}
        self.access[token] = AccessToken(token=token, expires_at=int(time.time()) + self.options.lives_s, **of)
        self.refresh[refresh] = RefreshToken(token=refresh, **of)
        return OAuthToken(
            access_token=token, refresh_token=refresh, expires_in=self.options.lives_s, scope=" ".join(scopes)
        )


def application_of(url: str, options: Options) -> Any:
    base, provider = url.rpartition("/")[0], Signing(options)
    if options.known:
        known = OAuthClientInformationFull(
            scope=SCOPE, token_endpoint_auth_method="client_secret_basic", **options.known
        )
        provider.clients[known.client_id] = known
    addresses: dict[str, Any] = {"issuer_url": base, "resource_server_url": url}
    registers = ClientRegistrationOptions(
        enabled=options.registers, valid_scopes=[SCOPE, "wide"], default_scopes=[SCOPE]
    )
    server = MCPServer(
        "tickets",
        auth_server_provider=provider,
        auth=AuthSettings(
            **addresses, client_registration_options=registers, required_scopes=[SCOPE], validate_token_resource=True
        ),
    )

    @server.tool()
    def find_tickets(words: str) -> str:
        """Find tickets by words."""
        return f"Ticket 4711 about {words}: the printer on floor 3 is out of order since Monday."

    @server.custom_route("/heard", ["GET"])  # type: ignore[untyped-decorator]  # of the SDK
    async def heard(_request: Request) -> Response:
        scopes = [token.scopes for token in provider.access.values()]
        return JSONResponse({"heard": provider.heard, "scopes": scopes})

    @server.custom_route("/end", ["POST"])  # type: ignore[untyped-decorator]  # of the SDK
    async def end(request: Request) -> Response:
        """All tokens end; those that renew them, too, where `all` is asked for."""
        provider.access.clear()
        if "all" in request.query_params:
            provider.refresh.clear()
        return JSONResponse({})

    @server.custom_route("/anew", ["POST"])  # type: ignore[untyped-decorator]  # of the SDK
    async def anew(request: Request) -> Response:
        """Forget all but the clients that are known from the start; take other options of those that are read meanwhile."""
        for kept in (provider.access, provider.refresh, provider.spent, provider.heard):
            kept.clear()
        provider.options = Options(**await request.json())
        return JSONResponse({})

    return server.sse_app() if options.way == "sse" else server.streamable_http_app()


@dataclass(frozen=True)
class Signed:
    """Where it is."""

    url: str

    def at(self, path: str) -> str:
        return self.url.rpartition("/")[0] + path

    def heard(self) -> list[str]:
        found: list[str] = httpx2.get(self.at("/heard"), timeout=30).json()["heard"]
        return found

    def scopes(self) -> list[list[str]]:
        found: list[list[str]] = httpx2.get(self.at("/heard"), timeout=30).json()["scopes"]
        return found

    def end(self, *, with_renewal: bool = False) -> None:
        httpx2.post(self.at("/end?all" if with_renewal else "/end"), timeout=30)

    def anew(self, **options: Any) -> None:
        """Forget what was, and go on with `lives_s` and `refuses` of these."""
        httpx2.post(self.at("/anew"), json=asdict(Options(**options)), timeout=30).raise_for_status()


@contextmanager
def serving(**options: Any) -> Iterator[Signed]:
    """As `Options`."""
    command = [sys.executable, "-m", "tests.mcp_authorization", json.dumps(asdict(Options(**options)))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield Signed(process.stdout.readline().strip())
        finally:
            process.kill()


def main() -> None:
    options = Options(**json.loads(sys.argv[1]))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(16)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/{'sse' if options.way == 'sse' else 'mcp'}"
    application = application_of(url, options)
    print(url, flush=True)
    uvicorn.Server(uvicorn.Config(application, log_level="error", ws="none")).run(sockets=[listening])


if __name__ == "__main__":
    main()
