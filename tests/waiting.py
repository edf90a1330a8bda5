"""Waiting for what happens in another thread, process or connection."""

import asyncio
import socket
from collections.abc import Callable

from copilot_site.embedded.process import wait_until

PATIENT_S = 60  # a busy machine takes its time; nothing that goes well takes this long


def wait_for(what: str, has_come: Callable[[], object]) -> None:
    """Return once `has_come` says so. Raises AssertionError with what did not come."""
    assert wait_until(lambda: bool(has_come()), timeout_s=PATIENT_S), f"{what}: not within {PATIENT_S} s"


async def met(what: str, has_come: Callable[[], object]) -> None:
    """As `wait_for`, in an event loop whose other tasks go on meanwhile."""
    for _try in range(PATIENT_S * 100):
        if has_come():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{what}: not within {PATIENT_S} s")


def wait_for_port(port: int) -> None:
    """Return once somebody listens there."""

    def listens() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    wait_for(f"an answer at port {port}", listens)
