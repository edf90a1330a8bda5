from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BusinessConfig(AppConfig):
    name = "business"
    label = "business"
    verbose_name = _("Business data")

    def ready(self) -> None:
        from business.results.visibility import query_sources
        from business.sources.services import find_still_visible
        from business.spreadsheets.sources import describe_on_commit
        from knowledge.ingestion.publish import published

        query_sources.add(self.label, find_still_visible)
        published.add(self.label, describe_on_commit)
