"""Addresses that the product connects to: resolved once, each result checked, and connected to exactly as checked.

A name that is looked up again after the check may lead elsewhere (DNS rebinding): whoever connects takes `Target.addresses`, and keeps
`Target.host` for TLS and the Host header. Clients that do so are in `outgoing_http`; data sources give both to libpq.
Sources: OWASP Server-Side Request Forgery Prevention Cheat Sheet; IANA special-purpose address registries; RFC 6052, 6890, 7050.
"""

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

import idna
from django.conf import settings
from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
LookUp = Callable[[str, int], list[str]]

PRIVATE, PUBLIC = "private", "public"  # words that stand for networks in a list of allowed ones
LOCAL_MODELS = (
    "local-models"  # the word that lets superusers allow a language model on this machine; opens nothing itself
)
WORDS = frozenset({PRIVATE, PUBLIC, LOCAL_MODELS})
SETTING = "COPILOT_OUTGOING_ALLOW"
MAX_ADDRESSES = 8  # of one name that are tried
MAX_CHARACTERS = 2_048  # of a URL
DEFAULT_PORTS = {"http": 80, "https": 443}

_PRIVATE = [ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]
_LOOPBACK = [ip_network(text) for text in ("127.0.0.0/8", "::1/128")]
# Never by a word or a name, whatever it resolves to: only an entry within one of these networks opens it.
_CLOSED = [
    *_LOOPBACK,
    *(ip_network(text) for text in ("169.254.0.0/16", "fe80::/10", "fec0::/10")),  # link-local, most metadata services
    *(
        ip_network(text)  # the metadata services elsewhere: Alibaba, Azure, Oracle; AWS, Google and Oracle by IPv6
        for text in (
            "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::/32", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
        )
    ),
    *(ip_network(text) for text in ("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "::/128", "ff00::/8")),
    # IPv6 that carries an IPv4 address in ways nobody needs any more: v4-compatible, Teredo, 6to4, local NAT64
    *(ip_network(text) for text in ("::/96", "2001::/32", "2002::/16", "64:ff9b:1::/48")),
]  # fmt: skip
_UNICAST = ip_network("2000::/3")  # what IANA gives out of IPv6; newer registries are not all known to Python
_NAT64 = ip_network("64:ff9b::/96")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


class AddressRefused(InvalidInput):
    """An address that is not connected to; the text says why in one sentence."""


@dataclass(frozen=True)
class PermittedTarget:
    """A permitted target. host: as TLS and the Host header name it; addresses: all that it resolved to, each allowed."""

    host: str
    port: int
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class AddressPolicy:
    """The addresses that may be connected to.

    entries: names, `*.` and a name for all below it, addresses, networks; `private` is the private networks, `public` the
    internet. A name allows private and public addresses behind it; loopback, link-local and metadata services are
    allowed by an entry of their own network alone (`127.0.0.1`, `localhost`), never by a name that resolves there.
    ports: these alone; empty: every one. here: one host and port of this machine besides, both exactly as written.
    """

    entries: tuple[str, ...]
    ports: frozenset[int] = frozenset()
    here: tuple[str, int] | None = None

    def allows(self, host: str, address: Address) -> bool:
        """Tell whether a target is allowed. host: as `normalise_host` gives it."""
        address = _extract_ipv4(address)
        named = [network for network in self._networks if address in network]
        closed = next((network for network in _CLOSED if address in network), None)
        if closed is not None:
            return any(_is_subnet_of(network, closed) for network in named)
        if named or any(_matches_entry(host, entry) for entry in self.entries):
            return True
        if any(address in network for network in _PRIVATE):
            return PRIVATE in self.entries
        return PUBLIC in self.entries and address.is_global and (address.version == 4 or address in _UNICAST)

    def permits(self, host: str, port: int, address: Address) -> bool:
        """Tell whether a target is allowed, by `entries` or as the one address `here`."""
        return self.allows(host, address) or (
            self.here == (host, port) and is_on_this_machine(host) and any(address in one for one in _LOOPBACK)
        )

    def with_named(self, *hosts: str) -> "AddressPolicy":
        """Return the same policy with these hosts of the operator's settings added."""
        return replace(self, entries=(*self.entries, *hosts))

    @cached_property
    def _networks(self) -> list[Network]:
        found = [*_LOOPBACK] if "localhost" in self.entries else []
        return found + [network for entry in self.entries if (network := parse_network(entry)) is not None]


WEB = AddressPolicy((PUBLIC,), frozenset(DEFAULT_PORTS.values()))  # pages of the internet, nothing inside


def build_service_policy(*, is_verified: bool = False) -> AddressPolicy:
    """Return the policy for addresses entered in the administration: COPILOT_OUTGOING_ALLOW.

    is_verified: TLS authenticates the server by a publicly trusted certificate; `public` requires that.
    """
    entries: tuple[str, ...] = tuple(settings.OUTGOING_ALLOW)
    return AddressPolicy(entries if is_verified else tuple(entry for entry in entries if entry != PUBLIC))


def build_http_service_policy(url: str) -> AddressPolicy:
    """Return `build_service_policy` for a service reached by HTTP."""
    return build_service_policy(is_verified=url.startswith("https://"))


def build_page_policy() -> AddressPolicy:
    """Return the policy for sources of documents: the internet, and what COPILOT_OUTGOING_ALLOW names, except `private`."""
    return AddressPolicy((PUBLIC, *(entry for entry in settings.OUTGOING_ALLOW if entry not in WORDS)))


def look_up_host(host: str, port: int) -> list[str]:
    """Return the addresses of a name, in the system's order; an address is itself. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_rest, sockaddr in found))


def check_target(host: str, port: int, policy: AddressPolicy, *, resolve: LookUp | None = None) -> PermittedTarget:
    """Return the target for a host and port. Resolves names, so it may block. Raises AddressRefused.

    resolve: replaces `look_up_host`.
    """
    name = normalise_host(host)
    if not 0 < port < 65_536 or (policy.ports and port not in policy.ports):
        raise AddressRefused(_("This server may not connect to port %(port)s.") % {"port": port})
    try:
        texts = (resolve or look_up_host)(name, port)
    except (OSError, UnicodeError) as error:
        raise AddressRefused(_("The name %(host)s does not resolve: check it.") % {"host": name}) from error
    if not texts:
        raise AddressRefused(_("The name %(host)s does not resolve: check it.") % {"host": name})
    for text in texts:
        if "%" in text or not policy.permits(name, port, ip_address(text)):
            raise _make_refused_error(name, text)
    return PermittedTarget(name, port, tuple(texts[:MAX_ADDRESSES]))


def is_on_this_machine(host: str) -> bool:
    """Tell whether a host names this machine itself: `localhost` or a loopback address. host: as `normalise_host` gives it."""
    address = _parse_address(host)
    return host == "localhost" if address is None else any(address in network for network in _LOOPBACK)


def require_plausible_host(host: str, policy: AddressPolicy) -> str:
    """Return the host as `normalise_host` does, without resolving, for forms. Raises AddressRefused for a forbidden address."""
    name = normalise_host(host)
    address = _parse_address(name)
    if address is not None and not policy.allows(name, address):
        raise _make_refused_error(name, name)
    return name


def normalise_host(text: str) -> str:
    """Return one host in its plain form: lower case, IDN as xn--, no dot at the end; IPv6 without brackets.

    Raises AddressRefused for several hosts (libpq takes `a,b`), socket paths, zones, and numbers that some resolvers read as
    addresses (`127.1`, `0x7f000001`, `017700000001`).
    """
    host = _encode_plain_host(text)
    if host is None:
        raise _make_invalid_host_error(text)
    return host


def check_url(url: str, policy: AddressPolicy, *, resolve: LookUp | None = None) -> PermittedTarget:
    """Return `check_target` for an http(s) URL."""
    return check_target(*parse_url(url), policy, resolve=resolve)


def parse_url(url: str) -> tuple[str, int]:
    """Return host and port of an http(s) URL.

    Raises AddressRefused for a URL that parsers read differently, or with a name or password.
    """
    if len(url) > MAX_CHARACTERS or re.search(r"[\x00-\x20\x7f\\]", url):
        raise AddressRefused(_("This is not an address: it has invalid characters or is too long."))
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused(_("This is not an address. Write it as https://host/path.")) from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise AddressRefused(_("This is not an address. Write it as https://host/path."))
    if "@" in parts.netloc:
        raise AddressRefused(_("An address must not contain a user name or a password. Remove the part before the @."))
    if parts.netloc.startswith("[") and not re.fullmatch(r"\[[0-9a-f:.]+\](:\d*)?", parts.netloc, re.IGNORECASE):
        raise _make_invalid_host_error(parts.netloc)
    return parts.hostname, port if port is not None else DEFAULT_PORTS[parts.scheme]


def parse_network(entry: str) -> Network | None:
    """Return the network of an entry of a list of allowed ones; None for a name."""
    try:
        return ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None


def parse_entries(text: str) -> tuple[str, ...]:
    """Return comma-separated allowed hosts and networks in plain form. Raises ValueError for other entries."""
    found = []
    for entry in filter(None, (part.strip().lower() for part in text.split(","))):
        network = parse_network(entry)
        name = str(network) if network else _encode_plain_host(entry.removeprefix("*."))
        if name is None:
            raise ValueError(f"{entry} is neither a host, *.name, an address nor a network like 10.0.0.0/8")
        found.append(f"*.{name}" if entry.startswith("*.") else name)
    return tuple(found)


def _encode_plain_host(text: str) -> str | None:
    host = text.lower()
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError:
            return None
    address = _parse_address(host)
    if address is not None:
        return str(address)
    host = host.removesuffix(".")
    return host if _NAME.fullmatch(host) and not _NUMBER.fullmatch(host.rpartition(".")[2]) else None


def _parse_address(host: str) -> Address | None:
    try:
        return None if "%" in host else ip_address(host)
    except ValueError:
        return None


def _extract_ipv4(address: Address) -> Address:
    """Return the IPv4 address embedded in an IPv6 one."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_subnet_of(inner: Network, outer: Network) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)


def _matches_entry(host: str, entry: str) -> bool:
    return host.endswith(entry[1:]) if entry.startswith("*.") else host == entry and entry not in WORDS


def _make_invalid_host_error(text: str) -> AddressRefused:
    return AddressRefused(
        _("“%(host)s” is not a host. Give one name, or one address like 10.1.2.3.") % {"host": text[:100]}
    )


def _make_refused_error(host: str, address: str) -> AddressRefused:
    message = _(
        "This server may not connect to %(host)s (%(address)s): it is not among the hosts and networks in %(setting)s."
    )
    return AddressRefused(message % {"host": host, "address": address, "setting": SETTING})
