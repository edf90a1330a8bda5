from agent.tools.base import add_tool
from agent.web.web_fetch import WebFetch
from agent.web.web_search import WebSearch


def register() -> None:
    """Register the tools for the web."""
    add_tool(WebFetch())
    add_tool(WebSearch())
