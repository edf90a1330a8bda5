"""The queue is a speed-up and no guarantee: an upload succeeds without it and is found later."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from authz.permissions import Right
from authz.principal import Principal
from copilot_site.celery import app
from knowledge import tasks
from knowledge.ingestion.pipeline import WorkShare, run_ingestion
from knowledge.models import DocumentVersion, ParseStatus
from knowledge.services.documents import retry_document
from knowledge.services.folders import find_root_folder
from knowledge.services.uploads import upload_document
from knowledge.tasks import MAX_AHEAD, OVERDUE, ingest_version, reap_ingestion
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder
from tests.integration.ingestion.queues import drained
from tests.ports import closed_port

pytestmark = pytest.mark.django_db

Commit = Callable[..., Any]


@pytest.fixture
def broker() -> Iterator[Callable[[str], None]]:
    """Points the app at another broker, as a restart of the process would."""
    celery: Any = app
    before = celery.conf.broker_url

    def point_at(url: str) -> None:
        celery.conf.broker_url = url
        celery._after_fork()  # forgets its open connections

    yield point_at
    point_at(before)


def test_an_upload_succeeds_without_a_queue_and_is_picked_up_later(
    broker: Callable[[str], None], django_capture_on_commit_callbacks: Commit
) -> None:
    drained("interactive")
    working = app.conf.broker_url
    broker(f"redis://127.0.0.1:{closed_port()}/0")
    with django_capture_on_commit_callbacks(execute=True):
        version = newest_version(make_document(make_base()))
    assert version.parse_status == ParseStatus.PENDING

    broker(working)
    assert drained("interactive") == []
    late = timezone.now() - OVERDUE["interactive"] - timedelta(seconds=1)
    DocumentVersion.unscoped.filter(pk=version.pk).update(queued_at=late)
    with django_capture_on_commit_callbacks(execute=True):
        reap_ingestion()
    (waiting,) = drained("interactive")
    prepare_embedder()
    run_ingestion(waiting)
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED


def test_whoever_uploads_without_end_keeps_nobody_else_waiting(django_capture_on_commit_callbacks: Commit) -> None:
    """What is more than a few of one person waits with the imports."""
    drained("interactive"), drained("bulk")
    base, many, bert = make_base(), make_user(), make_user()
    for person in (many, bert):
        allow(person, base, Right.VIEW, Right.ADD)

    def uploaded_by(person: User, count: int) -> list[UUID]:
        uploads = []
        with django_capture_on_commit_callbacks(execute=True):
            for number in range(count):
                file = ContentFile(f"{person.pk} {number}".encode())
                folder = find_root_folder(base).pk
                name = f"{person.pk}-{number}.txt"
                uploads.append(upload_document(Principal.of(person), folder_id=folder, filename=name, file=file))
        return [upload.version.pk for upload in uploads]

    flood = uploaded_by(many, MAX_AHEAD + 3)
    later = uploaded_by(bert, 2)
    assert drained("interactive") == flood[:MAX_AHEAD] + later
    assert drained("bulk") == flood[MAX_AHEAD:]
    DocumentVersion.unscoped.filter(pk__in=flood[:2]).update(parse_status=ParseStatus.COMPLETED)
    DocumentVersion.unscoped.filter(pk=flood[-1]).update(parse_status=ParseStatus.FAILED)
    failed = DocumentVersion.unscoped.get(pk=flood[-1])
    allow(bert, base, Right.CHANGE)
    with django_capture_on_commit_callbacks(execute=True):
        retry_document(Principal.of(bert), document_id=failed.document_id)
    assert drained("interactive") == [failed.pk], "two of the first have been read"


LONG = "\n\n".join(f"# Part {number}\n\n{'This part says something of its own. ' * 40}" for number in range(6))


@pytest.mark.parametrize(
    "share",
    [WorkShare(size_bytes=5_000_000, pictures=2, passages=2), WorkShare(size_bytes=100, pictures=2, passages=500)],
)
def test_a_version_that_is_more_than_its_share_goes_on_with_the_imports(
    share: WorkShare, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Commit
) -> None:
    monkeypatch.setattr(tasks, "SHARE", share)
    prepare_embedder()
    drained("interactive"), drained("bulk")
    with django_capture_on_commit_callbacks(execute=True):
        version = newest_version(make_document(make_base(), "long.md", LONG))
        assert drained("interactive") == [], "before it is committed"
    assert drained("interactive") == [version.pk]
    with django_capture_on_commit_callbacks(execute=True):
        ingest_version(str(version.pk))
    version.refresh_from_db()
    assert (version.queue, version.parse_status, version.attempts) == ("bulk", ParseStatus.PENDING, 0)
    done = set(version.stages.filter(status="done").values_list("name", flat=True))
    assert done == ({"parse", "chunk"} if share.passages == 2 else set()), "nobody waits while the rest is done"
    assert (drained("interactive"), drained("bulk")) == ([], [version.pk])
    ingest_version(str(version.pk))
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED, "there it is read to its end"
    monkeypatch.setattr(tasks, "SHARE", WorkShare(size_bytes=5_000_000, pictures=2, passages=500))
    within = newest_version(make_document(make_base(), "long.md", LONG))
    ingest_version(str(within.pk))
    within.refresh_from_db()
    assert (within.queue, within.parse_status) == ("interactive", ParseStatus.COMPLETED)
