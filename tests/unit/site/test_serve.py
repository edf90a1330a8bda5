"""The socket of the web processes: one holds the port, and connections wait for the next process. And when all is ready."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.conf import LazySettings

from copilot_site.embedded.process import ServiceFailed
from copilot_site.embedded.serve import build_local_url, open_listening_socket
from copilot_site.management.commands import wait_ready
from copilot_site.management.commands.wait_ready import ask_readyz, wait_until_ready
from tests.ports import closed_port


def test_a_connection_waits_until_somebody_takes_it() -> None:
    with (
        open_listening_socket("127.0.0.1", 0) as door,
        socket.create_connection(door.getsockname(), timeout=5) as client,
    ):
        client.sendall(b"asked")
        taken, _address = door.accept()
        with taken:
            assert taken.recv(5) == b"asked"
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "events are not held back"


def test_a_port_that_is_taken_is_one_sentence() -> None:
    with open_listening_socket("127.0.0.1", 0) as door, pytest.raises(ServiceFailed, match="cannot be used"):
        open_listening_socket("127.0.0.1", door.getsockname()[1])


class Site(BaseHTTPRequestHandler):
    """A site that answers to one name, and has no room on its disk."""

    def do_GET(self) -> None:
        is_known = self.headers["Host"] == "kb.company.com" and self.path == "/readyz"
        body = b'{"status": "failing", "failing": ["disk"]}' if is_known else b"<h1>Bad Request</h1>"
        self.send_response(503 if is_known else 400)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def running_site() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("names", [["kb.company.com", "localhost"], [".kb.company.com"]])
def test_readiness_is_asked_with_a_name_that_the_site_answers_to(settings: LazySettings, names: list[str]) -> None:
    settings.ALLOWED_HOSTS = names
    with running_site() as port:
        assert ask_readyz(build_local_url("0.0.0.0", port)) == ["disk"]
        settings.ALLOWED_HOSTS = ["*"]
        assert ask_readyz(build_local_url("127.0.0.1", port)) == ["web"], "the control: another name is refused"
    assert ask_readyz(build_local_url("127.0.0.1", closed_port())) == ["web"]


def test_the_address_of_ipv6_has_brackets() -> None:
    assert [build_local_url(host, 8000) for host in ("::", "kb")] == ["http://[::1]:8000", "http://kb:8000"]


def test_what_is_not_ready_in_time_is_told_once_and_looked_at_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_ready, "LOOK_S", 0)
    monkeypatch.setattr(wait_ready, "TOLD_AFTER_S", -1)
    looks, told = iter([["web"], ["disk"], ["disk"], []]), list[str]()
    assert wait_until_ready(lambda: next(looks), told.append)
    assert [line.partition(". ")[0] for line in told] == ["Not ready yet: web", "Not ready yet: disk"]
