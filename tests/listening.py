"""A server on this machine that answers as PostgreSQL would, asks for the password in clear text, and keeps every byte it is sent."""

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

TLS_WANTED = 80877103  # the code of PostgreSQL's SSLRequest
CLEAR_TEXT = b"R" + struct.pack("!II", 8, 3)  # AuthenticationCleartextPassword
MD5 = b"R" + struct.pack("!II", 12, 5) + b"salt"


@dataclass
class Listener:
    """asks: what it says after the start-up message. certificate: of the TLS it offers; None: it offers none."""

    port: int
    heard: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def bytes(self) -> bytes:
        return b"".join(self.heard)


@contextmanager
def listening(
    *, asks: bytes = CLEAR_TEXT, certificate: Path | None = None, address: str = "127.0.0.1"
) -> Iterator[Listener]:
    """A listener while the context lasts. certificate: PEM of a certificate and its key."""
    with socket.create_server((address, 0)) as server:
        listener = Listener(server.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, listener, asks, certificate), daemon=True)
        thread.start()
        yield listener
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def make_certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate with its key, in one file; trusted where it is named as the authority. name: of a host, or 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    named = x509.IPAddress(IPv4Address(name)) if name == "127.0.0.1" else x509.DNSName(name)
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([named]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file = folder / f"{name}.pem"
    file.write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))
    return file


def _serve(server: socket.socket, listener: Listener, asks: bytes, certificate: Path | None) -> None:
    while True:
        try:
            connection, _peer = server.accept()
        except OSError:
            return
        listener.connections += 1
        with connection, suppress(OSError, EOFError):
            connection.settimeout(5)
            _speak(connection, listener, asks, certificate)


def _speak(connection: socket.socket, listener: Listener, asks: bytes, certificate: Path | None) -> None:
    message = _start(connection, listener)
    if struct.unpack("!I", message[4:8])[0] != TLS_WANTED:
        _ask(connection, listener, asks)
    elif certificate is None:
        connection.sendall(b"N")
        _start(connection, listener)
        _ask(connection, listener, asks)
    else:
        connection.sendall(b"S")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        with context.wrap_socket(connection, server_side=True) as encrypted:
            _start(encrypted, listener)
            _ask(encrypted, listener, asks)


def _ask(connection: socket.socket, listener: Listener, asks: bytes) -> None:
    """Ask, hear the reply, and hang up, which spares the client its time limit."""
    connection.sendall(asks)
    listener.heard.append(connection.recv(4096))


def _start(connection: socket.socket, listener: Listener) -> bytes:
    """A start-up message or an SSLRequest: its length, itself included, then the rest."""
    message = _exactly(connection, 4)
    message += _exactly(connection, struct.unpack("!I", message)[0] - 4)
    listener.heard.append(message)
    return message


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = connection.recv(size - len(found))
        if not more:
            raise EOFError
        found += more
    return found
