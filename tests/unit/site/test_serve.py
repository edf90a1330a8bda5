"""The socket of the web processes: one holds the port, and connections wait for the next process."""

import socket

import pytest

from copilot_site.embedded.process import ServiceFailed
from copilot_site.embedded.serve import open_listening_socket


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
