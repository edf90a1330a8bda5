from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentConfig(AppConfig):
    name = "agent"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the tools, so that a name used twice stops the start."""
        from agent.tools.base import load

        load()
