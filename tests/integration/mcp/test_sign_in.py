"""Services that an administrator signs in to: the SDK's authorization server in a process of its own, our pages, its tools afterwards."""

import asyncio
import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agent.mcp_client.address import ServiceUnusable, build_service_address
from agent.mcp_client.connection import ask_service
from agent.mcp_client.oauth import SignedIn
from agent.mcp_client.services import fetch_service_tools, save_service
from agent.mcp_client.sign_in import begin_sign_in
from agent.models import McpService
from audit.models import Entry
from copilot_site.lib.errors import CopilotError, InvalidInput
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.integration.mcp.outside import administrator
from tests.integration.mcp.test_client import FIND, called
from tests.mcp_authorization import Signed, serving
from tests.mcp_service import serving_tools
from tests.oidc_issuer import Issuer, running

pytestmark = pytest.mark.django_db(transaction=True)
CALLBACK = "http://testserver/admin/mcp-services/callback/"
FORM = {
    "name": "desk",
    "transport": "http",
    "header_name": "Authorization",
    "oauth_grant": "authorization_code",
    "is_enabled": "on",
}


@pytest.fixture
def root() -> Client:
    cache.clear()
    return client_of(make_user("root", is_superuser=True))


@pytest.fixture(scope="module")
def service() -> Iterator[Signed]:
    with serving() as served:
        yield served


@pytest.fixture
def signing(service: Signed) -> Signed:
    service.anew()
    return service


def entered(signing: Signed, **fields: Any) -> McpService:
    row = McpService(name="desk", url=signing.url, oauth_grant="authorization_code", **fields)
    save_service(None, row)
    return row


def said(answer: Any) -> str:
    """What the page says that an answer leads to."""
    return text_of(answer)


def pressed(browser: Client, row: McpService, what: str = "connect") -> Any:
    return browser.post(reverse(f"mcp-{what}", args=[row.pk]), follow=True)


def address_in(answer: Any) -> str:
    """Where the page leads to."""
    found = re.search(r'<a class="button default" href="([^"]+)"', answer.content.decode())
    assert found, text_of(answer)
    return unescape(found[1])


def consented(address: str) -> dict[str, str]:
    """What the issuer sends a browser back with, to our callback and nowhere else."""
    back = httpx2.get(address, timeout=30).headers["location"]
    assert back.partition("?")[0] == CALLBACK
    return dict(parse_qsl(urlsplit(back).query))


def connected(browser: Client, row: McpService) -> str:
    """What is said in the end."""
    answer = consented(address_in(pressed(browser, row)))
    page = browser.get(reverse("mcp-callback"), answer, follow=True)
    row.refresh_from_db()
    return said(page)


def may_be_used(row: McpService) -> McpService:
    row.refresh_from_db()
    row.allowed_tools = row.unasked_tools = ["find_tickets"]
    save_service(None, row)
    return row


def test_an_administrator_connects_a_service_and_its_tools_are_used_by_that_account(
    root: Client, signing: Signed
) -> None:
    page = root.post(reverse("admin:agent_mcpservice_add"), {**FORM, "url": signing.url}, follow=True)
    assert "Nobody is signed in to “desk” yet" in said(page)
    row = McpService.objects.get()
    shown = root.get(reverse("admin:agent_mcpservice_change", args=[row.pk]))
    assert CALLBACK in text_of(shown)
    page = pressed(root, row)
    host = urlsplit(signing.url).netloc
    assert f"sign in at {host}" in said(page)
    asked_for = parse_qs(urlsplit(address_in(page)).query)
    assert asked_for["code_challenge_method"] == ["S256"]
    assert (asked_for["redirect_uri"], asked_for["resource"]) == ([CALLBACK], [signing.url])
    page = root.get(reverse("mcp-callback"), consented(address_in(page)), follow=True)
    assert "Signed in to “desk”." in said(page)
    assert "“desk” has 1 tool." in said(page)
    assert "An administrator signed in at" in said(page)
    may_be_used(row)
    assert "floor 3" in called(FIND, {"words": "printer"}).result.output
    assert signing.heard() == [f"registered Enterprise Knowledge Copilot [AnyUrl('{CALLBACK}')]", "code"]
    details = [entry.detail for entry in Entry.objects.filter(action="agent.changed", actor_name="root")]
    assert {"signed_in": True, "issuer": signing.at("")} in details


