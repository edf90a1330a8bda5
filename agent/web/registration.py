from agent.tools.base import add_tool
from agent.web.web_fetch import WebFetch
from agent.web.web_search import WebSearch
from copilot_site.lib.registry import load_modules


def register() -> None:
    """Register the tools for the web, and the kinds of services that search it."""
    add_tool(WebFetch())
    add_tool(WebSearch())
    load_modules("agent.web.providers")
