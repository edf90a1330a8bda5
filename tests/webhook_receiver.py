"""An address of a test's own that takes webhooks, and keeps what came, word for word."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """statuses: what it answers with, one after the other, the last one from then on."""

    url: str
    statuses: list[int] = field(default_factory=lambda: [204])
    location: str = ""
    came: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.statuses[0] if len(receiver.statuses) == 1 else receiver.statuses.pop(0))
            if receiver.location:
                self.send_header("Location", receiver.location)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Tests look at what came."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield receiver
        server.shutdown()
    thread.join(5)
