"""Tasks of the workers for data sources."""

from uuid import UUID

from celery import shared_task

from business import layer_drafts
from business.cleanup import sweep_sandboxes
from business.linking import vectors
from business.spreadsheets.sources import describe_published_version, list_undescribed_spreadsheets


@shared_task(name="business.sweep_sandboxes")
def sweep() -> None:
    """Remove orphaned sandboxes; a source that does not answer waits for the next time."""
    sweep_sandboxes()


@shared_task(name="business.describe_spreadsheet")
def describe_spreadsheet(document_id: str) -> None:
    describe_published_version(UUID(document_id))


@shared_task(name="business.tend_spreadsheets")
def tend_spreadsheets() -> None:
    """Describe what a lost message or a dead worker left."""
    for document_id in list_undescribed_spreadsheets():
        describe_published_version(document_id)


@shared_task(name="business.fill_schema_vectors")
def fill_schema_vectors(source_id: str) -> None:
    vectors.fill_source_vectors(UUID(source_id))


@shared_task(name="business.tend_schema_vectors")
def tend_schema_vectors() -> None:
    """Fill what a lost message, a dead worker or a new embedding model left: the guarantee behind the queue's speed."""
    for source_id in vectors.list_unfilled_sources():
        vectors.fill_source_vectors(source_id)


@shared_task(name="business.draft_layer")
def draft_layer(attempt: str) -> None:
    layer_drafts.run_draft(UUID(attempt))


@shared_task(name="business.tend_layer_drafts")
def tend_layer_drafts() -> None:
    """Take up what a lost message or a dead worker left."""
    layer_drafts.recover_stalled_drafts()
