"""The life of an uploaded version: parse → chunk → embed → publish.

Each stage can be done again with the same result, and a version resumes at its first unfinished stage. A stage works without a
transaction and gives back what is to be written; the write, its end and the next one's beginning are one transaction. Every write
goes through `open_fenced_transaction`, so a worker that lost its lease changes nothing.
"""

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import NamedTuple
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.record import record_action
from copilot_site.lib.database import open_prepared_cursor
from knowledge.embedding.base import EmbedderUnavailable
from knowledge.ingestion import stages
from knowledge.ingestion.lease import (
    MAX_ATTEMPTS,
    LeaseLost,
    claim_version,
    hold_lease,
    open_fenced_transaction,
    release_for_retry,
    release_without_attempt,
    return_to_queue,
)
from knowledge.ingestion.publish import publish_version
from knowledge.ingestion.stages import Written
from knowledge.models import Chunk, DocumentVersion, ParseStatus, Stage, StageName, StageStatus, WebhookEvent
from knowledge.parsers.base import UnreadableFile
from knowledge.webhooks.announcing import announce_document

log = structlog.get_logger(__name__)


class Step(NamedTuple):
    name: StageName
    run: Callable[[DocumentVersion, "StageProgress"], Written]


class StageProgress:
    """The progress of a stage, written to its row for the page, while the lease is held.

    share: of a version that people wait for; a stage that turns out to have more pictures to read ends with _MoreThanItsShare.
    """

    def __init__(self, version: DocumentVersion, stage: StageName, share: "WorkShare | None" = None) -> None:
        self.mine = Stage.objects.filter(version=version, name=stage, version__lease=version.lease)
        self.most = share.pictures if share and stage is StageName.PARSE else None

    def __call__(self, done: int, total: int) -> None:
        if self.most is not None and total > self.most:
            raise _MoreThanItsShare
        self.mine.update(items_done=done, items_total=total)


# Temporary failures of the database, the storage, the disk and the embedding service.
TEMPORARY = (EmbedderUnavailable, OperationalError, InterfaceError, OSError)

STEPS = (
    Step(StageName.PARSE, stages.parse_version),
    Step(StageName.CHUNK, stages.chunk_version),
    Step(StageName.EMBED, stages.embed_version),
    Step(StageName.PUBLISH, publish_version),
)


class WorkShare(NamedTuple):
    """The limit of work done at once on one version while others wait behind it."""

    size_bytes: int
    pictures: int
    passages: int


class _MoreThanItsShare(Exception):
    """The rest belongs in the queue of imports."""


def run_ingestion(version_id: UUID, *, share: WorkShare | None = None) -> bool:
    """Ingest one version as far as possible; do nothing when it cannot be claimed.

    share: of a version that people wait for. What is larger, or turns out to have more pictures or passages, is handed over to the queue
    of imports, to go on there from the stage it has reached; True says so. What is wrong with the file ends as `failed` with its reason,
    and so does a mistake of ours. A temporary error gives the lease back and is raised for the queue to try again; the attempts are
    counted in the row.
    """
    version = claim_version(version_id)
    if version is None:
        return False
    try:
        with hold_lease(version):
            _run_steps_or_close(version, share if version.queue == "interactive" else None)
    except _MoreThanItsShare:
        return return_to_queue(version)
    except LeaseLost:
        log.info("ingestion.lease_lost", version=str(version.pk))
    return False


def _run_steps_or_close(version: DocumentVersion, share: WorkShare | None) -> None:
    """Run the steps and close the version when one fails. Raises LeaseLost, _MoreThanItsShare, and temporary errors after giving back."""
    try:
        _run_steps(version, share)
    except (LeaseLost, _MoreThanItsShare):
        raise
    except (KeyboardInterrupt, SystemExit):  # interrupts a command; a worker finishes its task
        release_without_attempt(version)
        raise
    except UnreadableFile as problem:
        fail_version(version, problem.code, problem.params)
    except TEMPORARY as error:
        log.warning("ingestion.interrupted", version=str(version.pk), attempt=version.attempts, exc_info=True)
        if version.attempts >= MAX_ATTEMPTS:
            fail_exhausted_version(version, type(error).__name__)
        else:
            release_for_retry(version)
            raise
    except Exception as error:
        log.exception("ingestion.broken", version=str(version.pk))
        fail_version(version, "unexpected", {"error": type(error).__name__})


