"""What of services outside is shown again: what they brought, as long as they are switched on, and what waits to be allowed."""

from collections.abc import Collection, Sequence
from uuid import UUID

from agent.models import McpService, ToolApproval
from authz.principal import Principal
from business.results.visibility import Queried

SOURCE = "mcp:"  # no data source has a name that begins so: theirs have no colon


def vouched(_principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Those that services brought which are switched on now."""
    brought = {one: one.source.removeprefix(SOURCE) for one in queried if one.source.startswith(SOURCE)}
    if not brought:
        return set()
    there = set(McpService.objects.filter(is_enabled=True, name__in=brought.values()).values_list("name", flat=True))
    return {one for one, name in brought.items() if name in there}


def approvals_of(principal: Principal, message_ids: Sequence[UUID]) -> dict[UUID, ToolApproval]:
    """What these answers ask the person to allow, by answer."""
    rows = ToolApproval.objects.filter(user_id=principal.user_id, message_id__in=message_ids)
    return {row.message_id: row for row in rows}
