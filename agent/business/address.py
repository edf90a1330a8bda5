"""Where a PostgreSQL database is and who connects; the password stays out of every text."""

import hashlib
import hmac
from dataclasses import dataclass, field, replace
from typing import Any, Self

import psycopg
from django.conf import settings
from django.db import connection

CONNECT_TIMEOUT_S = 5


@dataclass(frozen=True)
class Address:
    """A PostgreSQL database and the account to use there. is_own: a database that the product made on its own server."""

    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)
    is_own: bool = False

    def keywords(self) -> dict[str, Any]:
        """Arguments of `psycopg.connect`."""
        return {
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            "user": self.user,
            "password": self.password,
            "connect_timeout": CONNECT_TIMEOUT_S,
            "application_name": "copilot",
            "client_encoding": "UTF8",
        }

    def at(self, database: str) -> Self:
        """The same server and account, another database."""
        return replace(self, database=database)

    def as_role(self, role: str) -> Self:
        """The same database under a role that this system made; its password is derived, stored nowhere."""
        key = f"{settings.SECRET_KEY}:business"
        content = f"{self.host}:{self.port}/{self.database}/{role}"
        return replace(self, user=role, password=hmac.new(key.encode(), content.encode(), hashlib.sha256).hexdigest())

    @classmethod
    def of_django(cls) -> Self:
        """The product's own server and account, for databases that it makes itself: the demo's, scratch ones."""
        params = connection.get_connection_params()
        return cls(
            host=str(params.get("host", "")),
            port=int(params.get("port") or 5432),
            database=str(params["dbname"]),
            user=str(params.get("user", "")),
            password=str(params.get("password", "")),
            is_own=True,
        )


# Settings that older servers do not have, and the version they came with; what they limit, others limit less closely.
_SINCE = {"scram_iterations": 160_000, "transaction_timeout": 170_000}


def has_setting(connection: psycopg.Connection | psycopg.AsyncConnection, name: str) -> bool:
    """Whether the server behind a connection is new enough for a setting."""
    return connection.info.server_version >= _SINCE.get(name, 0)
