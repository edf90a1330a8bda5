"""Administration of outside services: an address changes with its secret, tools are fetched before they are allowed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.mcp_client.address import (
    ServiceAddress,
    ServiceUnusable,
    build_service_address,
    format_secret_place,
    load_local_commands,
    seal_service_secret,
)
from agent.mcp_client.connection import ask_service
from agent.models import McpService
from agent.models.mcp_services import Transport
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.outgoing.addresses import build_http_service_policy, parse_url, require_plausible_host
from copilot_site.lib.text.json_input import remove_forbidden_characters
from copilot_site.lib.text.one_line import fold_to_one_line

if TYPE_CHECKING:
    from mcp import Client

READ_S = 20.0
MAX_TOOLS, MAX_PAGES = 128, 10
MAX_DESCRIPTION, MAX_SCHEMA = 1_000, 8_000  # characters of one tool that models are told


@transaction.atomic
def save_service(by: Principal | None, row: McpService, *, secret: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a service. secret: a new one; "" keeps the stored one as long as the address stays.

    fields: the changed fields, for the log.

    Returns whether a stored secret was removed because it was for another address. Raises InvalidInput for an invalid
    or forbidden address, and for a local service missing from the server's file.
    """
    check_service_address(row, secret)
    before = McpService.objects.select_for_update().filter(pk=row.pk).first()
    is_moved = before is not None and (before.url, before.transport) != (row.url, row.transport)
    is_elsewhere = before is not None and (is_moved or format_secret_place(before) != format_secret_place(row))
    if secret:
        row.encrypted_secret = seal_service_secret(row, secret)
    elif is_elsewhere:
        row.encrypted_secret = ""
    if before is not None:  # tokens may have been renewed since the row was read
        row.encrypted_sign_in = "" if is_elsewhere else before.encrypted_sign_in
        row.signed_in_at = None if is_elsewhere else before.signed_in_at
    if is_moved:  # the allowed tools were those of another service
        row.tools, row.allowed_tools, row.unasked_tools, row.read_at = [], [], [], None
    row.save()
    detail: dict[str, object] = {"fields": list(fields), "allowed": row.allowed_tools, "unasked": row.unasked_tools}
    if before is None or is_elsewhere:
        detail |= {"address_before": format_secret_place(before) if before else "", "address": format_secret_place(row)}
    record_action(by, Action.AGENT_CHANGED, row, detail=detail)
    return is_elsewhere and not secret and bool(before and before.encrypted_secret)


def check_service_address(row: McpService, secret: str = "") -> None:
    """Check the address of a service. Raises InvalidInput."""
    if row.transport != Transport.LOCAL:
        if not row.url:
            raise InvalidInput(_("Give the address of the service."))
        require_plausible_host(parse_url(row.url)[0], build_http_service_policy(row.url))
        _check_oauth_client(row, secret)
        if row.oauth_issuer:
            require_plausible_host(parse_url(row.oauth_issuer)[0], build_http_service_policy(row.oauth_issuer))
        return
    if row.oauth_issuer or row.oauth_client_id or row.is_signed_in_to:
        raise InvalidInput(_("A command from the server's file needs no tokens: leave issuer and client id empty."))
    if row.url:
        raise InvalidInput(_("A command from the server's file has no address: leave it empty."))
    known = load_local_commands()
    if row.name not in known:
        raise InvalidInput(
            _("The server's file names no command “%(name)s”. It names: %(known)s.")
            % {"name": row.name, "known": ", ".join(sorted(known)) or "-"}
        )


def _check_oauth_client(row: McpService, secret: str) -> None:
    if not row.is_signed_in_to:
        if bool(row.oauth_issuer) != bool(row.oauth_client_id):
            raise InvalidInput(_("Give both the issuer of tokens and the client id, or neither."))
        return
    if row.oauth_client_id and not row.oauth_issuer:
        raise InvalidInput(_("Give the issuer of tokens that this client id is known to."))
    if secret and not row.oauth_client_id:
        raise InvalidInput(_("A key without a client id is for nobody: leave it empty, or give the client id."))


def fetch_service_tools(by: Principal, row: McpService) -> int:
    """Fetch and store the service's tool descriptions; return their number.

    A tool stays allowed while its description is unchanged; a changed one must be allowed again. Raises
    ServiceUnusable.
    """
    found = async_to_sync(_fetch_tool_descriptions)(build_service_address(row))
    with transaction.atomic():
        row = McpService.objects.select_for_update().get(pk=row.pk)
        before = {tool["name"]: tool for tool in row.tools}
        same = {tool["name"] for tool in found if before.get(tool["name"]) == tool}
        row.allowed_tools = [name for name in row.allowed_tools if name in same]
        row.unasked_tools = [name for name in row.unasked_tools if name in same]
        row.tools, row.read_at = found, timezone.now()
        row.save(update_fields=["tools", "allowed_tools", "unasked_tools", "read_at"])
        record_action(by, Action.AGENT_CHANGED, row, detail={"tools_read": [tool["name"] for tool in found]})
    return len(found)


async def _fetch_tool_descriptions(address: ServiceAddress) -> list[dict[str, Any]]:
    import asyncio

    async def pages(client: "Client") -> list[Any]:
        tools: list[Any] = []
        cursor: str | None = None
        for _page in range(MAX_PAGES):
            listed = await client.list_tools(cursor=cursor)
            tools += listed.tools
            cursor = listed.next_cursor
            if not cursor or len(tools) >= MAX_TOOLS:
                break
        return tools[:MAX_TOOLS]

    try:
        async with asyncio.timeout(READ_S):
            tools = await ask_service(address, pages)
    except TimeoutError as error:
        raise ServiceUnusable(_("The service “%(name)s” did not answer in time.") % {"name": address.name}) from error
    return [described for tool in tools if (described := _build_stored_tool(tool))]


def _build_stored_tool(tool: Any) -> dict[str, Any] | None:
    """Return a tool for storage; None where its schema is too long for a model, or not storable."""
    if len(str(tool.input_schema)) > MAX_SCHEMA or len(tool.name) > 128:
        return None
    annotations = tool.annotations
    descriptions = {
        "name": tool.name,
        "title": fold_to_one_line(tool.title or (annotations and annotations.title) or tool.name)[:120],
        "description": (tool.description or "")[:MAX_DESCRIPTION],
        "schema": dict(tool.input_schema),
        "is_read_only": bool(annotations and annotations.read_only_hint),
    }
    return descriptions if remove_forbidden_characters(descriptions) == descriptions else None
