"""The queue is a speed-up and no guarantee: an upload succeeds without it and is found later."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from copilot_site.celery import app
from copilot_site.embedded.process import free_port
from knowledge.ingestion.pipeline import ingest
from knowledge.models import DocumentVersion, ParseStatus
from knowledge.tasks import OVERDUE, ingest_version, reap_ingestion
from tests.factories import make_base, make_document, newest_version, prepare_embedder
from tests.integration.ingestion.queues import drained
from tests.integration.pages.house import House, client_of

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


def test_an_upload_is_queued_once_it_is_committed(django_capture_on_commit_callbacks: Commit) -> None:
    drained("interactive")
    with django_capture_on_commit_callbacks(execute=True):
        version = newest_version(make_document(make_base()))
        assert drained("interactive") == []
    assert drained("interactive") == [version.pk]


def test_an_upload_succeeds_without_a_queue_and_is_picked_up_later(
    broker: Callable[[str], None], django_capture_on_commit_callbacks: Commit
) -> None:
    drained("interactive")
    working = app.conf.broker_url
    broker(f"redis://127.0.0.1:{free_port()}/0")
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
    ingest(waiting)
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED


def test_a_page_takes_an_upload_without_a_queue(
    broker: Callable[[str], None], django_capture_on_commit_callbacks: Commit
) -> None:
    house = House()
    broker(f"redis://127.0.0.1:{free_port()}/0")
    with django_capture_on_commit_callbacks(execute=True):
        answer = client_of(house.keeper).post(
            reverse("folder-upload", args=[house.folder.pk]), {"file": SimpleUploadedFile("a.md", b"# A"), "path": ""}
        )
    assert answer.status_code == 201
    version = DocumentVersion.unscoped.get(document_id=answer.json()["document_id"])
    assert (version.parse_status, version.queued_at is not None) == (ParseStatus.PENDING, True)


def test_the_task_is_one_call_of_the_pipeline() -> None:
    prepare_embedder()
    version = newest_version(make_document(make_base()))
    ingest_version(str(version.pk))
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED
