"""Where a PostgreSQL database is and who connects; the password stays out of every text."""

import hashlib
import hmac
import os
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import psycopg
from django.conf import settings
from django.db import connection, models
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.outgoing import checked, services

CONNECT_TIMEOUT_S = 5


class Tls(models.TextChoices):
    """How a database is spoken to; libpq's `sslmode`. Nothing in between: `prefer` is clear text for whoever answers without TLS."""

    VERIFY_FULL = "verify-full", _("encrypted, the server proves its name by a certificate")
    REQUIRE = "require", _("encrypted, whoever answers")
    DISABLE = "disable", _("clear text")


@dataclass(frozen=True)
class Address:
    """A PostgreSQL database and the account to use there. tls: None for a database that the product made on its own server."""

    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)
    tls: Tls | None = Tls.VERIFY_FULL

    @property
    def is_own(self) -> bool:
        """Return whether it is on the product's own server, to which Django's connection leads."""
        return self.tls is None

    def keywords(self) -> dict[str, Any]:
        """Arguments of `psycopg.connect`. Resolves the host, and so may wait. Raises AddressRefused for one that is not allowed."""
        return {
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            "user": self.user,
            "password": self.password,
            "connect_timeout": CONNECT_TIMEOUT_S,
            "application_name": "copilot",
            "client_encoding": "UTF8",
            **(self._guarded(self.tls) if self.tls else {}),
        }

    def _guarded(self, tls: Tls) -> dict[str, Any]:
        """Return the keywords that keep the password from others: only checked addresses, and no way to ask for it in clear text.

        libpq takes as many hosts as addresses; TLS goes by the host. Where nobody proves who answers, the password is never said,
        only known (SCRAM), and the server must prove that it knows it, too.
        """
        target = checked(self.host, self.port, services())
        guarded = {
            "host": ",".join([target.host] * len(target.addresses)),
            "hostaddr": ",".join(target.addresses),
            "sslmode": tls.value,
            "gssencmode": "disable",
            "passfile": os.devnull,  # an empty password is none: not one of another host in ~/.pgpass
        }
        if tls is Tls.VERIFY_FULL:
            guarded["sslrootcert"] = certificate_authorities()
        elif self.password:
            guarded["require_auth"] = "scram-sha-256"
        return guarded

    def at(self, database: str) -> Self:
        """Return the same server and account, another database."""
        return replace(self, database=database)

    def as_role(self, role: str) -> Self:
        """Return the same database under a role that this system made; its password is derived, stored nowhere."""
        key = f"{settings.SECRET_KEY}:business"
        content = f"{self.host}:{self.port}/{self.database}/{role}"
        return replace(self, user=role, password=hmac.new(key.encode(), content.encode(), hashlib.sha256).hexdigest())

    @classmethod
    def of_django(cls) -> Self:
        """Return the product's own server and account, for databases that it makes itself: the demo's, scratch ones."""
        params = connection.get_connection_params()
        return cls(
            host=str(params.get("host", "")),
            port=int(params.get("port") or 5432),
            database=str(params["dbname"]),
            user=str(params.get("user", "")),
            password=str(params.get("password", "")),
            tls=None,
        )


def certificate_authorities() -> str:
    """Return the file of certificates that a server is verified with, or `system`; libpq looks in the home folder only."""
    if settings.DATABASE_CA:
        return str(settings.DATABASE_CA)
    found = (ssl.get_default_verify_paths().cafile, "/etc/ssl/certs/ca-certificates.crt")
    return next((file for file in found if file and Path(file).exists()), "system")


# Settings that older servers do not have, and the version they came with; what they limit, others limit less closely.
_SINCE = {"scram_iterations": 160_000, "transaction_timeout": 170_000}


def has_setting(connection: psycopg.Connection | psycopg.AsyncConnection, name: str) -> bool:
    """Return whether the server behind a connection is new enough for a setting."""
    return connection.info.server_version >= _SINCE.get(name, 0)