def test_tokens_are_sealed_and_forgotten_where_what_they_are_for_changes(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    shown = root.get(reverse("admin:agent_mcpservice_change", args=[row.pk])).content.decode()
    kept = f"{McpService.objects.values().get(pk=row.pk)}{[item.detail for item in Entry.objects.all()]}{shown}"
    grant = SignedIn(row.pk, build_service_address(row).oauth.place).read()  # type: ignore[union-attr]  # of a sign-in
    assert grant.tokens
    for secret in (grant.tokens.access_token, grant.tokens.refresh_token, grant.client.client_secret):
        assert secret
        assert secret not in kept
    changes = {
        "url": signing.at("/other"),
        "oauth_issuer": signing.at(""),
        "oauth_grant": "client_credentials",
    }
    signed_in = {
        "url": signing.url, "oauth_issuer": "", "oauth_grant": "authorization_code", "encrypted_sign_in": "sealed",
        "signed_in_at": timezone.now(),
    }  # fmt: skip
    kept_row = McpService.objects.filter(pk=row.pk)
    for name, value in changes.items():
        kept_row.update(**signed_in)
        row.refresh_from_db()
        row.oauth_scope = "tickets"
        kept_row.update(encrypted_sign_in="renewed meanwhile")
        save_service(administrator(), row)
        row.refresh_from_db()
        assert row.encrypted_sign_in == "renewed meanwhile", "a renewal between reading and saving is not undone"
        setattr(row, name, value)
        save_service(administrator(), row)
        assert (row.encrypted_sign_in, row.signed_in_at) == ("", None)


def test_a_token_that_ends_is_renewed_and_one_that_ended_before_its_time_too(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    signing.end()
    addresses = [build_service_address(row) for _each in range(4)]

    async def at_once() -> list[Any]:
        return await asyncio.gather(*(ask_service(one, lambda client: client.list_tools()) for one in addresses))

    assert len(async_to_sync(at_once)()) == 4
    assert signing.heard()[1:] == ["code", "refresh"], "many who need a new token at once renew it once"
    signing.anew(lives_s=1)
    connected(root, row)
    assert fetch_service_tools(administrator(), row) == 1
    heard = {item for item in signing.heard() if not item.startswith("registered")}
    assert heard == {"code", "refresh"}, "no token was sent that was spent"


def test_a_sign_in_that_is_renewed_no_more_has_ended_and_one_that_was_signed_out_stays_so(
    root: Client, signing: Signed
) -> None:
    row = entered(signing)
    connected(root, row)
    signing.end(with_renewal=True)
    with pytest.raises(ServiceUnusable, match="sign-in to “desk” has ended"):
        fetch_service_tools(administrator(), row)
    assert "Signed in to “desk”." in connected(root, row)
    assert fetch_service_tools(administrator(), row) == 1
    row.refresh_from_db()
    held = build_service_address(row).oauth
    assert isinstance(held, SignedIn)
    grant = held.read()
    assert "Signed out of “desk”" in said(pressed(root, row, "disconnect"))
    held.keep(grant)  # its token was being renewed
    row.refresh_from_db()
    assert (row.encrypted_sign_in, row.signed_in_at) == ("", None)
    with pytest.raises(ServiceUnusable, match="Nobody is signed in"):
        fetch_service_tools(administrator(), row)
    assert {"signed_in": False} in [entry.detail for entry in Entry.objects.all()]


def test_an_answer_counts_once_in_its_session_alone_and_as_long_as_the_service_stays(
    root: Client, signing: Signed
) -> None:
    row = entered(signing, oauth_scope="tickets wide")
    page = pressed(root, row)
    assert "tickets wide" in said(page)
    answer = consented(address_in(page))
    other = client_of(make_user("other", is_superuser=True))
    not_waited_for = "This sign-in took too long"
    assert not_waited_for in said(other.get(reverse("mcp-callback"), answer, follow=True))
    assert not_waited_for in said(root.get(reverse("mcp-callback"), answer | {"state": "made-up"}, follow=True))
    assert "code" not in signing.heard()
    assert "Signed in to" in said(root.get(reverse("mcp-callback"), answer, follow=True))
    assert signing.scopes() == [["tickets", "wide"]]
    assert not_waited_for in said(root.get(reverse("mcp-callback"), answer, follow=True))
    answer = consented(address_in(pressed(root, row)))
    row.refresh_from_db()
    row.url = signing.at("/elsewhere")
    save_service(None, row)
    assert not_waited_for in said(root.get(reverse("mcp-callback"), answer, follow=True))
    assert signing.heard().count("code") == 1


def test_an_answer_of_another_issuer_and_a_refusal_sign_nobody_in(root: Client, signing: Signed) -> None:
    row = entered(signing)
    answer = consented(address_in(pressed(root, row)))
    page = root.get(reverse("mcp-callback"), answer | {"iss": "https://other.example.com"}, follow=True)
    assert "The issuer of tokens for “desk” gave none" in said(page)
    assert "code" not in signing.heard()
    signing.anew(refuses=True)
    assert "Nobody signed in to “desk”" in connected(root, row)
    assert not row.encrypted_sign_in
    with pytest.raises(ServiceUnusable, match="Nobody is signed in"):
        build_service_address(row)


def test_where_no_program_registers_a_client_id_is_entered(root: Client) -> None:
    known = {"client_id": "ours", "client_secret": "s3cret", "redirect_uris": [CALLBACK]}
    with serving(registers=False, known=known) as signing:
        row = entered(signing)
        assert "lets no program register itself" in said(pressed(root, row))
        form = {**FORM, "url": signing.url, "oauth_client_id": "ours", "secret": "s3cret"}
        change = reverse("admin:agent_mcpservice_change", args=[row.pk])
        no_issuer = root.post(change, form, follow=True)
        assert "Give the issuer of tokens that this client id is known to." in said(no_issuer)
        assert "A key without a client id" in said(root.post(change, form | {"oauth_client_id": ""}, follow=True))
        root.post(change, form | {"oauth_issuer": signing.at("")}, follow=True)
        assert "Signed in to “desk”." in connected(root, row)
        assert signing.heard() == ["code"]
        row.refresh_from_db()
        assert "s3cret" not in row.encrypted_secret


class WithoutPkce(Issuer):
    def get(self, path: str, query: dict[str, str], headers: Any) -> tuple[int, Any]:
        status, told = super().get(path, query, headers)
        if isinstance(told, dict):
            told.pop("code_challenge_methods_supported", None)
        return status, told


def test_a_service_that_leads_elsewhere_or_takes_no_sign_in_is_not_signed_in_to(root: Client, signing: Signed) -> None:
    def told(url: str, **fields: Any) -> str:
        McpService.objects.all().delete()
        return said(pressed(root, entered(Signed(url), **fields)))

    with running(Issuer()) as ours, running(Issuer()) as theirs, serving_tools(issuer=theirs) as service:
        assert "The issuer of tokens for “desk” gave none" in told(service.url, oauth_issuer=ours.url)
        assert not ours.programs + theirs.programs
    with running(WithoutPkce()) as issuer, serving_tools(issuer=issuer) as service:
        assert "takes no PKCE" in told(service.url)
    with serving_tools(issuer=Issuer(url="http://169.254.169.254")) as service:
        assert "may not connect to 169.254.169.254 (169.254.169.254)" in told(service.url)
    with serving_tools() as service:
        assert "answers without a token" in told(service.url)
    assert "did not answer as it should" in told(signing.at("/nothing"))
    row = McpService.objects.get()
    row.oauth_grant = "client_credentials"
    with pytest.raises(InvalidInput, match="Choose first that an administrator signs in"):
        begin_sign_in(row, callback=CALLBACK, session="s")
    with pytest.raises(CopilotError, match="needs no tokens"):
        save_service(None, McpService(name="local", transport="local", oauth_grant="authorization_code"))


def test_nobody_connects_a_service_who_may_not_change_services(signing: Signed) -> None:
    row, person = entered(signing), client_of(staff("sam"))
    for name in ("mcp-connect", "mcp-disconnect"):
        assert person.post(reverse(name, args=[row.pk])).status_code == 403
    assert person.get(reverse("mcp-callback"), {"state": "x", "code": "y"}).status_code == 403
    assert signing.heard() == []
