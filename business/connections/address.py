"""The address of a PostgreSQL database and the account that connects; no text shows the password."""

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

from copilot_site.lib.outgoing.addresses import build_service_policy, check_target

CONNECT_TIMEOUT_S = 5


class Tls(models.TextChoices):
    """libpq's `sslmode`, without its middle values: `prefer` falls back to clear text for a server without TLS."""

    VERIFY_FULL = "verify-full", _("encrypted, server verified by a certificate")
    REQUIRE = "require", _("encrypted, server not verified")
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
        """Return whether it is on the product's own server, Django's."""
        return self.tls is None

    def keywords(self) -> dict[str, Any]:
        """Return arguments for `psycopg.connect`; resolving the host may block. Raises AddressRefused if forbidden."""
        return {
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            "user": self.user,
            "password": self.password,
            "connect_timeout": CONNECT_TIMEOUT_S,
            "application_name": "copilot",
            "client_encoding": "UTF8",
            **(self._build_protection_keywords(self.tls) if self.tls else {}),
        }

    def _build_protection_keywords(self, tls: Tls) -> dict[str, Any]:
        """Return the keywords that protect the password: only checked addresses, and no clear-text authentication.

        libpq takes as many hosts as addresses; TLS checks the host. Where no certificate proves the server, only SCRAM
        is allowed: it does not send the password, and the server must prove that it knows it.
        """
        target = check_target(self.host, self.port, build_service_policy())
        guarded = {
            "host": ",".join([target.host] * len(target.addresses)),
            "hostaddr": ",".join(target.addresses),
            "sslmode": tls.value,
            "gssencmode": "disable",
            "passfile": os.devnull,  # an empty password must not pick up one from ~/.pgpass
        }
        if tls is Tls.VERIFY_FULL:
            guarded["sslrootcert"] = find_ca_certificates()
        elif self.password:
            guarded["require_auth"] = "scram-sha-256"
        return guarded

    def at(self, database: str) -> Self:
        """Return the address of another database, with the same server and account."""
        return replace(self, database=database)

    def as_role(self, role: str) -> Self:
        """Return the same database under a role that this system created; its password is derived, not stored."""
        key = f"{settings.SECRET_KEY}:business"
        content = f"{self.host}:{self.port}/{self.database}/{role}"
        return replace(self, user=role, password=hmac.new(key.encode(), content.encode(), hashlib.sha256).hexdigest())

    @classmethod
    def of_django(cls) -> Self:
        """Return the product's own server and account, for databases that it creates: the demo's, scratch ones."""
        params = connection.get_connection_params()
        return cls(
            host=str(params.get("host", "")),
            port=int(params.get("port") or 5432),
            database=str(params["dbname"]),
            user=str(params.get("user", "")),
            password=str(params.get("password", "")),
            tls=None,
        )


def find_ca_certificates() -> str:
    """Return the file of CA certificates, or `system`: libpq looks only in the home folder."""
    if settings.DATABASE_CA:
        return str(settings.DATABASE_CA)
    found = (ssl.get_default_verify_paths().cafile, "/etc/ssl/certs/ca-certificates.crt")
    return next((file for file in found if file and Path(file).exists()), "system")


# Settings that older servers lack, with the version that added them; other settings limit the same less closely.
_SINCE = {"scram_iterations": 160_000, "transaction_timeout": 170_000}


def has_setting(connection: psycopg.Connection | psycopg.AsyncConnection, name: str) -> bool:
    """Return whether the server behind a connection is new enough for a setting."""
    return connection.info.server_version >= _SINCE.get(name, 0)
