"""A small OpenID Connect issuer on this machine: discovery, keys, registration, authorisation, token and userinfo over real HTTP, with
really signed tokens. Whoever comes to it is `person` and consents."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "copilot", "a secret of the tests"


@cache
def own_key() -> rsa.RSAPrivateKey:
    """Made once for all tests of a process: it costs as much as all the rest of a sign-in."""
    return rsa.generate_private_key(65537, 2048)


@dataclass
class Issuer:
    """What it says of the person who signs in; a test changes it. claims: of both ID token and userinfo.

    id_token_extra, userinfo_extra: what only one of them says. signed_by: another key than the one it publishes.
    """

    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "preferred_username": "mei"})
    id_token_extra: dict[str, Any] = field(default_factory=dict)
    userinfo_extra: dict[str, Any] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(default_factory=own_key)
    signed_by: rsa.RSAPrivateKey | None = None
    kid: str = "k1"
    refuses: bool = False
    url: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)  # all that each request said
    programs: list[str] = field(default_factory=list)  # clients without a secret, as they registered themselves

    def get(self, path: str, query: dict[str, str], headers: Any) -> tuple[int, Any]:
        """Status and JSON, or 302 and an address."""
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo",
                     "jwks_uri": "keys", "registration_endpoint": "register"}  # fmt: skip
            can = {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
            return 200, {"issuer": self.url, **can, **{name: f"{self.url}/{at}" for name, at in names.items()}}
        if path == "/keys":
            jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return 200, {"keys": [{**jwk, "kid": self.kid, "alg": "RS256", "use": "sig"}]}
        if path == "/authorize":
            answer = {"error": "access_denied"} if self.refuses else {"code": self._code(query)}
            return 302, f"{query['redirect_uri']}?{urlencode({**answer, 'state': query['state']})}"
        if path == "/userinfo" and headers.get("Authorization") == "Bearer access":
            return 200, {**self.claims, **self.userinfo_extra}
        return 404, {}

    def post(self, form: dict[str, str]) -> tuple[int, Any]:
        """The token endpoint; refuses a wrong secret, a used code, and a verifier that does not belong to it."""
        if form.get("grant_type") == "client_credentials":
            return self._for_itself(form)
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_known = (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        if not is_known and form.get("client_id") not in self.programs:
            return 401, {"error": "invalid_client"}
        if asked is None or asked.get("code_challenge") != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **self.claims, **self.id_token_extra}
        access = self.access_token(asked["resource"]) if "resource" in asked else "access"
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": self.signed(claims)}

    def _for_itself(self, form: dict[str, str]) -> tuple[int, Any]:
        """A token for a program as itself."""
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        access = self.access_token(form["resource"], sub=CLIENT_ID, scope=form.get("scope", ""))
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 300}

    def register(self, wanted: dict[str, Any]) -> tuple[int, Any]:
        """A program makes itself known (RFC 7591)."""
        self.programs.append(f"program-{len(self.programs) + 1}")
        return 201, {**wanted, "client_id": self.programs[-1], "token_endpoint_auth_method": "none"}

    def access_token(self, audience: str, **more: Any) -> str:
        """Of the person, for this address; more: claims that replace or add to what it says."""
        now = int(time.time())
        said = {"iss": self.url, "aud": [audience], "sub": self.claims["sub"], "iat": now, "exp": now + 300}
        return self.signed({**said, **more})

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.signed_by or self.key, algorithm="RS256", headers={"kid": self.kid})

    def _code(self, query: dict[str, str]) -> str:
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        return code


@contextmanager
def running(issuer: Issuer) -> Iterator[Issuer]:
    """Serve it on a free port of this machine; `issuer.url` leads to it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            issuer.heard.append(f"{self.path}\n{self.headers}")
            self.answer(*issuer.get(parts.path, dict(parse_qsl(parts.query)), self.headers))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            issuer.heard.append(f"{self.path}\n{self.headers}{body}")
            if self.path == "/register":
                self.answer(*issuer.register(json.loads(body)))
            else:
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer(*issuer.post(form | self.basic()))

        def basic(self) -> dict[str, str]:
            """Client and secret, where they stand in the header."""
            scheme, _space, packed = self.headers.get("Authorization", "").partition(" ")
            if scheme != "Basic":
                return {}
            client, _colon, secret = base64.b64decode(packed).decode().partition(":")
            return {"client_id": unquote(client), "client_secret": unquote(secret)}

        def answer(self, status: int, body: Any) -> None:
            data = b"" if status == 302 else json.dumps(body).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", body)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """A test says what it saw by itself."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield issuer
        server.shutdown()
        thread.join()
