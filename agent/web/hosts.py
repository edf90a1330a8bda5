"""The web hosts that may be read: the company's rules, and internal hosts that the operator allows too."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings

from agent.models import WebHost
from copilot_site.lib.outgoing.addresses import WEB, AddressPolicy, parse_network


@dataclass(frozen=True)
class HostRules:
    """allowed: empty for every host.

    inside: entries that both the company and COPILOT_OUTGOING_ALLOW allow, which may resolve to internal networks.
    """

    allowed: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()

    def permits(self, host: str) -> bool:
        """Return whether a host may be read. host: normalised (`copilot_site.lib.outgoing.addresses.normalise_host`)."""
        if _matches_any_entry(host, self.forbidden):
            return False
        return not self.allowed or _matches_any_entry(host, self.allowed)

    def policy(self, host: str) -> AddressPolicy:
        """Return which addresses of a host may be connected to.

        Public ones on the usual ports, unless the host is listed as inside.
        """
        inside = tuple(entry for entry in self.inside if _matches_any_entry(host, [entry]))
        return AddressPolicy(inside) if inside else WEB


def load_host_rules() -> HostRules:
    rows = list(WebHost.objects.values_list("entry", "is_allowed"))
    allowed = tuple(entry for entry, is_allowed in rows if is_allowed)
    return HostRules(
        allowed=allowed,
        forbidden=tuple(entry for entry, is_allowed in rows if not is_allowed),
        inside=tuple(entry for entry in allowed if entry in settings.OUTGOING_ALLOW),
    )


def _matches_any_entry(host: str, entries: Iterable[str]) -> bool:
    return any(
        host.endswith(entry[1:]) if entry.startswith("*.") else host == entry or _is_same_address(host, entry)
        for entry in entries
    )


def _is_same_address(host: str, entry: str) -> bool:
    network, address = parse_network(entry), parse_network(host)
    return network is not None and address is not None and network == address
