"""A mail server on this machine, as far as a client speaks with one: it keeps what it is sent."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Mailbox(socketserver.ThreadingTCPServer):
    """mails: what came, as text. refused: a command that it answers with 550 (AUTH: 535)."""

    daemon_threads = True

    def __init__(self, refused: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.mails: list[str] = []
        self.refused = refused

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Talk(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline().decode():
            command = line.split()[0].upper() if line.split() else ""
            if command == self.server.refused:
                self._say("535 no" if command == "AUTH" else "550 no")
            elif command == "EHLO":
                self._say("250-here\r\n250 AUTH PLAIN")
            elif command == "DATA":
                self._say("354 go on")
                self.server.mails.append(self._mail())
                self._say("250 kept")
            elif command == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("235 well" if command == "AUTH" else "250 well")

    def _mail(self) -> str:
        return "".join(iter(lambda: self.rfile.readline().decode().replace("\r\n", "\n"), ".\n"))

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def mailbox(refused: str = "") -> Iterator[Mailbox]:
    with Mailbox(refused) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
