from agent.mcp_client.tool import outside_tools, still_visible
from agent.tools.base import outside_kinds
from business.results.visibility import query_sources


def register() -> None:
    """Register the tools of outside services, and the visibility check for their results."""
    outside_kinds.add("mcp", outside_tools)
    query_sources.add("mcp", still_visible)
