"""The set-up of a web process: its threads, and how it shares out its connections to PostgreSQL, so that short work does not wait
for connections held long.

Each number of connections is of threads (or seats) that hold at most one connection each; a test adds them up.
"""

import multiprocessing
import os
import signal
from typing import Final

from copilot_site.lib.confinement.rlimits import die_with_parent

RUNS: Final = 8  # four lanes of two threads (agent.run_state.threads), however many runs there are
SOCKETS: Final = 1  # one thread looks up whose a socket's session is, and a request's that nobody knows yet
PAGES: Final = 4  # pages, sign-in, history: tens of milliseconds each
TRANSFERS: Final = (
    4  # slow work (uploads, downloads, searches, queries): a processor, a disk or another server is busy with each
)
EXPORTS: Final = 3  # read while they are sent, as slowly as their reader takes them
HEALTH: Final = 1
POOL: Final = RUNS + SOCKETS + PAGES + TRANSFERS + EXPORTS + HEALTH
OTHERS: Final = 12  # workers and their children, beat, a command or two, what PostgreSQL keeps for its superuser


SWITCH_S = 0.001
"""After how long a thread lets another one run. A question that is taken waits for the database some ten times; with Python's own 5 ms
it waits each time for every thread that computes. 1 ms costs no throughput that can be measured (ADR 0017)."""


def end_with_first_process() -> None:
    """Let a process that uvicorn started end with uvicorn's first process, where that is killed; else it would take questions
    until the supervisor ends it. Does nothing in a web process that is the only one.
    """
    front = multiprocessing.parent_process()
    if front is None:
        return
    die_with_parent()
    if os.getppid() != front.pid:  # it ended before that
        os.kill(os.getpid(), signal.SIGKILL)
