"""A real OpenLDAP server for a test, out of Debian's package: an ordinary process with TLS, without systemd."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.listening import make_certificate
from tests.ports import own_port
from tests.programs import SLAPD
from tests.waiting import wait_for_port

SUFFIX = "dc=evenkeel,dc=example"
PEOPLE, GROUPS = f"ou=people,{SUFFIX}", f"ou=groups,{SUFFIX}"
ADMIN, ADMIN_PASSWORD = f"cn=admin,{SUFFIX}", "a password of the directory"
READER, READER_PASSWORD = f"cn=copilot,{SUFFIX}", "a password that reads"
CONF = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
include /etc/ldap/schema/nis.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCACertificateFile {certificate}
TLSCertificateFile {certificate}
TLSCertificateKeyFile {certificate}
security simple_bind=128
allow bind_anon_dn
database mdb
suffix {suffix}
rootdn {admin}
rootpw "{password}"
directory {folder}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{reader}" read by * none
"""
Values = Mapping[str, str | Sequence[str]]


@dataclass
class Slapd:
    """url: by TLS from the first byte. plain_url: by StartTLS. ca: whom to trust."""

    url: str
    plain_url: str
    ca: Path

    def add(self, dn: str, values: Values) -> None:
        self._as_admin(lambda connection: connection.add_s(dn, list(_encoded(values).items())))

    def change(self, dn: str, values: Values) -> None:
        """Set these attributes, and no others."""
        from ldap import MOD_REPLACE

        self._as_admin(lambda connection: connection.modify_s(
            dn, [(MOD_REPLACE, name, value) for name, value in _encoded(values).items()]))  # fmt: skip

    def delete(self, dn: str) -> None:
        self._as_admin(lambda connection: connection.delete_s(dn))

    def rename(self, dn: str, name: str) -> None:
        """name: the first part of its new DN."""
        self._as_admin(lambda connection: connection.rename_s(dn, name))

    def add_person(self, uid: str, *, password: str, department: str = "", **more: str) -> str:
        """The DN of somebody new."""
        dn = f"uid={uid},{PEOPLE}"
        values = {"objectClass": ["inetOrgPerson"], "uid": uid, "cn": uid, "sn": "Lin", "userPassword": password}
        self.add(dn, values | ({"departmentNumber": department} if department else {}) | more)
        return dn

    def add_group(self, name: str, *members: str) -> str:
        """The DN of a new group; members: DNs of people and groups."""
        dn = f"cn={name},{GROUPS}"
        self.add(dn, {"objectClass": ["groupOfNames"], "cn": name, "member": list(members)})
        return dn

    def settings(self, **changes: Any) -> dict[str, Any]:
        """What COPILOT_LDAP_* would be."""
        return {
            "url": self.url, "ca": self.ca, "bind_dn": READER, "bind_password": READER_PASSWORD,
            "people_base": PEOPLE, "people_filter": "(objectClass=inetOrgPerson)", "username_attribute": "uid",
            "id_attribute": "entryUUID", "unit_attribute": "departmentNumber", "groups_base": GROUPS,
        } | changes  # fmt: skip

    def _as_admin(self, act: Any) -> None:
        import ldap

        connection = ldap.initialize(self.url)
        connection.set_option(ldap.OPT_X_TLS_CACERTFILE, str(self.ca))
        connection.set_option(ldap.OPT_X_TLS_NEWCTX, 0)
        connection.simple_bind_s(ADMIN, ADMIN_PASSWORD)
        try:
            act(connection)
        finally:
            connection.unbind_s()


@contextmanager
def running_slapd(folder: Path) -> Iterator[Slapd]:
    """A fresh directory below `folder`, with a place for people, one for groups and the account that reads.

    As Active Directory does, it takes an empty password for anonymous, and says yes.
    """
    certificate = make_certificate(folder, "127.0.0.1")
    (folder / "data").mkdir()
    conf = folder / "slapd.conf"
    conf.write_text(
        CONF.format(
            folder=folder, certificate=certificate, suffix=SUFFIX, admin=ADMIN, password=ADMIN_PASSWORD, reader=READER
        )
    )
    tls, plain = own_port(), own_port()
    addresses = f"ldaps://127.0.0.1:{tls} ldap://127.0.0.1:{plain}"
    server = subprocess.Popen(
        [str(SLAPD), "-f", str(conf), "-h", addresses, "-d", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for_port(tls)
        made = Slapd(f"ldaps://127.0.0.1:{tls}", f"ldap://127.0.0.1:{plain}", certificate)
        made.add(SUFFIX, {"objectClass": ["dcObject", "organization"], "dc": "evenkeel", "o": "Evenkeel"})
        for dn, name in ((PEOPLE, "people"), (GROUPS, "groups")):
            made.add(dn, {"objectClass": ["organizationalUnit"], "ou": name})
        role = {"objectClass": ["organizationalRole", "simpleSecurityObject"], "cn": "copilot"}
        made.add(READER, role | {"userPassword": READER_PASSWORD})
        yield made
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder / "data")


def _encoded(values: Values) -> dict[str, list[bytes]]:
    return {
        name: [item.encode() for item in ([value] if isinstance(value, str) else value)]
        for name, value in values.items()
    }
