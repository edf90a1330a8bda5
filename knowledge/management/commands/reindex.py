"""`manage.py reindex`: index what answers now in the embedding space that the settings name; with `--chunks`, cut it anew first."""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from copilot_site.lib.progress import show_progress_bar
from knowledge.embedding.base import EmbeddingError
from knowledge.ingestion.pipeline import TEMPORARY
from knowledge.ingestion.recutting import recut_version
from knowledge.services.reindex import list_published_versions, reindex_version


class Command(BaseCommand):
    help = (
        "After a change of the embedding model: index every published document in the new space. After a change of the size of "
        "passages: --chunks. Safe to interrupt and repeat."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--chunks",
            action="store_true",
            help="Cut documents anew whose passages have other sizes than the settings say.",
        )

    def handle(self, *, chunks: bool, **options: Any) -> None:
        if chunks:
            bar = show_progress_bar(list_published_versions(), desc="cut", unit="document")
            self.stdout.write(f"{sum(self._cut_version(version.pk) for version in bar)} documents cut anew.")
        versions = list_published_versions()
        try:
            rows = sum(
                reindex_version(version) for version in show_progress_bar(versions, desc="index", unit="document")
            )
        except EmbeddingError as error:
            raise CommandError(f"{error} What is indexed stays; repeat this when it is mended.") from error
        self.stdout.write(f"{len(versions)} documents, {rows} passages indexed.")

    def _cut_version(self, version_id: UUID) -> bool:
        try:
            return recut_version(version_id)
        except (*TEMPORARY, EmbeddingError) as error:
            self.stderr.write(f"{version_id}: {error} It answers as before; repeat this.")
            return False
