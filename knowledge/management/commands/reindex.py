"""`manage.py reindex`: index what answers now in the embedding space that the settings name."""

from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from knowledge.services.reindex import published_versions, reindex_version


class Command(BaseCommand):
    help = "After a change of the embedding model: index every published document in the new space. Safe to interrupt and repeat."

    def handle(self, **options: Any) -> None:
        versions = published_versions()
        rows = sum(reindex_version(version) for version in tqdm(versions, desc="index", unit="document", disable=None))
        self.stdout.write(f"{len(versions)} documents, {rows} passages indexed.")
