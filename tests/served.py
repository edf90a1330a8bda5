"""The product behind a real HTTP server, in a thread of the test's process; what a test commits, it sees."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import uvicorn


@contextmanager
def serving_site(*, sockets: bool = False) -> Iterator[str]:
    """The ASGI application as uvicorn serves it; yields its address. sockets: those of the chat page, too."""
    from copilot_site.asgi import application

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    ws: Literal["auto", "none"] = "auto" if sockets else "none"
    config = uvicorn.Config(application, lifespan="off", log_level="warning", access_log=False, ws=ws)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(300)
        listening.close()


@contextmanager
def cutting(url: str, most_bytes: Callable[[], int | None], *, delay_s: float = 0) -> Iterator[str]:
    """A way to a server that breaks: asked for each connection how many bytes of answers it lets through, None for all.

    delay_s: of each piece of an answer.
    """
    host, port = url.removeprefix("http://").split(":")
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                client, _address = listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=pass_on, args=(client, most_bytes()), daemon=True)
            threads.append(thread)
            thread.start()

    def pass_on(client: socket.socket, left: int | None) -> None:
        with client, socket.create_connection((host, int(port))) as server:
            forth = threading.Thread(target=ask, args=(client, server), daemon=True)
            forth.start()
            copy(server, client, left, delay_s)
            for end in (client, server):
                _shut(end)
            forth.join(10)

    def ask(client: socket.socket, server: socket.socket) -> None:
        copy(client, server, None)
        _shut(server)  # whoever asked is gone: the server would keep the line for a next question

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        _shut(listening)
        listening.close()
        for thread in (accepting, *threads):
            thread.join(10)


def copy(source: socket.socket, target: socket.socket, left: int | None, delay_s: float = 0) -> None:
    """Pass bytes on until one side ends or enough have passed."""
    try:
        while left is None or left > 0:
            data = source.recv(4096 if left is None else min(4096, left))
            if not data:
                return
            time.sleep(delay_s)
            target.sendall(data)
            left = None if left is None else left - len(data)
    except OSError:
        return


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
