"""A client of the company's LDAP directory: look up people and their groups, and check passwords.

python-ldap wraps OpenLDAP's client. TLS is required and its certificate checked; input is escaped in filters; an empty
password is never sent, since LDAP takes it for anonymous (RFC 4513, 5.1.2). Timeouts are a few seconds.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import certifi
import ldap
import ldap.filter
from django.conf import settings
from django.utils.translation import gettext as _

from copilot_site.lib.errors import Unavailable

CONNECT_S = 5
ANSWER_S = 10
MAX_LEVELS = 10  # of nested groups
# the system's trusted certificates on Debian and Red Hat
SYSTEM_CAS = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
# errors for a wrong password, or an account that may not sign in now
REFUSED = (
    ldap.INVALID_CREDENTIALS, ldap.NO_SUCH_OBJECT, ldap.INAPPROPRIATE_AUTH, ldap.UNWILLING_TO_PERFORM,
    ldap.CONSTRAINT_VIOLATION,
)  # fmt: skip
# RFC 2798 and Active Directory share these names; every class of group counts
FIRST_NAME, LAST_NAME, MAIL, GROUP_NAME = "givenName", "sn", "mail", "cn"
GROUPS = "(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup)(objectClass=group))"
MEMBER = "(|(member={dn})(uniqueMember={dn})(memberUid={name}))"


class DirectoryUnavailable(Unavailable):
    """The directory does not answer, or not as it is set up; the text says why."""


@dataclass(frozen=True)
class LdapSettings:
    """COPILOT_LDAP_*; what each means stands in copilot_site/directory_config.py."""

    url: str
    ca: Path | None
    bind_dn: str
    bind_password: str
    people_base: str
    people_filter: str
    username_attribute: str
    id_attribute: str
    unit_attribute: str | None
    groups_base: str | None

    @classmethod
    def read(cls) -> Self | None:
        """Return the configured directory; None where there is none."""
        return cls(**settings.LDAP) if settings.LDAP else None


@dataclass(frozen=True)
class DirectoryEntry:
    """A person in the directory. units: their departments, from the attribute COPILOT_LDAP_UNIT_ATTRIBUTE."""

    dn: str
    external_id: str
    username: str
    first_name: str
    last_name: str
    email: str
    units: tuple[str, ...]


class LdapDirectory:
    """A connection bound to the reading account; `open_directory` makes and closes it."""

    def __init__(self, given: LdapSettings, connection: Any) -> None:
        self._given = given
        self._connection = connection
        self._parents: dict[str, dict[str, str]] = {}  # DN of a group → DN and name of the groups it is in itself

    def named(self, username: str) -> DirectoryEntry | None:
        """Return the one person with this name.

        None, too, where only the directory's looser comparison (spaces, accents) matches: each spelling would get its
        own limit on password guesses.
        """
        found = self._find_person(self._given.username_attribute, ldap.filter.escape_filter_chars(username))
        return found if found and found.username.lower() == username.lower() else None

    def known_as(self, external_id: str) -> DirectoryEntry | None:
        """Return the person with this permanent id; None when they are gone or may no longer sign in."""
        raw = UUID(external_id).bytes_le if self._is_ad else external_id.encode()
        return self._find_person(self._given.id_attribute, "".join(f"\\{byte:02x}" for byte in raw))

    def groups_of(self, entry: DirectoryEntry) -> set[str]:
        """Return the names of the person's groups, nested ones included."""
        if not self._given.groups_base:
            return set()
        names = MEMBER.format(
            dn=ldap.filter.escape_filter_chars(entry.dn), name=ldap.filter.escape_filter_chars(entry.username)
        )
        found = self._find_groups(names)
        newest = found
        for _level in range(MAX_LEVELS):
            above = {dn: name for group in newest for dn, name in self._find_parent_groups(group).items()}
            newest = {dn: name for dn, name in above.items() if dn not in found}
            if not newest:
                break
            found = found | newest
        return set(found.values())

    def counts(self) -> tuple[bool, bool]:
        """Tell whether the people's base holds anybody, and the groups' base any group (True for no base)."""
        given = self._given
        has_people = bool(
            self._search_entries(given.people_base, given.people_filter, [given.username_attribute], limit=1)
        )
        groups = not given.groups_base or self._search_entries(given.groups_base, GROUPS, [GROUP_NAME], limit=1)
        return has_people, bool(groups)

    @property
    def _is_ad(self) -> bool:
        return self._given.id_attribute.lower() == "objectguid"

    @cached_property
    def _attributes(self) -> list[str]:
        given = self._given
        names = [given.username_attribute, given.id_attribute, FIRST_NAME, LAST_NAME, MAIL, given.unit_attribute]
        return [name for name in names if name]

    def _find_person(self, attribute: str, escaped: str) -> DirectoryEntry | None:
        """Return the one entry with this value; None for none or several."""
        text = f"(&{self._given.people_filter}({attribute}={escaped}))"
        rows = self._search_entries(self._given.people_base, text, self._attributes, limit=2)
        return self._build_entry(*rows[0]) if len(rows) == 1 else None

    def _build_entry(self, dn: str, values: dict[str, list[bytes]]) -> DirectoryEntry | None:
        given = self._given
        held = {name.lower(): value for name, value in values.items()}

        def texts(attribute: str | None) -> list[str]:
            return [value.decode(errors="replace") for value in held.get((attribute or "").lower(), [])]

        def first(attribute: str) -> str:
            return (texts(attribute) or [""])[0].strip()

        raw = (held.get(given.id_attribute.lower()) or [b""])[0]
        external_id = str(UUID(bytes_le=raw)) if self._is_ad and len(raw) == 16 else raw.decode(errors="replace")
        username = first(given.username_attribute)
        if not external_id or not username:
            return None
        return DirectoryEntry(
            dn=dn,
            external_id=external_id,
            username=username,
            first_name=first(FIRST_NAME),
            last_name=first(LAST_NAME),
            email=first(MAIL),
            units=tuple(texts(given.unit_attribute)),
        )

    def _find_parent_groups(self, group_dn: str) -> dict[str, str]:
        if group_dn not in self._parents:
            escaped = ldap.filter.escape_filter_chars(group_dn)
            self._parents[group_dn] = self._find_groups(f"(|(member={escaped})(uniqueMember={escaped}))")
        return self._parents[group_dn]

    def _find_groups(self, condition: str) -> dict[str, str]:
        """Return DN → name of the groups that match."""
        given = self._given
        rows = self._search_entries(given.groups_base or "", f"(&{GROUPS}{condition})", [GROUP_NAME])
        named = {dn: next(iter(values.values()), [b""])[0].decode(errors="replace") for dn, values in rows}
        return {dn: name for dn, name in named.items() if name}

    def _search_entries(
        self, base: str, text: str, attributes: list[str], *, limit: int = 0
    ) -> list[tuple[str, dict[str, list[bytes]]]]:
        """Return entries below `base`; limit: the most to read. Raises DirectoryUnavailable, also when truncated."""
        with _translate_ldap_errors():
            message = self._connection.search_ext(base, ldap.SCOPE_SUBTREE, text, attributes, sizelimit=limit)
            rows: list[Any] = []
            with suppress(*([ldap.SIZELIMIT_EXCEEDED] if limit else [])):
                while True:
                    kind, part = self._connection.result(message, all=0, timeout=ANSWER_S)
                    rows += part
                    if kind == ldap.RES_SEARCH_RESULT:
                        break
        return [(dn, values) for dn, values in rows if dn is not None]  # None: a referral to another directory


