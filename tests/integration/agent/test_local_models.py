"""A language model on this machine is asked where a superuser allowed its exact host and port, and nothing else goes there."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from agent.connections.local_models import build_model_policy, find_local_address, permit_local_address
from agent.connections.service_keys import save_language_model, save_web_search
from agent.connections.web_request import Code, RequestFailed, send_web_request
from agent.mcp_client.services import check_service_address
from agent.models import LanguageModel, McpService, WebSearchProvider
from agent.providers.base import ModelMisconfigured
from agent.providers.configured import build_served_model, connect
from agent.web.hosts import load_host_rules
from audit.actions import Action
from audit.models import Entry
from authz.principal import Principal
from authz.sign_in.claim_admin import CompanySignInForm
from authz.sign_in.issuer_check import find_issuer_fault
from copilot_site.lib.errors import InvalidInput, PermissionDenied
from copilot_site.lib.outgoing.addresses import AddressRefused, build_service_policy, check_target, parse_url
from knowledge.embedding.trial import measure_dimensions
from knowledge.models import Webhook
from knowledge.sources.http import SourceClient
from knowledge.webhooks.setting_up import save_webhook
from tests.contract.test_outgoing_clients import http_server
from tests.factories import make_user
from tests.modelserver import Step, says, serving

pytestmark = pytest.mark.django_db
DEFAULT = ("private", "public", "local-models")


@pytest.fixture(autouse=True)
def _as_it_comes(settings: Any) -> None:
    settings.OUTGOING_ALLOW = DEFAULT


@pytest.fixture
def root() -> Principal:
    return Principal.of(make_user("root", is_superuser=True))


def allowed(by: Principal, url: str) -> LanguageModel:
    return saved(by, LanguageModel(name="local", base_url=url, model="m"))


def saved(by: Principal, row: LanguageModel) -> LanguageModel:
    save_language_model(by, row, is_allowed_here=True)
    return LanguageModel.objects.get(pk=row.pk)


@async_to_sync
async def reply_of(row: LanguageModel) -> str:
    model = connect(build_served_model(row))
    try:
        return "".join([delta.text async for delta in model.stream([{"role": "user", "content": "Say: ok"}])])
    finally:
        await model.aclose()


def test_a_superuser_alone_allows_one_host_and_port_and_the_log_has_it(root: Principal) -> None:
    with pytest.raises(PermissionDenied):
        allowed(Principal.of(make_user("sam")), "http://localhost:11434/v1")
    assert not LanguageModel.objects.exists()
    with serving(says("Here.")) as server:
        row = LanguageModel(name="local", base_url=server.base_url, model="m")
        with pytest.raises(AddressRefused, match="may not connect to itself"):
            save_language_model(root, row)
        assert reply_of(allowed(root, server.base_url)) == "Here."
    entry = Entry.objects.get(action=Action.LOCAL_MODEL_ALLOWED)
    assert (entry.actor_name, entry.detail) == ("root", {"address": find_local_address(server.base_url)})


def test_the_permission_is_for_this_address_alone(root: Principal) -> None:
    with serving() as server:
        row = allowed(root, server.base_url)
        host, port = parse_url(row.base_url)
        for other in (f"localhost:{port}", f"127.0.0.2:{port}", f"{host}:1"):
            row.base_url = f"http://{other}/v1"
            with pytest.raises(AddressRefused):
                save_language_model(root, row)
            with pytest.raises(ModelMisconfigured):
                reply_of(row)
        LanguageModel.objects.filter(pk=row.pk).update(base_url=f"http://localhost:{port}/v1")  # past every service
        row.refresh_from_db()
        with pytest.raises(ModelMisconfigured):
            reply_of(row)
        assert server.requests == []


def test_the_operator_forbids_it_also_afterwards(root: Principal, settings: Any) -> None:
    with serving() as server:
        row = allowed(root, server.base_url)
        settings.OUTGOING_ALLOW = ("private", "public")
        with pytest.raises(AddressRefused, match="COPILOT_OUTGOING_ALLOW"):
            permit_local_address(root, LanguageModel(base_url="http://127.0.0.1:1/v1"))
        with pytest.raises(ModelMisconfigured):
            reply_of(row)
        assert server.requests == []


def test_our_own_ports_are_never_allowed(root: Principal, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEB_PORT = 8123
    settings.REDIS_URL = "redis://:secret@127.0.0.1:8125/0"
    monkeypatch.setitem(settings.DATABASES["default"], "PORT", "8124")
    for port in (8123, 8124, 8125, 5432):
        for host in ("127.0.0.1", "127.0.0.2", "[::1]", "localhost", "LOCALHOST.", "0.0.0.0", "[::]"):
            row = LanguageModel(name=f"{host} {port}", base_url=f"http://{host}:{port}/v1", model="m")
            with pytest.raises(AddressRefused):
                saved(root, row)
            row.local_address = f"{host.lower().rstrip('.')}:{port}"  # as if it was allowed before the port was ours
            assert build_model_policy(row) == build_service_policy()


def test_a_name_that_leads_to_this_machine_is_not_it(root: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: real("127.0.0.1" if "rebound" in str(host) else host, *rest, **more),
    )
    with serving() as server:
        allowed(root, server.base_url)
        for name in ("rebound.example", "rebound.localhost"):
            row = LanguageModel(name=name, base_url=server.base_url.replace("127.0.0.1", name), model="m")
            permit_local_address(root, row)
            assert row.local_address == ""
            row.local_address = f"{name}:{parse_url(row.base_url)[1]}"
            with pytest.raises(ModelMisconfigured):
                reply_of(row)
        assert server.requests == []


def test_localhost_that_leads_elsewhere_is_not_this_machine(root: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    row = allowed(root, "http://localhost:11434/v1")
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _host, *rest, **more: real("169.254.169.254", *rest, **more))
    with pytest.raises(ModelMisconfigured):
        reply_of(row)


def test_an_allowed_model_leads_nowhere_else(root: Principal) -> None:
    with http_server() as elsewhere, serving(Step(status=307, headers={"Location": elsewhere.url})) as server:
        with pytest.raises(ModelMisconfigured, match="307"):
            reply_of(allowed(root, server.base_url))
        assert elsewhere.requests == []


def _sign_in(url: str) -> None:
    assert find_issuer_fault(url).startswith("This server may not connect to 127.0.0.1 (127.0.0.1)")
    form = CompanySignInForm({"server_url": url})
    raise AddressRefused(str(form.errors["server_url"]))


KINDS: dict[str, Callable[[str], object]] = {
    "web fetch": lambda url: send_web_request("GET", url, load_host_rules().policy("127.0.0.1"), most_bytes=100),
    "web search": lambda url: save_web_search(None, WebSearchProvider(name="x", kind="searxng", base_url=url)),
    "source": lambda url: SourceClient(url).get(url),
    "webhook": lambda url: save_webhook(None, Webhook(name="x", url=url, events=["document.published"]), site=""),
    "MCP": lambda url: check_service_address(McpService(name="x", url=url)),
    "OIDC": _sign_in,
    "data source": lambda url: check_target(*parse_url(url), build_service_policy()),
    "embedder": lambda url: measure_dimensions(url, model="m"),
    "another model": lambda url: save_language_model(None, LanguageModel(name="x", base_url=url, model="m")),
}


def test_it_opens_nothing_but_this_model(root: Principal) -> None:
    with http_server() as server:
        allowed(root, f"{server.url}/v1")
        for kind, use in KINDS.items():
            with pytest.raises((InvalidInput, RequestFailed)) as refused:
                use(f"{server.url}/v1")
            assert isinstance(refused.value, AddressRefused) or getattr(refused.value, "code", None) is Code.REFUSED, (
                kind
            )
        assert server.requests == []
