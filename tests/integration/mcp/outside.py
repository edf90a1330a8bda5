"""Services that are set up: read, allowed, switched on in a profile."""

from collections.abc import Iterable
from typing import Any

from agent.mcp_client.services import fetch_service_tools, save_service
from agent.models import AgentProfile, McpService
from authz.principal import Principal
from tests.factories import make_user
from tests.mcp_service import Service

READING = ("find_tickets", "odd")


def administrator() -> Principal:
    return Principal.of(make_user(is_superuser=True))


def set_up(
    service: Service,
    *,
    allowed: Iterable[str] = ("find_tickets", "make_ticket"),
    unasked: Iterable[str] = READING,
    **more: Any,
) -> McpService:
    """The service with its tools read; those of `unasked` that are allowed run without asking."""
    row = McpService(name="desk", **({"url": service.url} | more))
    save_service(None, row, secret="Bearer of-a-test")
    fetch_service_tools(administrator(), row)
    row.refresh_from_db()
    row.allowed_tools = list(allowed)
    row.unasked_tools = [name for name in unasked if name in row.allowed_tools]
    save_service(None, row)
    return row


def switched_on(*names: str) -> AgentProfile:
    """The default profile, which has these tools and the search."""
    return AgentProfile.objects.create(name="with tools", is_default=True, allowed_tools=["knowledge_search", *names])
