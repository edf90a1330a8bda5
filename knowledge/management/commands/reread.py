"""`manage.py reread`: read documents again that older parsers read, or that were read before their base was set up otherwise."""

from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from knowledge.ingestion.pipeline import TEMPORARY, run_ingestion
from knowledge.models import DocumentVersion, ParseStatus
from knowledge.services.reindex import begin_rereading, list_outdated_versions


class Command(BaseCommand):
    help = (
        "Read documents again that older parsers read, one after the other; each answers again when it is done. "
        "Needs no worker. Safe to interrupt and repeat."
    )

    def handle(self, **options: Any) -> None:
        ids = list(list_outdated_versions().values_list("pk", flat=True))
        begun = [pk for pk in tqdm(ids, desc="read", unit="version", disable=None) if self._reread_version(pk)]
        failed = DocumentVersion.unscoped.filter(pk__in=begun, parse_status=ParseStatus.FAILED).select_related(
            "document"
        )
        for version in failed:
            self.stdout.write(f"{version}: {version.failure_reason}")
        self.stdout.write(f"{len(begun)} versions read again, {len(failed)} of them cannot be read any more.")

    def _reread_version(self, version_id: Any) -> bool:
        if not begin_rereading(version_id):
            return False
        try:
            run_ingestion(version_id)
        except TEMPORARY as error:
            self.stderr.write(f"{version_id}: {error} A worker goes on with it when one runs.")
        return True
