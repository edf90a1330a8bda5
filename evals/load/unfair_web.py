"""The web process of `benchmark load --unfair`: its queues know one party, and serve whoever came first.

Run as a program after `copilot_site.asgi` was imported; its argument is the port.
"""

import sys
from collections.abc import Hashable

import uvicorn

from copilot_site.lib.fair_queue import FairQueue, Ticket


def make_unfair() -> None:
    """No parties, no limit on what one of them has, in every queue of this process."""
    enter = FairQueue.enter

    def first_come(queue: FairQueue, _party: Hashable) -> Ticket:
        return enter(queue, "everybody")

    def is_free(queue: FairQueue, _party: Hashable) -> bool:
        return queue.at_work < queue.places

    setattr(FairQueue, "enter", first_come)  # noqa: B010 - mypy knows it as a method of the class
    setattr(FairQueue, "_may_work", is_free)  # noqa: B010


if __name__ == "__main__":
    make_unfair()
    uvicorn.run(
        "copilot_site.asgi:application", port=int(sys.argv[1]), access_log=False, lifespan="off", log_level="warning"
    )
