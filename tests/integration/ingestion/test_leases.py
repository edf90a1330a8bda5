"""Workers that are late, dead or doubled: one of them works on a version, and only that one writes."""

import os
import subprocess
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from copilot_site.embedded.process import wait_until
from copilot_site.lib.process_names import find_process_name
from knowledge.ingestion import lease, pipeline
from knowledge.ingestion.lease import (
    LEASE,
    MAX_ATTEMPTS,
    LeaseLost,
    claim_version,
    hold_lease,
    open_fenced_transaction,
    release_for_retry,
)
from knowledge.ingestion.pipeline import Step, run_ingestion
from knowledge.ingestion.stages import Written
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, DocumentVersion, ParseStatus, Stage, StageName
from knowledge.tasks import ingest_version, reap_ingestion
from tests.factories import make_base, make_document, newest_version, prepare_embedder
from tests.integration.ingestion.queues import drained

pytestmark = pytest.mark.django_db

Commit = Callable[..., Any]
STEPS = pipeline.STEPS


class Killed(BaseException):
    """What ends a worker without a word: nothing in the product catches it."""


@pytest.fixture
def version() -> DocumentVersion:
    prepare_embedder()
    return newest_version(make_document(make_base()))


def change(version: DocumentVersion, **values: Any) -> None:
    DocumentVersion.unscoped.filter(pk=version.pk).update(**values)


def expire(version: DocumentVersion) -> None:
    change(version, lease_expires_at=timezone.now() - timedelta(seconds=1))


def before(stage: str, happens: Callable[[DocumentVersion], None]) -> tuple[Step, ...]:
    """The steps, with something that happens when one of them begins."""

    def wrapped(step: Step) -> Step:
        def run(version: DocumentVersion, report: Any) -> Written:
            happens(version)
            return step.run(version, report)

        return Step(step.name, run) if step.name == stage else step

    return tuple(wrapped(step) for step in STEPS)


def die(version: DocumentVersion) -> None:
    raise Killed


def steal(version: DocumentVersion) -> None:
    change(version, lease=uuid4(), lease_expires_at=timezone.now() + LEASE)


def everything(version: DocumentVersion) -> dict[str, list[Any]]:
    """Every row that ingestion writes for a version."""
    return {
        "version": list(DocumentVersion.unscoped.filter(pk=version.pk).values()),
        "document": list(
            Document.unscoped.filter(pk=version.document_id).values("title", "current_version", "language")
        ),
        "stages": list(Stage.objects.filter(version=version).values()),
        "chunks": list(Chunk.unscoped.filter(version=version).values("id", "text")),
        "index": list(ChunkIndex.unscoped.filter(version=version).values("chunk_id", "live")),
        "tokens": list(ChunkTokens.unscoped.filter(version=version).values("chunk_id")),
        "audit": list(Entry.objects.values_list("pk", flat=True)),
    }


def test_one_claim_wins_and_counts_the_attempt(version: DocumentVersion) -> None:
    claimed = claim_version(version.pk)
    assert claimed is not None
    assert (claimed.parse_status, claimed.attempts) == (ParseStatus.PROCESSING, 1)
    assert claim_version(version.pk) is None
    run_ingestion(version.pk)  # a second delivery of the same message
    version.refresh_from_db()
    assert (version.parse_status, version.lease, version.attempts) == (ParseStatus.PROCESSING, claimed.lease, 1)


def test_an_expired_lease_is_free_and_the_old_holder_is_refused(version: DocumentVersion) -> None:
    slow = claim_version(version.pk)
    assert slow is not None
    expire(version)
    quick = claim_version(version.pk)
    assert quick is not None
    assert quick.lease != slow.lease
    with pytest.raises(LeaseLost), open_fenced_transaction(slow):
        change(version, page_count=99)
    with open_fenced_transaction(quick):
        pass
    release_for_retry(slow)
    version.refresh_from_db()
    assert (version.lease, version.page_count, version.attempts) == (quick.lease, None, 2)


