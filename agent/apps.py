from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentConfig(AppConfig):
    name = "agent"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the tools, the removable parts, who vouches for cited results, and the model that reads for the knowledge graph."""
        from agent.document_facts import vouched
        from agent.graph_reading import read_passages
        from agent.models.profiles import add_tool_check
        from agent.parts import part_modules
        from agent.tools.base import check_names, load
        from agent.verified_answers import matching
        from business.results.visibility import query_sources
        from knowledge.graph.model_extractors import model_readers

        load()
        add_tool_check(check_names)
        query_sources.add(self.label, vouched)
        query_sources.add("agent.verified_answers", matching.vouched)
        model_readers.add(self.label, read_passages)
        for part in part_modules("registration"):
            part.register()
