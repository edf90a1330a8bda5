from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentConfig(AppConfig):
    name = "agent"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the tools, so that a name used twice stops the start, and who vouches for facts of documents."""
        from agent.document_facts import vouched
        from agent.skills import grounds
        from agent.tools.base import load
        from business.results.visibility import query_sources

        load()
        query_sources.add(self.label, vouched)
        query_sources.add("agent.skills", grounds.vouched)
