from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        """Register our folders as the rows that carry rights, our titles for the audit log, and graphs of published versions."""
        from audit.titles import use_titles
        from authz.rights.tree import Tree, use_tree
        from knowledge.graph.queueing import follow_on_commit
        from knowledge.ingestion.publish import published
        from knowledge.models import Folder, FolderLink, KnowledgeBase
        from knowledge.selectors import recorded_titles

        use_titles(recorded_titles)
        use_tree(Tree(KnowledgeBase, Folder, FolderLink))
        published.add("knowledge graph", follow_on_commit)
