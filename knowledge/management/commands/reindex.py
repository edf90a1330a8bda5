"""`manage.py reindex`: index what answers now in the embedding space that the settings name."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from copilot_site.lib.progress import progress
from knowledge.embedding.base import EmbeddingError
from knowledge.services.reindex import published_versions, reindex_version


class Command(BaseCommand):
    help = "After a change of the embedding model: index every published document in the new space. Safe to interrupt and repeat."

    def handle(self, **options: Any) -> None:
        versions = published_versions()
        bar = progress(versions, desc="index", unit="document")
        try:
            rows = sum(reindex_version(version) for version in bar)
        except EmbeddingError as error:
            raise CommandError(f"{error} What is indexed stays; repeat this when it is mended.") from error
        self.stdout.write(f"{len(versions)} documents, {rows} passages indexed.")
