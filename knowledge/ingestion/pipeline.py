"""The life of an uploaded version: parse → chunk → embed → publish.

Each stage can be done again with the same result, and a version resumes at its first unfinished stage. Every write goes through
`fenced`, so a worker that lost its lease changes nothing.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.record import record
from knowledge.embedding.base import EmbedderUnavailable
from knowledge.ingestion import stages
from knowledge.ingestion.lease import MAX_ATTEMPTS, LeaseLost, claim, fenced, kept, let_go
from knowledge.ingestion.publish import publish
from knowledge.models import DocumentVersion, ParseStatus, Stage, StageName, StageStatus
from knowledge.parsers.base import UnreadableFile

log = structlog.get_logger(__name__)


class Step(NamedTuple):
    name: StageName
    run: Callable[[DocumentVersion, "Progress"], None]


class Progress:
    """How far a stage is, written to its row where the page reads it, while the lease is held."""

    def __init__(self, stage: Stage, version: DocumentVersion) -> None:
        self.mine = Stage.objects.filter(pk=stage.pk, version__lease=version.lease)

    def __call__(self, done: int, total: int) -> None:
        self.mine.update(items_done=done, items_total=total)


# The database, the storage, the disk, the embedding service: gone for a moment.
TEMPORARY = (EmbedderUnavailable, OperationalError, InterfaceError, OSError)

STEPS = (
    Step(StageName.PARSE, stages.parse),
    Step(StageName.CHUNK, stages.chunk),
    Step(StageName.EMBED, stages.embed),
    Step(StageName.PUBLISH, publish),
)


def ingest(version_id: UUID) -> None:
    """Bring one version as far as it goes. Returns quietly when it is not ours to work on.

    What is wrong with the file ends as `failed` with its reason, and so does a mistake of ours. A temporary error gives the lease
    back and is raised for the queue to try again; the attempts are counted in the row.
    """
    version = claim(version_id)
    if version is None:
        return
    try:
        with kept(version):
            _work(version)
    except LeaseLost:
        log.info("ingestion.lease_lost", version=str(version.pk))


def _work(version: DocumentVersion) -> None:
    """Run the steps and close the version when one fails. Raises LeaseLost, and temporary errors after giving back."""
    try:
        for step in STEPS:
            _run(step, version)
    except LeaseLost:
        raise
    except UnreadableFile as problem:
        fail(version, problem.code, problem.params)
    except TEMPORARY as error:
        log.warning("ingestion.interrupted", version=str(version.pk), attempt=version.attempts, exc_info=True)
        if version.attempts >= MAX_ATTEMPTS:
            give_up(version, type(error).__name__)
        else:
            let_go(version)
            raise
    except Exception as error:
        log.exception("ingestion.broken", version=str(version.pk))
        fail(version, "unexpected", {"error": type(error).__name__})


def give_up(version: DocumentVersion, error: str = "WorkerLost") -> None:
    """Close a version that used up its attempts."""
    fail(version, "gave_up", {"count": version.attempts, "error": error})


def fail(version: DocumentVersion, code: str, params: Mapping[str, str | int | float]) -> None:
    """Close a version as failed, with the reason (a key of REASONS) where people read it. Raises LeaseLost."""
    with fenced(version):
        Stage.objects.filter(version=version, status=StageStatus.RUNNING).update(
            status=StageStatus.FAILED, finished_at=timezone.now()
        )
        DocumentVersion.unscoped.filter(pk=version.pk).update(
            parse_status=ParseStatus.FAILED,
            failure={"code": code, "params": dict(params)},
            lease=None,
            lease_expires_at=None,
        )
        record(None, Action.DOCUMENT_FAILED, version.document, outcome=Outcome.ERROR, reason=code)


def _run(step: Step, version: DocumentVersion) -> None:
    stage = Stage.objects.get(version=version, name=step.name)
    if stage.status == StageStatus.DONE:
        return
    with fenced(version):
        Stage.objects.filter(pk=stage.pk).update(
            status=StageStatus.RUNNING, started_at=timezone.now(), finished_at=None
        )
    step.run(version, Progress(stage, version))
    with fenced(version):
        Stage.objects.filter(pk=stage.pk).update(status=StageStatus.DONE, finished_at=timezone.now())
        if step.name == StageName.PUBLISH:
            DocumentVersion.unscoped.filter(pk=version.pk).update(
                parse_status=ParseStatus.COMPLETED, lease=None, lease_expires_at=None
            )