def fail_exhausted_version(version: DocumentVersion, error: str = "WorkerLost") -> None:
    """Close a version that used up its attempts."""
    fail_version(version, "gave_up", {"count": version.attempts, "error": error})


def fail_version(version: DocumentVersion, code: str, params: Mapping[str, str | int | float]) -> None:
    """Close a version as failed, with the reason (a key of REASONS) where people read it. Raises LeaseLost."""
    with open_fenced_transaction(version):
        Stage.objects.filter(version=version, status=StageStatus.RUNNING).update(
            status=StageStatus.FAILED, finished_at=timezone.now()
        )
        DocumentVersion.unscoped.filter(pk=version.pk).update(
            parse_status=ParseStatus.FAILED,
            failure={"code": code, "params": dict(params)},
            lease=None,
            lease_expires_at=None,
        )
        if not Stage.objects.filter(version=version, name=StageName.PARSE, status=StageStatus.DONE).exists():
            Chunk.unscoped.filter(version=version).delete()  # of an earlier reading, now replaced
        announce_document(WebhookEvent.DOCUMENT_FAILED, version.document, version=version.number, reason=code)
        record_action(None, Action.DOCUMENT_FAILED, version.document, outcome=Outcome.ERROR, reason=code)


def _run_steps(version: DocumentVersion, share: WorkShare | None) -> None:
    """Run every unfinished step, in order."""
    if share and version.size_bytes > share.size_bytes:
        raise _MoreThanItsShare
    done = set(Stage.objects.filter(version=version, status=StageStatus.DONE).values_list("name", flat=True))
    steps = [step for step in STEPS if step.name not in done]
    with open_fenced_transaction(version):
        _advance_stage(version, None, steps[0] if steps else None)
    for step, following in zip_longest(steps, steps[1:]):
        written = step.run(version, StageProgress(version, step.name, share))
        with open_fenced_transaction(version):
            written.write()
            _advance_stage(version, step, following, items=written.items)
        if share and step.name is StageName.CHUNK and written.items > share.passages:
            raise _MoreThanItsShare


# The end of one stage and the beginning of the next, planned once in a connection.
_MOVE_ON = f"""
UPDATE knowledge_stage
SET status = CASE name WHEN %(ended)s THEN '{StageStatus.DONE}' ELSE '{StageStatus.RUNNING}' END,
    started_at = CASE name WHEN %(ended)s THEN started_at ELSE %(now)s::timestamptz END,
    finished_at = CASE name WHEN %(ended)s THEN %(now)s::timestamptz END,
    items_done = CASE name WHEN %(ended)s THEN %(items)s::int ELSE items_done END,
    items_total = CASE name WHEN %(ended)s THEN %(items)s::int ELSE items_total END
WHERE version_id = %(version)s::uuid AND name IN (%(ended)s, %(begun)s)"""  # noqa: S608 - made of constants


def _advance_stage(version: DocumentVersion, ended: Step | None, begun: Step | None, *, items: int = 0) -> None:
    """Close a stage of `items` items and open the next; without a next one the version is completed."""
    names = {"ended": ended.name.value if ended else "", "begun": begun.name.value if begun else ""}
    with open_prepared_cursor(connection) as cursor:
        cursor.execute(_MOVE_ON, {"version": version.pk, "now": timezone.now(), "items": items, **names})
    if begun is None:
        _complete_version(version)


def _complete_version(version: DocumentVersion) -> None:
    DocumentVersion.unscoped.filter(pk=version.pk).update(
        parse_status=ParseStatus.COMPLETED, lease=None, lease_expires_at=None
    )
