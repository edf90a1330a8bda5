"""Make the knowledge graph of what is ingested already, here and now."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from copilot_site.lib.commands import report_command_errors
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.graph.building import fill_base_graph, find_unread_documents
from knowledge.graph.storage import delete_base_graph
from knowledge.models import GraphEntity, GraphMode, GraphReading, GraphRelation, KnowledgeBase


class Command(BaseCommand):
    help = "Read the documents of a knowledge base, or of all, for its graph. What was read already is left as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", default="", help="name of the knowledge base; default: all that have a graph")
        parser.add_argument(
            "--again", action="store_true", help="also what was read already; names merged and refused by hand stay"
        )

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            for base in self._find_bases(options["kb"]):
                if options["again"]:
                    GraphReading.objects.filter(document__knowledge_base=base).delete()
                self._build_graph(base)

    def _find_bases(self, name: str) -> list[KnowledgeBase]:
        rows = KnowledgeBase.unscoped.filter(name=name) if name else KnowledgeBase.unscoped.exclude(graph=GraphMode.OFF)
        found = list(rows.order_by("name"))
        if name and not found:
            raise NotFound(f"There is no knowledge base “{name}”.")
        if name and found[0].graph == GraphMode.OFF:
            delete_base_graph(found[0])
            raise InvalidInput(f"The knowledge base “{name}” is set to have no graph.")
        return found

    def _build_graph(self, base: KnowledgeBase) -> None:
        began = time.perf_counter()
        count = fill_base_graph(base.pk)
        entities = GraphEntity.unscoped.filter(knowledge_base=base).count()
        relations = GraphRelation.unscoped.filter(knowledge_base=base).count()
        self.stdout.write(
            f"{base.name}: {count} documents read in {time.perf_counter() - began:.1f} s; "
            f"{entities} entities, {relations} relations"
        )
        if left := find_unread_documents(base.pk).count():
            self.stdout.write(f"{base.name}: {left} documents are left; another process is reading this base.")