@contextmanager
def open_directory(given: LdapSettings) -> Iterator[LdapDirectory]:
    """Open the directory, bound to the reading account. Raises DirectoryUnavailable."""
    with _open_connection(given) as connection:
        with _translate_ldap_errors():
            connection.simple_bind_s(given.bind_dn, given.bind_password)
        yield LdapDirectory(given, connection)


def is_correct_password(given: LdapSettings, entry: DirectoryEntry | None, password: str) -> bool:
    """Tell whether this is the person's password. Without an entry an unknown name is tried, to take as long.

    Raises DirectoryUnavailable.
    """
    if not password:
        return False
    nobody = f"{given.username_attribute}={secrets.token_hex(8)},{given.people_base}"
    with _open_connection(given) as connection, _translate_ldap_errors():
        try:
            connection.simple_bind_s(entry.dn if entry else nobody, password)
        except REFUSED:
            return False
    return entry is not None


@contextmanager
def _open_connection(given: LdapSettings) -> Iterator[Any]:
    """Open a connection with TLS and a checked certificate, not bound. Raises DirectoryUnavailable."""
    with _translate_ldap_errors():
        connection = ldap.initialize(given.url)
        for option, value in _build_options(given):
            connection.set_option(option, value)
        if given.url.startswith("ldap://"):
            connection.start_tls_s()
    try:
        yield connection
    finally:
        with suppress(ldap.LDAPError):
            connection.unbind_s()


def _build_options(given: LdapSettings) -> list[tuple[int, Any]]:
    """Return the options in the order they are set: the last makes a TLS context of those before."""
    return [
        (ldap.OPT_PROTOCOL_VERSION, ldap.VERSION3),
        (ldap.OPT_REFERRALS, 0),
        (ldap.OPT_NETWORK_TIMEOUT, CONNECT_S),
        (ldap.OPT_TIMEOUT, ANSWER_S),
        (ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_DEMAND),
        (ldap.OPT_X_TLS_CACERTFILE, str(given.ca or _find_ca_file())),
        (ldap.OPT_X_TLS_NEWCTX, 0),
    ]


def _find_ca_file() -> str:
    return next((name for name in SYSTEM_CAS if Path(name).is_file()), certifi.where())


@contextmanager
def _translate_ldap_errors() -> Iterator[None]:
    """Raise DirectoryUnavailable, with the cause in one sentence."""
    try:
        yield
    except ldap.LDAPError as error:
        found: dict[str, Any] = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
        cause = ": ".join(str(found[name]) for name in ("desc", "info") if found.get(name)) or str(error)
        raise DirectoryUnavailable(_("The company directory cannot be asked: %(why)s.") % {"why": cause}) from error
