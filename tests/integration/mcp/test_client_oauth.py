"""Services that want a token of an issuer: the SDK's own server, guarded, and an issuer over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from agent.mcp_client.address import ServiceUnusable, build_service_address
from agent.mcp_client.services import fetch_service_tools, save_service
from agent.models import McpService
from audit.models import Entry
from copilot_site.lib.errors import CopilotError, InvalidInput
from tests.integration.mcp.outside import administrator
from tests.integration.mcp.test_client import FIND, called
from tests.mcp_service import Service, serving_tools
from tests.oidc_issuer import CLIENT_ID, CLIENT_SECRET, Issuer, running

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def gives() -> Iterator[Issuer]:
    cache.clear()
    with running(Issuer()) as issuer:
        yield issuer


@pytest.fixture
def guarded(gives: Issuer) -> Iterator[Service]:
    with serving_tools(issuer=gives) as service:
        yield service


def set_up(service: Service, issuer: Issuer, *, secret: str = CLIENT_SECRET, **more: Any) -> McpService:
    named = {"oauth_issuer": issuer.url, "oauth_client_id": CLIENT_ID, "transport": "http"}
    row = McpService(name="desk", url=service.url, **{**named, **more})
    save_service(administrator(), row, secret=secret)
    return row


def tokens_asked(issuer: Issuer) -> list[str]:
    return [said for said in issuer.heard if said.startswith("/token")]


def kept_tokens() -> list[str]:
    keys = cache._cache.get_client().scan_iter("*mcp-token:*")  # type: ignore[attr-defined]  # of the Redis backend
    return [str(cache.get(key.decode().partition(":1:")[2])) for key in keys]


def test_a_service_is_used_with_a_token_of_the_issuer_which_is_kept_sealed_until_it_ends(
    guarded: Service, gives: Issuer
) -> None:
    row = set_up(guarded, gives, oauth_scope="tickets wide")
    assert fetch_service_tools(administrator(), row) == 3
    row.refresh_from_db()
    row.allowed_tools = row.unasked_tools = ["find_tickets"]
    save_service(None, row)
    for _time in range(2):
        assert "floor 3" in called(FIND, {"words": "printer"}).result.output
    (asked,) = tokens_asked(gives)
    assert "grant_type=client_credentials" in asked
    assert "scope=tickets+wide" in asked
    assert all(header.startswith("Bearer ey") for header in guarded.authorizations)
    assert CLIENT_SECRET not in "".join(guarded.authorizations)
    client = build_service_address(row).oauth
    assert client is not None
    assert CLIENT_SECRET not in row.encrypted_secret + repr(client)
    (kept,) = kept_tokens()
    assert "ey" not in kept[:3]
    assert "access_token" not in kept


def test_a_wrong_secret_is_refused_and_a_secret_goes_to_the_issuer_that_was_entered_alone(
    guarded: Service, gives: Issuer
) -> None:
    row = set_up(guarded, gives, secret="wrong")
    with pytest.raises(ServiceUnusable, match="issuer of tokens for “desk” gave none"):
        fetch_service_tools(administrator(), row)
    McpService.objects.all().delete()
    before = tokens_asked(gives)
    with running(Issuer()) as ours:
        row = set_up(guarded, ours)
        with pytest.raises(ServiceUnusable):
            fetch_service_tools(administrator(), row)
        assert tokens_asked(gives) == before, "the service led the secret to another issuer"
        assert not tokens_asked(ours)


def test_a_secret_is_forgotten_where_the_place_that_it_is_for_changes(gives: Issuer) -> None:
    for changed in ("oauth_issuer", "oauth_client_id", "url"):
        row = McpService(name=changed, url="http://127.0.0.1:1/mcp", oauth_issuer=gives.url, oauth_client_id=CLIENT_ID)
        save_service(administrator(), row, secret=CLIENT_SECRET)
        row.oauth_scope = "tickets"
        assert not save_service(administrator(), row)
        assert row.encrypted_secret
        setattr(row, changed, "http://127.0.0.1:2" if changed != "oauth_client_id" else "other")
        assert save_service(administrator(), row), "the page says so"
        assert row.encrypted_secret == ""
        assert gives.url in Entry.objects.filter(action="agent.changed").latest("id").detail["address_before"]


HALF: list[dict[str, str]] = [
    {"oauth_issuer": "http://127.0.0.1:1"},
    {"oauth_client_id": "x"},
    {"oauth_issuer": "http://169.254.169.254", "oauth_client_id": "x"},
    {"transport": "local", "url": "", "oauth_issuer": "http://127.0.0.1:1", "oauth_client_id": "x"},
]


def test_half_an_issuer_and_one_that_is_not_allowed_are_refused() -> None:
    for fields in HALF:
        row = McpService(**{"name": "desk", "url": "http://127.0.0.1:1/mcp", **fields})
        with pytest.raises((InvalidInput, CopilotError)):
            save_service(administrator(), row)
    assert not McpService.objects.exists()
