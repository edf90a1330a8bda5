from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BusinessConfig(AppConfig):
    name = "agent.business"
    label = "business"
    verbose_name = _("Business data")

    def ready(self) -> None:
        from agent.business.sources import vouched
        from agent.query_results.sources import query_sources

        query_sources.add(self.label, vouched)
