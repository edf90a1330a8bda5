"""The product as a web process of its own on the database of a test, and people who ask it all at once."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from tests.integration.agent.conversations import make_library, make_reader
from tests.processes import running

PATIENT_S = 300.0  # a loaded machine may take its time
SCOPES = [TokenScope.CHAT, TokenScope.SEARCH, TokenScope.INGEST]


@contextmanager
def web_process(application: str = "copilot_site.asgi", **env: str) -> Iterator[tuple[str, psutil.Process]]:
    """uvicorn as `manage.py up` starts it, in a process of its own; yields its address and itself once it answers.

    application: its module.
    """
    listening = socket.create_server(("127.0.0.1", 0))  # handed on: nobody can take the number before it does
    words = [f"{application}:application", "--fd", str(listening.fileno()), "--no-access-log", "--lifespan", "off"]
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with running("uvicorn", *words, "--log-level", "warning", env=env, handed_on=[listening]) as process:
        ends = time.monotonic() + PATIENT_S
        while True:
            with suppress(httpx.TransportError):
                answer = httpx.get(f"{url}/healthz", timeout=PATIENT_S)
                assert answer.is_success, answer.text
                break
            assert process.poll() is None, "the web process ended"
            assert time.monotonic() < ends, "the web process does not answer"
        yield url, psutil.Process(process.pid)


class People:
    """Readers of one library, each with a token and a conversation."""

    def __init__(self, count: int) -> None:
        self.base, self.manual, _secret = make_library()
        self.users = [make_reader(self.base) for _number in range(count)]
        self.tokens = [issue_token(Principal.of(user), name="load", scopes=SCOPES)[1] for user in self.users]

    def clients(self, url: str) -> list[httpx.AsyncClient]:
        return [
            httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENT_S)
            for token in self.tokens
        ]
