from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentConfig(AppConfig):
    name = "agent"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the tools, the removable parts, and the visibility checks for cited results."""
        from agent.evidence.document_facts import still_visible
        from agent.models.profiles import add_tool_check
        from agent.parts import import_part_modules
        from agent.tools.base import check_tool_names, load_tools
        from agent.verified_answers import matching, review
        from business.results.visibility import query_sources
        from knowledge.services.removal import removing

        load_tools()
        add_tool_check(check_tool_names)
        query_sources.add(self.label, still_visible)
        query_sources.add("agent.verified_answers", matching.still_visible)
        removing.add(self.label, review.keep_last_folder)
        for part in import_part_modules("registration"):
            part.register()