@pytest.mark.parametrize(
    ("holder", "is_free"),
    [("ended", True), ("reused", True), ("alive", False), ("another_machine", False), ("", False)],
)
def test_what_an_ended_process_of_this_machine_held_is_free_at_once(
    version: DocumentVersion, holder: str, is_free: bool, django_capture_on_commit_callbacks: Commit
) -> None:
    drained("interactive")
    held = claim_version(version.pk)
    assert held is not None
    assert held.lease_holder == find_process_name(os.getpid())
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        alive = find_process_name(process.pid)
    names = {"ended": alive, "reused": f"{held.lease_holder}0", "alive": held.lease_holder, "": ""}
    names["another_machine"] = alive.replace(alive.split()[0], "another-machine")
    change(version, lease_holder=names[holder])
    with django_capture_on_commit_callbacks(execute=True):
        reap_ingestion()
    assert drained("interactive") == [version.pk] * is_free
    change(version, lease_expires_at=held.lease_expires_at)  # as a message that comes back before the reaper finds it
    assert (claim_version(version.pk) is not None) == is_free


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_again_after_its_connection_was_cut(
    version: DocumentVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RENEW_S", 0.02)
    held = claim_version(version.pk)
    assert held is not None
    fresh = DocumentVersion.unscoped.filter(pk=version.pk, lease_expires_at__gt=timezone.now())

    def is_renewed() -> bool:
        expire(version)
        return wait_until(fresh.exists, timeout_s=30)

    with hold_lease(held):
        assert is_renewed()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            assert cursor.fetchone() == (1,)
        assert is_renewed()


@pytest.mark.parametrize("gone", [ParseStatus.COMPLETED, ParseStatus.FAILED])
def test_a_finished_version_cannot_be_claimed(version: DocumentVersion, gone: ParseStatus) -> None:
    change(version, parse_status=gone)
    assert claim_version(version.pk) is None
    assert claim_version(uuid4()) is None


@pytest.mark.parametrize("stage", StageName.values)
def test_a_worker_that_lost_its_lease_writes_nothing(
    version: DocumentVersion, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_theft: dict[str, Any] = {}

    def stolen(version: DocumentVersion) -> None:
        steal(version)
        at_theft.update(everything(version))

    monkeypatch.setattr(pipeline, "STEPS", before(stage, stolen))
    run_ingestion(version.pk)
    assert at_theft
    assert everything(version) == at_theft


def test_without_the_theft_the_same_steps_finish(version: DocumentVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "STEPS", before(StageName.PUBLISH, lambda version: None))
    run_ingestion(version.pk)
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED


@pytest.mark.parametrize("stage", StageName.values)
def test_the_work_of_a_killed_worker_goes_on_where_it_stopped(
    version: DocumentVersion,
    stage: str,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Commit,
) -> None:
    drained("interactive")
    monkeypatch.setattr(pipeline, "STEPS", before(stage, die))
    with pytest.raises(Killed):
        run_ingestion(version.pk)
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.PROCESSING
    finished = dict(version.stages.filter(finished_at__isnull=False).values_list("name", "finished_at"))
    assert set(finished) == set(StageName.values[: StageName.values.index(stage)])

    with django_capture_on_commit_callbacks(execute=True):
        reap_ingestion()
    assert drained("interactive") == [], "its lease has not run out yet"
    expire(version)
    with django_capture_on_commit_callbacks(execute=True):
        reap_ingestion()
    assert drained("interactive") == [version.pk]

    monkeypatch.setattr(pipeline, "STEPS", STEPS)
    run_ingestion(version.pk)
    version.refresh_from_db()
    assert (version.parse_status, version.attempts) == (ParseStatus.COMPLETED, 2)
    assert {name: version.stages.get(name=name).finished_at for name in finished} == finished
    assert Entry.objects.filter(action=Action.DOCUMENT_PUBLISHED).count() == 1


def test_a_file_that_kills_every_worker_is_given_up(version: DocumentVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "STEPS", before(StageName.PARSE, die))
    for _attempt in range(MAX_ATTEMPTS):
        with pytest.raises(Killed):
            run_ingestion(version.pk)
        expire(version)
    run_ingestion(version.pk)  # nobody takes it a fourth time
    reap_ingestion()
    version.refresh_from_db()
    assert (version.parse_status, version.attempts) == (ParseStatus.FAILED, MAX_ATTEMPTS)
    assert version.failure == {"code": "gave_up", "params": {"count": MAX_ATTEMPTS, "error": "WorkerLost"}}
    assert version.stages.get(name="parse").status == "failed"


@pytest.mark.parametrize(
    ("queue", "others", "overdue_s"), [("interactive", 1, 60), ("bulk", 1, 20 * 60), ("bulk", 0, 60)]
)
def test_a_message_that_was_lost_is_sent_again_when_it_is_overdue(
    version: DocumentVersion, queue: str, others: int, overdue_s: int, django_capture_on_commit_callbacks: Commit
) -> None:
    """others: messages before it. An import may wait long behind others; where there are none, its message is lost."""
    sent: list[int] = []
    for age in (overdue_s - 5, overdue_s + 5, 0):
        drained(queue)
        for _number in range(others):
            ingest_version.apply_async(args=(str(uuid4()),), queue=queue)
        if age:
            change(version, queue=queue, queued_at=timezone.now() - timedelta(seconds=age))
        with django_capture_on_commit_callbacks(execute=True):
            reap_ingestion()
        sent.append(len(drained(queue)) - others)
    assert sent == [0, 1, 0], "once when overdue, and then it is fresh again"
