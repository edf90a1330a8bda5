"""A full disk: whoever uploads is told in one sentence, nothing is half-written, and work goes on when there is room again.

The kernel's own /dev/full takes the place of the disk: writing there fails with ENOSPC, as on a full one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings
from django.urls import reverse

from audit.models import Entry
from copilot_site.home import Home
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Document, DocumentVersion, KnowledgeBase, ParseStatus
from tests.factories import make_base, make_document, newest_version, prepare_embedder
from tests.integration.pages.house import House, client_of, stored_files

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system"),
]


class FullDisk(FileSystemStorage):
    """A storage whose disk has no byte left."""

    def _save(self, _name: str, content: Any) -> str:
        with Path("/dev/full").open("wb", buffering=0) as disk:
            disk.write(content.read())
        raise AssertionError("/dev/full took it")


@contextmanager
def full_disk() -> Iterator[None]:
    backends = {"default": {"BACKEND": f"{__name__}.FullDisk"}}
    with override_settings(
        STORAGES={"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}} | backends
    ):
        yield


@pytest.fixture
def house() -> House:
    return House()


def rows(base: KnowledgeBase) -> tuple[int, int, int, set[str]]:
    versions = DocumentVersion.unscoped.count()
    return Document.unscoped.count(), versions, Entry.objects.filter(target_type="document").count(), stored_files(base)


def test_the_disk_of_these_tests_is_full() -> None:
    with full_disk(), pytest.raises(OSError, match="No space left on device"):
        default_storage.save("a.txt", ContentFile(b"a"))


def test_readiness_names_it(client: Client, settings: LazySettings) -> None:
    assert "disk" not in client.get("/readyz").json()["failing"]
    settings.HOME = Home(Path("/proc"))  # a file system without a free byte
    answer = client.get("/readyz")
    assert (answer.status_code, "disk" in answer.json()["failing"]) == (503, True)


def test_a_page_says_it_and_nothing_is_kept(house: House) -> None:
    before, url = rows(house.base), reverse("folder-upload", args=[house.folder.pk])
    client, file = client_of(house.keeper), SimpleUploadedFile("a.md", b"# A")
    with full_disk():
        answer = client.post(url, {"file": file, "path": ""}, headers={"Accept": "application/json"})
    assert (answer.status_code, "the disk of the server is full" in answer.json()["detail"]) == (507, True)
    assert rows(house.base) == before


def test_a_page_says_it_of_the_database(house: House) -> None:
    """A trigger raises what PostgreSQL does where it cannot extend a file."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '53100'; END $$;"
            "CREATE TRIGGER full_disk BEFORE INSERT ON knowledge_documentversion EXECUTE FUNCTION full_disk()"
        )
    url = reverse("folder-upload", args=[house.folder.pk])
    before = rows(house.base)
    for accepted in ("application/json", "text/html"):
        sent = {"file": SimpleUploadedFile("a.md", b"# A"), "path": ""}
        answer = client_of(house.keeper).post(url, sent, headers={"Accept": accepted})
        assert answer.status_code == 507
        assert rows(house.base) == before
        assert "disk is full, so nothing was saved." in answer.content.decode()


def test_an_import_names_the_files_and_is_repeated_later(house: House, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A")
    make_document(house.base)  # its keeper holds every right on the base
    words = {"kb": house.base.name, "username": "keeper", "no_wait": True}
    with full_disk():
        assert "1 refused" in _import(tmp_path, words)
    assert not Document.unscoped.filter(filename="a.md").exists()
    assert "1 new" in _import(tmp_path, words)


def _import(path: Path, words: dict[str, Any]) -> str:
    out = StringIO()
    call_command("import_folder", path, stdout=out, **words)
    return out.getvalue()


def test_a_worker_gives_the_document_back_and_reads_it_when_there_is_room() -> None:
    prepare_embedder()
    version = newest_version(make_document(make_base()))
    with full_disk(), pytest.raises(OSError, match="No space left on device"):
        run_ingestion(version.pk)
    version.refresh_from_db()
    assert (version.parse_status, version.mime_type, version.lease) == (ParseStatus.PENDING, "", None)
    run_ingestion(version.pk)
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED
