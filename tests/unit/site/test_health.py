"""Two requests for `/readyz` at the same moment share one look."""

import threading
import time
from collections.abc import Iterator

import pytest

from copilot_site import health
from copilot_site.health import Probe


class LateThread(threading.Thread):
    """On a busy machine somebody else's turn may come between the making of a thread and its start."""

    def start(self) -> None:
        time.sleep(0.2)
        super().start()


def test_a_look_that_another_request_begins_just_now_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "Thread", LateThread)

    def look() -> Iterator[str]:
        yield "disk"

    probe = Probe(("disk",), look)
    other = threading.Thread(target=probe.begin)
    other.start()
    time.sleep(0.1)
    assert probe.failing(time.monotonic() + 5) == []
    other.join()
