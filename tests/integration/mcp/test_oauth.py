"""`/mcp` with the company's sign-in: where a program is sent, what its token opens, and which tokens open nothing."""

import asyncio
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.test import override_settings
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from audit.models import Entry
from authz.access_tokens import RECORDED_EVERY_S
from authz.people.accounts import create_service_account
from authz.principal import Principal
from copilot_site.lib.errors import NotFound
from tests.factories import make_user
from tests.integration.client.desk import PATIENT_S, Desk
from tests.integration.mcp.programs import called, names, text_of
from tests.integration.mcp.test_server import FIRST, SEARCHING
from tests.oidc_issuer import CLIENT_ID, Issuer

METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture
def linked(desk: Desk, issuer: Issuer) -> Desk:
    """The reader of the desk has signed in with the company's account once."""
    cache.clear()
    SocialAccount.objects.create(user=desk.reader, provider="company", uid=issuer.claims["sub"])
    return desk


def asked(desk: Desk, token: str, **headers: str) -> httpx.Response:
    return httpx.post(
        f"{desk.url}/mcp",
        json=FIRST,
        headers={"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream", **headers},
        timeout=PATIENT_S,
    )


class Kept:
    """What a program remembers."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def by_itself(url: str) -> tuple[list[str], list[str]]:
    """A program that knows nothing but our address: the tools that it is offered, and where it went to sign in."""
    went: list[str] = []

    async def browser(address: str) -> None:
        went.append(address)

    async def back() -> AuthorizationCodeResult:
        async with httpx2.AsyncClient() as person:
            answer = await person.get(went[-1])
        said = parse_qs(urlsplit(answer.headers["Location"]).query)
        return AuthorizationCodeResult(code=said["code"][0], state=said["state"][0])

    async def run() -> list[str]:
        wants = OAuthClientMetadata(
            redirect_uris=["http://127.0.0.1:1/back"],  # type: ignore[list-item]  # read by pydantic
            client_name="a program",
            token_endpoint_auth_method="none",
        )
        signs_in = OAuthClientProvider(f"{url}/mcp", wants, Kept(), browser, back)
        async with (
            httpx2.AsyncClient(auth=signs_in, timeout=PATIENT_S) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    return asyncio.run(run()), went


def test_a_program_that_knows_our_address_alone_signs_in_and_comes_as_the_person(linked: Desk, issuer: Issuer) -> None:
    tools, (went,) = by_itself(linked.url)
    assert tools == ["ask", *SEARCHING]
    assert went.startswith(f"{issuer.url}/authorize?")
    assert parse_qs(urlsplit(went).query)["resource"] == [f"{linked.url}/mcp"]


def test_such_a_token_finds_what_the_person_may_read_and_it_is_recorded(linked: Desk, issuer: Issuer) -> None:
    token = issuer.access_token(f"{linked.url}/mcp")
    for _time in range(2):
        found = called(linked.url, token, "knowledge_search", {"queries": ["annual leave", "salary"]})
        assert {row["knowledge_id"] for row in found.structured_content["results"]} == {str(linked.manual.pk)}
        assert "420,000" not in text_of(found)
    shown = Entry.objects.filter(action="evidence.shown")
    assert {entry.actor_id for entry in shown} == {linked.reader.pk}
    (used,) = Entry.objects.filter(action="token.used")
    assert (used.actor_id, used.detail) == (linked.reader.pk, {"sign_in": "company"})
    assert RECORDED_EVERY_S == 3_600
    asked_back = called(linked.url, token, "ask", {"question": "How many days of annual leave are there?"})
    assert "30 days" in text_of(asked_back)


def test_a_token_opens_the_scopes_that_it_names_at_one_address_alone(linked: Desk, issuer: Issuer) -> None:
    at = f"{linked.url}/mcp"
    assert names(linked.url, issuer.access_token(at, scope="openid search")) == SEARCHING
    assert names(linked.url, issuer.access_token(at, scp=["chat"])) == ["ask"]
    assert names(linked.url, issuer.access_token(at, scope="openid profile ingest")) == ["ask", *SEARCHING]
    assert names(linked.url, linked.secret) == ["ask", *SEARCHING], "tokens of ours work as before"
    headers = {"Authorization": f"Bearer {issuer.access_token(at)}"}
    assert httpx.get(f"{linked.url}/api/v1/documents", headers=headers, timeout=PATIENT_S).status_code == 401
    assert httpx.get(f"{linked.url}/v1/models", headers=headers, timeout=PATIENT_S).status_code == 401


REFUSED: dict[str, tuple[Callable[[Desk, Issuer], str], str]] = {
    "for another address": (lambda desk, issuer: issuer.access_token("https://other.example/mcp"), "not for"),
    "an ID token of ours": (lambda desk, issuer: issuer.access_token(CLIENT_ID), "not for"),
    "for nobody": (lambda desk, issuer: issuer.access_token(f"{desk.url}/mcp", aud=[]), "not for|cannot be used"),
    "expired": (lambda desk, issuer: issuer.access_token(f"{desk.url}/mcp", exp=int(time.time()) - 90), "expired"),
    "without an end": (lambda desk, issuer: issuer.access_token(f"{desk.url}/mcp", exp=None), "cannot be used"),
    "of another issuer": (lambda desk, issuer: issuer.access_token(f"{desk.url}/mcp", iss="https://x.example"), "not set up"),
    "of a stranger": (lambda desk, issuer: issuer.access_token(f"{desk.url}/mcp", sub="u-2"), "Sign in to this site"),
    "no token": (lambda desk, issuer: "a.b.c", "cannot be read"),
}  # fmt: skip


def test_a_token_that_is_not_for_us_opens_nothing_and_the_answer_says_where_to_sign_in(
    linked: Desk, issuer: Issuer
) -> None:
    for make, sentence in REFUSED.values():
        answer = asked(linked, make(linked, issuer))
        assert answer.status_code == 401
        assert any(part in answer.json()["detail"] for part in sentence.split("|")), answer.json()["detail"]
        assert answer.headers["WWW-Authenticate"] == f'Bearer resource_metadata="{linked.url}{METADATA}/mcp"'


def test_new_keys_of_the_issuer_are_read_but_not_for_each_token_that_names_one(
    linked: Desk, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = f"{linked.url}/mcp"
    assert asked(linked, issuer.access_token(at)).status_code == 200
    key, issuer.signed_by = issuer.signed_by, rsa.generate_private_key(65537, 2048)
    assert asked(linked, issuer.access_token(at)).status_code == 401, "somebody else signed it"
    issuer.signed_by, issuer.kid = key, "k2"
    before = len(issuer.heard)
    assert [asked(linked, issuer.access_token(at)).status_code for _time in range(3)] == [401] * 3
    assert len(issuer.heard) == before, "an unknown key asks the issuer again and again"
    monkeypatch.setattr("authz.access_tokens.KEYS_READ_EVERY_S", 0)
    assert asked(linked, issuer.access_token(at)).status_code == 200


def test_a_disabled_person_and_a_service_account_are_refused_and_recorded(linked: Desk, issuer: Issuer) -> None:
    token = issuer.access_token(f"{linked.url}/mcp")
    narrow = Principal.of(linked.reader).narrowed(scopes=frozenset({"search"}), folder_id=None)
    assert narrow.again().scopes == frozenset({"search"})
    linked.reader.is_active = False
    linked.reader.save()
    with pytest.raises(NotFound):
        narrow.again()
    assert "disabled" in asked(linked, token).json()["detail"]
    assert Entry.objects.get(action="token.refused").target_id == str(linked.reader.pk)
    root = Principal.of(make_user(is_superuser=True))
    program = create_service_account(root, username="robot", purpose="tests").user
    SocialAccount.objects.create(user=program, provider="company", uid="u-9")
    assert asked(linked, issuer.access_token(f"{linked.url}/mcp", sub="u-9")).status_code == 401


def test_an_issuer_that_does_not_answer_is_our_503(linked: Desk, issuer: Issuer, settings: Any) -> None:
    token = issuer.access_token(f"{linked.url}/mcp", iss="http://127.0.0.1:9")
    providers = settings.SOCIALACCOUNT_PROVIDERS
    providers["openid_connect"]["APPS"][0]["settings"]["server_url"] = "http://127.0.0.1:9"
    with override_settings(SOCIALACCOUNT_PROVIDERS=providers):
        answer = asked(linked, token)
        assert answer.status_code == 503
        assert httpx.get(linked.url + METADATA, timeout=PATIENT_S).json()["authorization_servers"] == [
            "http://127.0.0.1:9"
        ]


def test_the_metadata_says_who_gives_tokens_where_somebody_does(linked: Desk, issuer: Issuer) -> None:
    for path in (METADATA, f"{METADATA}/mcp"):
        said = httpx.get(linked.url + path, timeout=PATIENT_S).json()
        assert said["resource"] == f"{linked.url}/mcp"
        assert said["authorization_servers"] == [issuer.url]
    with override_settings(SITE_URL="https://copilot.example.com"):
        said = httpx.get(linked.url + METADATA, timeout=PATIENT_S).json()
        assert said["resource"] == "https://copilot.example.com/mcp"
        assert asked(linked, issuer.access_token(f"{linked.url}/mcp")).status_code == 401
        assert asked(linked, issuer.access_token("https://copilot.example.com/mcp")).status_code == 200


def test_without_a_sign_in_or_a_name_of_its_own_the_site_takes_its_own_tokens_alone(
    linked: Desk, issuer: Issuer
) -> None:
    changes: list[dict[str, Any]] = [{"SOCIALACCOUNT_PROVIDERS": {}}, {"ALLOWED_HOSTS": ["*"], "SITE_URL": ""}]
    for change in changes:
        with override_settings(**change):
            assert httpx.get(linked.url + METADATA, timeout=PATIENT_S).status_code == 404
            answer = asked(linked, issuer.access_token(f"{linked.url}/mcp"))
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert asked(linked, linked.secret).status_code == 200
