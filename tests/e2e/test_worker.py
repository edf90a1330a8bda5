"""A real Celery worker: what it takes on it finishes, though its connection is cut or its Valkey does not write for a while."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection

from copilot_site.embedded.process import wait_until
from knowledge.models import DocumentVersion, ParseStatus
from knowledge.services.folders import find_root_folder
from knowledge.services.uploads import IncomingFile, add_document
from tests.factories import make_base, make_document, newest_version, prepare_embedder
from tests.homes import ROOT, Checkout

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def worker() -> Iterator["subprocess.Popen[bytes]"]:
    """A worker of the interactive queue on the database of this test."""
    name = connection.settings_dict["NAME"]
    before, _, options = os.environ["DATABASE_URL"].partition("?")
    url = f"{before.rsplit('/', 1)[0]}/{name}{'?' if options else ''}{options}"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "copilot_site",
            "worker",
            "-Q",
            "interactive",
            "-c",
            "1",
            "-l",
            "WARNING",
        ],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "REDIS_URL": settings.REDIS_URL},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


def status(version: DocumentVersion) -> str:
    version.refresh_from_db()
    return version.parse_status


def is_done(version: DocumentVersion) -> bool:
    return status(version) in {ParseStatus.COMPLETED, ParseStatus.FAILED}


def test_a_worker_takes_an_upload_to_its_end_beside_an_import_and_after_its_connection_was_cut() -> None:
    """The import's documents wait for a worker of their own, which never comes here."""
    prepare_embedder()
    base = make_base()
    folder = find_root_folder(base)
    imported = [
        add_document(None, folder, IncomingFile(f"{number}.md", ContentFile(b"# Page"), queue="bulk")).version
        for number in range(3)
    ]
    first = newest_version(make_document(base))
    with worker():
        assert wait_until(lambda: is_done(first), timeout_s=300), "the worker did not read the upload"
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            assert cursor.fetchone()[0] >= 1, "the worker keeps its connection from document to document"
        second = newest_version(make_document(base))
        assert wait_until(lambda: is_done(second), timeout_s=300), "the worker did not read the next upload"
    assert [(status(item), item.attempts) for item in (first, second)] == [(ParseStatus.COMPLETED, 1)] * 2
    assert {status(item) for item in imported} == {ParseStatus.PENDING}


def test_a_valkey_that_refuses_to_write_is_waited_for(tmp_path: Path) -> None:
    """As one whose disk is full does; workers that ended of it took the whole system along."""
    checkout = Checkout(tmp_path / "home")
    with checkout.started("up", "--services-only", until="Ctrl-C stops them"):
        addresses = dict(
            line.removeprefix("export ").split("=", 1) for line in checkout.said().splitlines() if "=" in line
        )
        log = tmp_path / "worker.log"
        with log.open("wb") as output, redis.Redis.from_url(addresses["REDIS_URL"], protocol=2) as valkey:
            process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "copilot_site", "worker", "-Q", "watch", "-c", "1"],
                cwd=ROOT,
                env=checkout.environment() | addresses,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

            def says(words: bytes, *, times: int = 1) -> None:
                wait_until(lambda: log.read_bytes().count(words) >= times or process.poll() is not None, timeout_s=120)
                assert process.poll() is None, log.read_text()[-2000:]
                assert log.read_bytes().count(words) >= times, f"the worker did not say {words!r}"

            try:
                says(b"ready.")
                valkey.config_set("min-replicas-to-write", 1)
                says(b"NOREPLICAS")
                heard = log.read_bytes().count(b"Connected to")  # it tries again every few milliseconds
                valkey.config_set("min-replicas-to-write", 0)
                says(b"Connected to", times=heard + 1)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(30)
