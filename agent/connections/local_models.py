"""Language models on this machine: a superuser allows one exact host and port, for this model's calls alone.

The permission is a column of the model's row, `find_local_address`. It is compared with the row's address whenever the model is asked, so
it ends when the address changes, the model is deleted, or the operator takes `local-models` out of COPILOT_OUTGOING_ALLOW.
"""

from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from agent.models import LanguageModel
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.outgoing.addresses import (
    DEFAULT_PORTS,
    LOCAL_MODELS,
    AddressPolicy,
    AddressRefused,
    build_http_service_policy,
    is_on_this_machine,
    normalise_host,
    parse_url,
    require_plausible_host,
)


def find_local_address(url: str) -> str:
    """Return `host:port` where an address names this machine itself, else "". Raises AddressRefused for no address."""
    host, port = _split_host_and_port(url)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if is_on_this_machine(host) else ""


def build_model_policy(row: LanguageModel) -> AddressPolicy:
    """Return where this model may be connected to."""
    policy = build_http_service_policy(row.base_url)
    if not row.local_address or LOCAL_MODELS not in settings.OUTGOING_ALLOW:
        return policy
    host, port = _split_host_and_port(row.base_url)
    is_allowed = row.local_address == find_local_address(row.base_url) and port not in list_own_ports()
    return replace(policy, here=(host, port)) if is_allowed else policy


def require_model_address(row: LanguageModel) -> None:
    """Require a valid and allowed address; other names are resolved when connecting. Raises AddressRefused."""
    if needs_address_permission(row):
        require_allowable_address(row.base_url)
        message = _("This server may not connect to itself (%(address)s) unless you allow it here.")
        raise AddressRefused(message % {"address": find_local_address(row.base_url)})
    if not find_local_address(row.base_url):
        require_plausible_host(parse_url(row.base_url)[0], build_http_service_policy(row.base_url))


def needs_address_permission(row: LanguageModel) -> bool:
    """Tell whether the model is on this machine and nobody allowed its address: neither a superuser nor the operator."""
    host, _port = _split_host_and_port(row.base_url)
    policy = build_model_policy(row)
    if not find_local_address(row.base_url) or policy.here is not None:
        return False
    named = ("127.0.0.1", "::1") if host == "localhost" else (host,)
    return not any(policy.allows(host, ip_address(one)) for one in named)


def permit_local_address(by: Principal | None, row: LanguageModel) -> bool:
    """Allow the row's address on this machine for its calls, without saving it; return whether that is new.

    Raises PermissionDenied unless a superuser asks, AddressRefused where the operator forbids it or the port is our own.
    """
    address = find_local_address(row.base_url)
    if not address or row.local_address == address:
        return False
    if by is None or not by.is_superuser:
        raise PermissionDenied(_("Only a superuser may allow a language model on this machine."))
    require_allowable_address(row.base_url)
    row.local_address = address
    return True


def require_allowable_address(url: str) -> None:
    """Require that a superuser could allow this address. Raises AddressRefused."""
    if LOCAL_MODELS not in settings.OUTGOING_ALLOW:
        message = _("The operator of this server does not allow language models on this machine (%(setting)s).")
        raise AddressRefused(message % {"setting": "COPILOT_OUTGOING_ALLOW"})
    if (port := _split_host_and_port(url)[1]) in list_own_ports():
        message = _("Port %(port)d belongs to this server's own services. Start the model on another port.")
        raise AddressRefused(message % {"port": port})


def list_own_ports() -> frozenset[int]:
    """Return the ports of our web server, databases and Valkey, on whatever host: this machine has many names."""
    ports = {5432, 6379, settings.WEB_PORT, *(one.get("PORT") for one in settings.DATABASES.values())}
    for url in (settings.REDIS_URL, settings.SITE_URL):
        with suppress(ValueError):
            ports.add(urlsplit(url).port or DEFAULT_PORTS.get(urlsplit(url).scheme))
    return frozenset(int(port) for port in ports if port)


def _split_host_and_port(url: str) -> tuple[str, int]:
    host, port = parse_url(url)
    return normalise_host(host), port
