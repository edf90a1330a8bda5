from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentConfig(AppConfig):
    name = "agent"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the tools, so that a name used twice stops the start, and who vouches for facts of documents."""
        from agent.chat_platforms import base as chat_platforms
        from agent.document_facts import vouched
        from agent.mcp_client.tool import check_names
        from agent.mcp_client.visibility import vouched as vouched_outside
        from agent.models.profiles import add_tool_check
        from agent.skills import grounds
        from agent.tools.base import load
        from agent.verified_answers import matching
        from agent.web.providers import base as web_providers
        from business.results.visibility import query_sources

        load()
        add_tool_check(check_names)
        web_providers.load()
        chat_platforms.load()
        query_sources.add(self.label, vouched)
        query_sources.add("mcp", vouched_outside)
        query_sources.add("agent.skills", grounds.vouched)
        query_sources.add("agent.verified_answers", matching.vouched)
