from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        """Register our folders as the rows that carry rights, and queue graphs when versions are published."""
        from authz.tree import Tree, use_tree
        from knowledge.graph.queueing import follow_on_commit
        from knowledge.ingestion.publish import published
        from knowledge.models import Folder, FolderLink, KnowledgeBase

        use_tree(Tree(KnowledgeBase, Folder, FolderLink))
        published.add("knowledge graph", follow_on_commit)
