"""From a postgresql:// address to Django's entry for it."""

from typing import Any
from urllib.parse import unquote, urlsplit

from copilot_site.home import Home


def build_database_entry(url: str | None, *, home: Home, role: str | None) -> dict[str, Any]:
    """Return Django's DATABASES entry. role: the one that processes take on.

    `?pool_mode=transaction` says that PgBouncer gives each transaction another session: no cursor outlives its transaction.
    Without an address the entry leads to a socket that does not exist; the first query's error then names the reason.
    """
    parts = urlsplit(url or "")
    options = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    pool_mode = options.pop("pool_mode", "session")
    entry: dict[str, Any] = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "copilot",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or ("" if url else str(home.root / "no-database-is-running")),
        "PORT": str(parts.port or ""),
        # a threshold lets cursors that bind on the server prepare (lib/database.py); Django's own bind in the client
        "OPTIONS": {"prepare_threshold": 2} | options,
        "DISABLE_SERVER_SIDE_CURSORS": pool_mode == "transaction",
    }
    if role:  # not Django's assume_role: with a pool it never gets a connection
        entry["OPTIONS"]["options"] = f"{entry['OPTIONS'].get('options', '')} -c role={role}".strip()
    return entry


def keep_connections_open(entry: dict[str, Any], connections: int) -> None:
    """Let a process keep connections open. For ASGI only: under Celery prefork, forked children would share the pool."""
    entry["CONN_HEALTH_CHECKS"] = True  # a restarted PostgreSQL leaves the pool full of dead connections
    entry["OPTIONS"]["pool"] = {"min_size": 1, "max_size": connections, "timeout": 10}
