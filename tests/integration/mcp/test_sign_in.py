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

from agent.mcp_client.address import ServiceUnusable, address_of
from agent.mcp_client.connection import asked
from agent.mcp_client.services import read_tools, save_service
from agent.mcp_client.sign_in import begin_sign_in
from agent.mcp_client.signed_in import SignedIn
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


@pytest.fixture
def signing() -> Iterator[Signed]:
    with serving() as served:
        yield served


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


@pytest.mark.parametrize("way", ["http", "sse"])
def test_an_administrator_connects_a_service_and_its_tools_are_used_by_that_account(root: Client, way: str) -> None:
    with serving(way=way) as signing:
        page = root.post(
            reverse("admin:agent_mcpservice_add"), {**FORM, "transport": way, "url": signing.url}, follow=True
        )
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


def test_what_came_is_sealed_and_never_shown(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    shown = root.get(reverse("admin:agent_mcpservice_change", args=[row.pk])).content.decode()
    kept = (
        str(McpService.objects.filter(pk=row.pk).values().get())
        + str([each.detail for each in Entry.objects.all()])
        + shown
    )
    grant = SignedIn(row.pk, address_of(row).oauth.place).read()  # type: ignore[union-attr]  # of a sign-in
    assert grant.tokens
    for secret in (grant.tokens.access_token, grant.tokens.refresh_token, grant.client.client_secret):
        assert secret
        assert secret not in kept


def test_a_token_that_ends_is_renewed_and_one_that_ended_before_its_time_too(root: Client) -> None:
    with serving(lives_s=1) as signing:
        row = entered(signing)
        connected(root, row)
        assert read_tools(administrator(), row) == 1
        assert set(signing.heard()[1:]) == {"code", "refresh"}  # and no token was sent that was spent
    with serving() as signing:
        McpService.objects.all().delete()
        row = entered(signing)
        connected(root, row)
        signing.end()
        assert read_tools(administrator(), row) == 1
        assert signing.heard()[1:] == ["code", "refresh"]


def test_many_who_need_a_new_token_at_once_renew_it_once(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    signing.end()
    addresses = [address_of(row) for _each in range(4)]

    async def at_once() -> list[Any]:
        return await asyncio.gather(*(asked(one, lambda client: client.list_tools()) for one in addresses))

    assert len(async_to_sync(at_once)()) == 4
    assert signing.heard()[1:] == ["code", "refresh"]


def test_a_sign_in_that_is_renewed_no_more_is_said_to_have_ended(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    signing.end(with_renewal=True)
    with pytest.raises(ServiceUnusable, match="sign-in to “desk” has ended"):
        read_tools(administrator(), row)
    assert "Signed in to “desk”." in connected(root, row)
    assert read_tools(administrator(), row) == 1


def test_an_answer_counts_once_in_its_session_alone_and_as_long_as_the_service_stays(
    root: Client, signing: Signed
) -> None:
    row = entered(signing)
    answer = consented(address_in(pressed(root, row)))
    other = client_of(make_user("other", is_superuser=True))
    not_waited_for = "This sign-in is not waited for"
    assert not_waited_for in said(other.get(reverse("mcp-callback"), answer, follow=True))
    assert not_waited_for in said(root.get(reverse("mcp-callback"), answer | {"state": "made-up"}, follow=True))
    assert "code" not in signing.heard()
    assert "Signed in to" in said(root.get(reverse("mcp-callback"), answer, follow=True))
    assert not_waited_for in said(root.get(reverse("mcp-callback"), answer, follow=True))
    answer = consented(address_in(pressed(root, row)))
    row.refresh_from_db()
    row.url = signing.at("/elsewhere")
    save_service(None, row)
    assert not_waited_for in said(root.get(reverse("mcp-callback"), answer, follow=True))
    assert signing.heard().count("code") == 1


def test_an_answer_of_another_issuer_is_not_taken(root: Client, signing: Signed) -> None:
    row = entered(signing)
    answer = consented(address_in(pressed(root, row)))
    page = root.get(reverse("mcp-callback"), answer | {"iss": "https://other.example.com"}, follow=True)
    assert "The issuer of tokens for “desk” gave none" in said(page)
    assert "code" not in signing.heard()
    row.refresh_from_db()
    assert not row.encrypted_sign_in


def test_a_person_who_refuses_is_told_that_nobody_signed_in(root: Client) -> None:
    with serving(refuses=True) as signing:
        row = entered(signing)
        assert "Nobody signed in to “desk”" in connected(root, row)
    assert not row.encrypted_sign_in
    with pytest.raises(ServiceUnusable, match="Nobody is signed in"):
        address_of(row)


def test_where_no_program_registers_a_client_id_is_entered(root: Client) -> None:
    known = {"client_id": "ours", "client_secret": "s3cret", "redirect_uris": [CALLBACK]}
    with serving(registers=False, known=known) as signing:
        row = entered(signing)
        assert "lets no program register itself" in said(pressed(root, row))
        form = {**FORM, "url": signing.url, "oauth_client_id": "ours", "secret": "s3cret"}
        change = reverse("admin:agent_mcpservice_change", args=[row.pk])
        assert "Give the issuer of tokens that this client id is known to." in said(
            root.post(change, form, follow=True)
        )
        assert "A key without a client id" in said(root.post(change, form | {"oauth_client_id": ""}, follow=True))
        root.post(change, form | {"oauth_issuer": signing.at("")}, follow=True)
        assert "Signed in to “desk”." in connected(root, row)
        assert signing.heard() == ["code"]
        row.refresh_from_db()
        assert "s3cret" not in row.encrypted_secret


def test_scopes_that_were_entered_are_those_that_are_asked_for(root: Client, signing: Signed) -> None:
    row = entered(signing, oauth_scope="tickets wide")
    page = pressed(root, row)
    assert "tickets wide" in said(page)
    root.get(reverse("mcp-callback"), consented(address_in(page)))
    assert signing.scopes() == [["tickets", "wide"]]


def test_a_service_that_names_another_issuer_than_the_one_entered_leads_nowhere(root: Client) -> None:
    with running(Issuer()) as ours, running(Issuer()) as theirs, serving_tools(issuer=theirs) as service:
        row = entered(Signed(service.url), oauth_issuer=ours.url)
        assert "The issuer of tokens for “desk” gave none" in said(pressed(root, row))
        assert not ours.programs + theirs.programs


class WithoutPkce(Issuer):
    def get(self, path: str, query: dict[str, str], headers: Any) -> tuple[int, Any]:
        status, told = super().get(path, query, headers)
        if isinstance(told, dict):
            told.pop("code_challenge_methods_supported", None)
        return status, told


def test_nobody_signs_in_without_pkce(root: Client) -> None:
    with running(WithoutPkce()) as issuer, serving_tools(issuer=issuer) as service:
        assert "takes no PKCE" in said(pressed(root, entered(Signed(service.url))))


def test_a_service_that_wants_no_token_is_said_to_need_no_sign_in(root: Client) -> None:
    with serving_tools() as service:
        assert "answers without a token" in said(pressed(root, entered(Signed(service.url))))


def test_an_address_where_no_service_is_is_not_taken_for_one_without_tokens(root: Client, signing: Signed) -> None:
    row = McpService(name="desk", url=signing.at("/nothing"), oauth_grant="authorization_code")
    save_service(None, row)
    assert "did not answer as it should" in said(pressed(root, row))


def test_a_service_leads_us_to_no_address_that_is_closed(root: Client) -> None:
    with serving_tools(issuer=Issuer(url="http://169.254.169.254")) as service:
        assert "169.254.169.254 (169.254.169.254) is not connected to" in said(
            pressed(root, entered(Signed(service.url)))
        )


def test_whoever_may_not_change_services_connects_none(signing: Signed) -> None:
    row, person = entered(signing), client_of(staff("sam"))
    for name, args in (("mcp-connect", [row.pk]), ("mcp-disconnect", [row.pk])):
        assert person.post(reverse(name, args=args)).status_code == 403
    assert person.get(reverse("mcp-callback"), {"state": "x", "code": "y"}).status_code == 403
    assert signing.heard() == []


@pytest.mark.parametrize("changed", ["url", "oauth_issuer", "oauth_grant"])
def test_a_sign_in_is_forgotten_where_what_it_is_for_changes(root: Client, signing: Signed, changed: str) -> None:
    row = entered(signing)
    connected(root, row)
    row.oauth_scope = "tickets"
    save_service(administrator(), row)
    assert row.encrypted_sign_in
    setattr(
        row, changed, {"url": signing.at("/other"), "oauth_issuer": signing.at("")}.get(changed, "client_credentials")
    )
    save_service(administrator(), row)
    assert (row.encrypted_sign_in, row.signed_in_at) == ("", None)


def test_a_disconnected_service_stays_so_though_its_token_was_being_renewed(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    held = address_of(row).oauth
    assert isinstance(held, SignedIn)
    grant = held.read()
    assert "Signed out of “desk”" in said(pressed(root, row, "disconnect"))
    held.keep(grant)
    row.refresh_from_db()
    assert (row.encrypted_sign_in, row.signed_in_at) == ("", None)
    with pytest.raises(ServiceUnusable, match="Nobody is signed in"):
        read_tools(administrator(), row)
    assert {"signed_in": False} in [entry.detail for entry in Entry.objects.all()]


def test_a_renewal_between_reading_and_saving_a_service_is_not_undone(root: Client, signing: Signed) -> None:
    row = entered(signing)
    connected(root, row)
    McpService.objects.filter(pk=row.pk).update(encrypted_sign_in="renewed meanwhile")
    save_service(administrator(), row)
    row.refresh_from_db()
    assert row.encrypted_sign_in == "renewed meanwhile"


def test_nothing_is_begun_for_a_service_with_a_key(signing: Signed) -> None:
    row = McpService(name="desk", url=signing.url)
    save_service(None, row, secret="Bearer x")
    with pytest.raises(InvalidInput, match="Choose first that an administrator signs in"):
        begin_sign_in(row, callback=CALLBACK, session="s")


def test_a_command_of_the_server_is_signed_in_to_by_nobody() -> None:
    row = McpService(name="desk", transport="local", oauth_grant="authorization_code")
    with pytest.raises(CopilotError, match="needs no tokens"):
        save_service(None, row)
