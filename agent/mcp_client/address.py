"""The address and secret of a service, read from its row for one connection.

The command of a local one from the server's file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from agent.connections import service_keys
from agent.mcp_client.oauth import OAuthClient, SignedIn
from agent.models import McpService
from agent.models.mcp_services import Transport
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.outgoing.addresses import build_http_service_policy, parse_url, require_plausible_host

KIND = "mcp service"  # that a secret is stored for


class ServiceUnusable(CopilotError):
    """A service cannot be reached or does not answer as expected; the text says why in one sentence."""


@dataclass(frozen=True)
class ServiceAddress:
    """url, headers: of a service over HTTP. oauth: its token source.

    command: program, arguments and environment of a local one.
    """

    name: str
    transport: str
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    oauth: OAuthClient | SignedIn | None = None
    command: Mapping[str, Any] = field(default_factory=dict, repr=False)


def build_service_address(row: McpService) -> ServiceAddress:
    """Return the address of a service.

    Raises ServiceUnusable where its secret cannot be read, nobody is signed in, or its command is missing from the
    file; InvalidInput for an invalid address.
    """
    if row.transport == Transport.LOCAL:
        command = load_local_commands().get(row.name)
        if command is None:
            raise ServiceUnusable(_("The server's file names no command for “%(name)s”.") % {"name": row.name})
        return ServiceAddress(row.name, row.transport, command=command)
    require_plausible_host(parse_url(row.url)[0], build_http_service_policy(row.url))
    if row.is_signed_in_to:
        if not row.encrypted_sign_in:
            raise ServiceUnusable(_("Nobody is signed in to “%(name)s”: connect it on its page.") % {"name": row.name})
        return ServiceAddress(row.name, row.transport, row.url, oauth=SignedIn(row.pk, format_secret_place(row)))
    secret = open_service_secret(row)
    if row.oauth_issuer:
        client = OAuthClient(row.oauth_issuer, row.oauth_client_id, row.oauth_scope, secret)
        return ServiceAddress(row.name, row.transport, row.url, oauth=client)
    return ServiceAddress(row.name, row.transport, row.url, {row.header_name: secret} if secret else {})


def seal_service_secret(row: McpService, secret: str) -> str:
    """Seal a secret for the address, issuer and client of this row only."""
    return service_keys.seal_service_key(secret, format_secret_place(row), of=KIND)


def format_secret_place(row: McpService) -> str:
    """Return the text that a row's secret is bound to: where it may be sent, and what a sign-in is for."""
    if row.is_signed_in_to:
        return f"{row.url} by a sign-in at {row.oauth_issuer or 'its issuer'} for {row.oauth_client_id or 'a registered client'}"
    return f"{row.url} by {row.oauth_issuer} for {row.oauth_client_id}" if row.oauth_issuer else row.url


def load_local_commands() -> dict[str, Mapping[str, Any]]:
    """Read the commands of COPILOT_MCP_COMMANDS by name, in the format that assistants share.

    Format: {"mcpServers": {name: {command, args, env}}}. Raises ServiceUnusable for an invalid file.
    """
    if not settings.MCP_COMMANDS:
        return {}
    try:
        listed = json.loads(Path(settings.MCP_COMMANDS).read_text(encoding="utf-8"))["mcpServers"]
        return {name: item for name, item in listed.items() if isinstance(item["command"], str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ServiceUnusable(
            _("The file %(path)s with commands cannot be read: %(why)s")
            % {"path": settings.MCP_COMMANDS, "why": type(error).__name__}
        ) from error


def open_service_secret(row: McpService) -> str:
    """Return the secret in the clear, "" for none. Raises ServiceUnusable."""
    try:
        return service_keys.open_service_key(row.encrypted_secret, format_secret_place(row), of=KIND)
    except service_keys.KeyLost:
        raise ServiceUnusable(
            _("The key of “%(name)s” was stored for another address or secret: enter it again.") % {"name": row.name}
        ) from None
