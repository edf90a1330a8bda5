"""How a web process shares out its connections to PostgreSQL, so that nothing that needs one waits for what may hold one long.

Each number is of threads (or seats) that hold at most one connection each; a test adds them up.
"""

from typing import Final

RUNS: Final = 8  # four lanes of two threads (agent.threads), however many runs there are
SOCKETS: Final = 1  # one thread looks up whose a socket's session is, and a request's that nobody knows yet
PAGES: Final = 4  # pages, sign-in, history: tens of milliseconds each
TRANSFERS: Final = 2  # uploads, downloads, searches, queries: a processor or a disk is busy with each
EXPORTS: Final = 2  # read while they are sent, as slowly as their reader takes them
HEALTH: Final = 1
POOL: Final = RUNS + SOCKETS + PAGES + TRANSFERS + EXPORTS + HEALTH
OTHERS: Final = 12  # workers and their children, beat, a command or two, what PostgreSQL keeps for its superuser


def needed(web_processes: int, pool: int) -> int:
    """Connections that the system may hold at once."""
    return web_processes * pool + OTHERS
