"""Clients that go out, against servers of this machine: they connect to what was checked, once, and follow nothing elsewhere."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests

from agent.providers.base import ModelError, ModelMisconfigured
from agent.providers.breaker import Breaker
from agent.providers.openai_compatible import ModelLimits, OpenAICompatible, ServedModel
from copilot_site.lib.outgoing.addresses import AddressPolicy
from copilot_site.lib.outgoing.http import HttpSession
from tests.modelserver import Step, says, serving

NAME = "service.copilot.test"
HERE = AddressPolicy(("localhost",))
LIMITS = ModelLimits(attempts=1)
ASKED = [{"role": "user", "content": "a question of a person"}]


class Heard:
    """What a server was asked: method, path, headers and body of each request. location: where it sends everybody."""

    def __init__(self, location: str, status: int) -> None:
        self.location, self.status = location, status
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.url = ""


@contextmanager
def http_server(location: str = "", status: int = 302) -> Iterator[Heard]:
    heard = Heard(location, status)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            heard.requests.append((self.command, self.path, dict(self.headers), body))
            self.send_response(heard.status if heard.location else 200)
            if heard.location:
                self.send_header("Location", heard.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET  # noqa: N815 - http.server's name

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        heard.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield heard
        server.shutdown()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """NAME leads to 127.0.0.1 the first time it is asked for, and to 127.0.0.2 ever after; the names asked for."""
    real, names = socket.getaddrinfo, []

    def answer(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in (NAME, NAME.encode()):
            return real(host, port, *args, **kwargs)
        names.append(NAME)
        return real("127.0.0.1" if len(names) == 1 else "127.0.0.2", port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return names


async def text_of(base_url: str, policy: AddressPolicy | None) -> str:
    model = OpenAICompatible(
        ServedModel("scripted", base_url, "m", "a key", limits=LIMITS, policy=policy), breaker=Breaker()
    )
    try:
        return "".join([delta.text async for delta in model.stream(ASKED)])
    finally:
        await model.aclose()


async def test_a_model_is_asked_where_its_policy_allows() -> None:
    with serving(says("Hello."), says("Hello.")) as server:
        assert await text_of(server.base_url, HERE) == "Hello."
        with pytest.raises(ModelMisconfigured, match="COPILOT_OUTGOING_ALLOW"):
            await text_of(server.base_url, AddressPolicy(("private", "public")))
        assert len(server.requests) == 1
        assert await text_of(server.base_url, None) == "Hello.", "the operator's own word is not asked twice"


async def test_a_model_is_asked_at_the_address_that_was_checked(asked: list[str]) -> None:
    """The name leads elsewhere at the second look: there is none. The Host header still has the name."""
    with serving(says("Hello.")) as server:
        assert await text_of(server.base_url.replace("127.0.0.1", NAME), AddressPolicy(("127.0.0.1", NAME))) == "Hello."
    assert asked == [NAME]


@pytest.mark.parametrize("policy", [HERE, None])
async def test_a_model_that_sends_elsewhere_is_not_followed(policy: AddressPolicy | None) -> None:
    with http_server() as elsewhere, serving(Step(status=307, headers={"Location": elsewhere.url})) as server:
        with pytest.raises(ModelMisconfigured, match="307"):
            await text_of(server.base_url, policy)
        assert elsewhere.requests == []


@pytest.mark.parametrize("policy", [HERE, None])
async def test_what_the_environment_says_to_openai_is_for_the_operator_s_own_address(
    policy: AddressPolicy | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "of the host")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer of the host\nX-Gateway-Key: of the host")
    with http_server() as server, pytest.raises(ModelError):
        await text_of(server.url, policy)
    ((_method, _path, headers, _body),) = server.requests
    assert ("of the host" in str(headers)) is (policy is None)
    assert policy is None or headers["authorization"] == "Bearer a key"


def test_a_session_connects_where_its_policy_allows(asked: list[str]) -> None:
    with http_server() as server, HttpSession(HERE) as session, HttpSession(AddressPolicy(("private",))) as narrow:
        assert session.get(server.url, timeout=5).status_code == 200
        with pytest.raises(requests.ConnectionError, match="COPILOT_OUTGOING_ALLOW"):
            narrow.get(server.url, timeout=5)
        assert len(server.requests) == 1
        with HttpSession(AddressPolicy(("127.0.0.1", NAME))) as named:
            assert named.get(server.url.replace("127.0.0.1", NAME), timeout=5).status_code == 200
        assert server.requests[-1][2]["Host"].startswith(NAME)
        assert asked == [NAME]


def test_each_redirect_is_checked_and_leaves_what_is_secret_behind() -> None:
    headers = {"Authorization": "Bearer secret"}
    with http_server() as elsewhere, HttpSession(HERE) as session:
        other_host = elsewhere.url.replace("127.0.0.1", "localhost")
        with http_server(location=other_host) as server:
            assert session.get(server.url, headers=headers, timeout=5).status_code == 200
        assert "Authorization" not in elsewhere.requests[0][2]
        with http_server(location=elsewhere.url) as server:
            narrow = HttpSession(AddressPolicy((f"{server.url.rpartition(':')[0][7:]}/32",)))
            server.location = elsewhere.url.replace("127.0.0.1", "127.0.0.2")
            with narrow, pytest.raises(requests.ConnectionError, match="may not connect to"):
                narrow.get(server.url, timeout=5)
        assert len(elsewhere.requests) == 1


@pytest.mark.parametrize("status", [302, 308])
def test_what_was_sent_is_not_sent_on(status: int) -> None:
    with http_server() as elsewhere, http_server(elsewhere.url, status) as server, HttpSession(HERE) as session:
        with pytest.raises(requests.TooManyRedirects):
            session.post(server.url, data={"client_secret": "secret"}, timeout=5)
        assert elsewhere.requests == []


def test_redirects_come_to_an_end() -> None:
    with http_server() as server, HttpSession(HERE) as session:
        server.location = server.url
        with pytest.raises(requests.TooManyRedirects):
            session.get(server.url, timeout=5)
        assert len(server.requests) == 4


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with http_server() as proxy, http_server() as server, HttpSession(HERE) as session:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        session.get(server.url, timeout=5)
        assert (len(proxy.requests), len(server.requests)) == (0, 1)
