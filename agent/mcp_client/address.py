"""Where a service is and with which secret, read from its row for one connection; the command of a local one from the server's file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from agent.models import McpService
from agent.models.mcp_services import Transport
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.outgoing import parsed_url, require_plausible, services_at
from copilot_site.lib.sealing import SealBroken, seal, unseal


class ServiceUnusable(CopilotError):
    """A service cannot be reached or does not answer as it should; the text says why in one sentence."""


@dataclass(frozen=True)
class Address:
    """url, headers: of a service behind HTTP. command: program, arguments and environment of a local one."""

    name: str
    transport: str
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: Mapping[str, Any] = field(default_factory=dict, repr=False)


def address_of(row: McpService) -> Address:
    """Raises ServiceUnusable where its secret cannot be read, or its command is gone from the file; InvalidInput for a wrong address."""
    if row.transport == Transport.LOCAL:
        command = local_commands().get(row.name)
        if command is None:
            raise ServiceUnusable(_("The server's file names no command for “%(name)s”.") % {"name": row.name})
        return Address(row.name, row.transport, command=command)
    require_plausible(parsed_url(row.url)[0], services_at(row.url))
    secret = _opened(row)
    return Address(row.name, row.transport, row.url, {row.header_name: secret} if secret else {})


def sealed(secret: str, url: str) -> str:
    """As it is stored, for this address alone."""
    return seal(secret, purpose=_purpose(url), secrets=_secrets())


def local_commands() -> dict[str, Mapping[str, Any]]:
    """The commands of COPILOT_MCP_COMMANDS by name, in the format that assistants share: {"mcpServers": {name: {command, args, env}}}.

    Raises ServiceUnusable for a file that is none.
    """
    if not settings.MCP_COMMANDS:
        return {}
    try:
        listed = json.loads(Path(settings.MCP_COMMANDS).read_text(encoding="utf-8"))["mcpServers"]
        return {name: each for name, each in listed.items() if isinstance(each["command"], str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ServiceUnusable(
            _("The file %(path)s with commands cannot be read: %(why)s")
            % {"path": settings.MCP_COMMANDS, "why": type(error).__name__}
        ) from error


def _opened(row: McpService) -> str:
    try:
        return unseal(row.encrypted_secret, purpose=_purpose(row.url), secrets=_secrets())
    except SealBroken:
        raise ServiceUnusable(
            _("The key of “%(name)s” was stored for another address or secret: enter it again.") % {"name": row.name}
        ) from None


def _purpose(url: str) -> str:
    return f"copilot mcp service keys {url}"


def _secrets() -> list[str]:
    return [secret for secret in (settings.LLM["keys_secret"], settings.SECRET_KEY) if secret]
