from agent.mcp_client.tool import build_outside_tools, select_visible_results
from agent.tools.base import outside_kinds
from business.results.visibility import query_sources


def register() -> None:
    """Register the tools of outside services, and the visibility check for their results."""
    outside_kinds.add("mcp", build_outside_tools)
    query_sources.add("mcp", select_visible_results)
