from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        """Register our folders as the rows that carry rights, our titles for the audit log, and graphs of published versions."""
        from audit.titles import register_title_lookup
        from authz.rights.tree import TreeModels, register_tree
        from knowledge.graph.queueing import queue_document_on_commit
        from knowledge.ingestion.publish import published
        from knowledge.models import Folder, FolderLink, KnowledgeBase
        from knowledge.selectors import find_recorded_titles

        register_title_lookup(find_recorded_titles)
        register_tree(TreeModels(KnowledgeBase, Folder, FolderLink))
        published.add("knowledge graph", queue_document_on_commit)
