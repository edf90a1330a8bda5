"""The doctor and the health addresses: what is missing is named, with how to mend it."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings

from agent.models import LanguageModel
from audit.chain.keys import ensure_signing_key
from copilot_site import doctor
from copilot_site.checks import files_have_a_place
from copilot_site.doctor import check_language_models
from copilot_site.embedded.process import ServiceFailed
from copilot_site.home import Home
from copilot_site.lib.version import VERSION
from knowledge.retrieval import engine
from tests.embedders import EmbeddingService, serving
from tests.factories import make_base, make_document
from tests.homes import Checkout
from tests.modelserver import says
from tests.modelserver import serving as serving_model
from tests.ports import closed_port, own_port

pytestmark = pytest.mark.django_db


def examine() -> dict[str, dict[str, Any]]:
    """The doctor's findings by name; whatever its exit code."""
    out = StringIO()
    with suppress(SystemExit):
        call_command("doctor", "--json", stdout=out)
    return {finding["name"]: finding for finding in json.loads(out.getvalue())}


@pytest.fixture
def no_pgvector() -> None:
    """A database server that has no extensions to offer, as one without pgvector."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL extension_control_path = '/nowhere'")


@pytest.fixture
def stopped_valkey(monkeypatch: pytest.MonkeyPatch) -> None:
    """REDIS_URL leads to a port where nobody listens."""
    monkeypatch.setattr(settings, "REDIS_URL", f"redis://127.0.0.1:{closed_port()}/0")


@pytest.fixture
def refusing_embedder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Settings that name an embedding service which does not know the model."""
    make_document(make_base(), ingested=True)
    service = EmbeddingService(lambda texts: [])
    service.faults = [(404, {"error": {"message": "no such model"}})] * 9
    with serving(service):
        monkeypatch.setattr(settings, "EMBEDDER", "openai_compatible")
        options = settings.EMBEDDER_OPTIONS | {"model": "m", "base_url": service.base_url}
        monkeypatch.setattr(settings, "EMBEDDER_OPTIONS", options)
        engine._load_embedder.cache_clear()
        yield
    engine._load_embedder.cache_clear()


def test_database_and_broker_of_the_tests_are_sound() -> None:
    found = examine()
    for name in (
        "Version", "Python", "Packages", "State folder", "Embedded services", "PostgreSQL", "pgvector", "Migrations",
        "Valkey or Redis", "File storage",
    ):  # fmt: skip
        assert found[name]["ok"], found[name]


@pytest.mark.usefixtures("no_pgvector")
def test_a_database_without_pgvector_is_named_and_up_starts_nothing_on_it() -> None:
    finding = examine()["pgvector"]
    assert not finding["ok"]
    assert "does not have the extension vector" in finding["detail"]
    assert "Install pgvector 0.8" in finding["mend"]
    with pytest.raises(CommandError, match="does not have the extension vector") as refused:
        call_command("up", port=own_port())
    assert "Install pgvector 0.8" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_up_names_a_port_that_is_taken_and_another() -> None:
    port = own_port()
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", port))
        somebody.listen()
        with pytest.raises(ServiceFailed, match=f"Port {port} of 127.0.0.1 cannot be used") as refused:
            call_command("up", port=port)
    assert f"PORT={port + 1}" in str(refused.value)


@pytest.mark.usefixtures("stopped_valkey")
def test_doctor_and_readyz_name_a_stopped_valkey(client: Client) -> None:
    finding = examine()["Valkey or Redis"]
    assert not finding["ok"]
    assert "REDIS_URL" in finding["mend"]
    assert client.get("/healthz").json() == {"status": "ok", "version": VERSION}, "the process lives"
    answer = client.get("/readyz")
    assert (answer.status_code, "broker" in answer.json()["failing"]) == (503, True)


def test_a_missing_model_is_named_with_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "HOME", Home(tmp_path))
    assert (doctor.check_embedding_model().ok, doctor.check_embedding_model().mend) == (
        False,
        "Run `manage.py prepare_model`.",
    )


@pytest.mark.usefixtures("refusing_embedder")
def test_doctor_names_an_embedder_that_does_not_answer() -> None:
    found = examine()
    assert not found["Embedder"]["ok"]
    assert "refused the model 'm' with status 404" in found["Embedder"]["detail"]
    assert found["Reranker"]["ok"]


def test_doctor_names_a_reranker_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RERANKER", "cross_encoder")
    monkeypatch.setattr(settings, "RERANKER_MODEL", "/nowhere")
    engine.load_reranker.cache_clear()
    try:
        finding = examine()["Reranker"]
    finally:
        engine.load_reranker.cache_clear()
    assert (finding["ok"], finding["optional"]) == (False, True)
    assert finding["mend"].startswith("Check COPILOT_RERANKER_MODEL")


def test_every_language_model_has_a_line() -> None:
    with serving_model(says("ok")) as served:
        LanguageModel.objects.create(name="here", base_url=served.base_url, model="m", is_default=True)
        LanguageModel.objects.create(name="gone", base_url=f"http://127.0.0.1:{closed_port()}/v1", model="m")
        LanguageModel.objects.create(name="off", base_url="http://127.0.0.1:1/v1", model="m", is_enabled=False)
        found = {finding.name: finding for finding in check_language_models()}
    assert {name: finding.ok for name, finding in found.items()} == {
        "Language model here": True,
        "Language model gone": False,
    }
    assert "Check its address, name and key" in found["Language model gone"].mend


def test_without_a_language_model_the_doctor_says_so() -> None:
    (finding,) = check_language_models()
    assert (finding.name, finding.ok) == ("Language models", True)


@pytest.mark.usefixtures("refusing_embedder")
def test_reindex_ends_with_one_sentence_where_the_embedder_does_not_answer() -> None:
    with pytest.raises(CommandError, match="refused the model 'm' with status 404") as ended:
        call_command("reindex")
    assert "What is indexed stays" in str(ended.value)


def test_doctor_of_a_fresh_home_says_what_to_run(checkout: Checkout) -> None:
    done = checkout.manage("doctor")
    assert done.returncode == 1
    assert "→ Run `manage.py migrate`." in done.stdout
    assert "→ Run `manage.py prepare_model`." in done.stdout


def test_doctor_reports_a_database_that_cannot_start(checkout: Checkout) -> None:
    checkout.home.secret("postgres")
    checkout.home.postgres.mkdir(parents=True)
    (checkout.home.postgres / "PG_VERSION").write_text("9\n")
    done = checkout.manage("doctor")
    assert done.returncode == 1
    assert "PostgreSQL did not start" in done.stdout


def test_a_command_on_a_database_without_tables_says_what_to_run(checkout: Checkout) -> None:
    done = checkout.manage("ask", "What?", "--as", "anna")
    assert done.returncode == 1
    assert done.stderr.startswith("Migrations: ")
    assert "Run `manage.py migrate`." in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


def test_a_storage_whose_library_is_missing_is_named() -> None:
    missing = {**settings.STORAGES, "default": {"BACKEND": "nowhere.S3Storage"}}
    with override_settings(STORAGES=missing):
        finding = examine()["File storage"]
        complaints = [found.id for found in files_have_a_place()]
    assert not finding["ok"]
    assert "pip install" in finding["mend"]
    assert complaints == ["copilot_site.E002"]
    assert files_have_a_place() == []


def test_up_refuses_a_database_it_cannot_reach(checkout: Checkout) -> None:
    closed = f"postgresql://nobody@127.0.0.1:{closed_port()}/none"
    done = Checkout(checkout.root, extra={"DATABASE_URL": closed}).manage("up")
    assert done.returncode == 1
    assert "PostgreSQL: connection" in done.stderr
    assert "check DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_readyz_names_a_database_without_pgvector(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    options = connection.settings_dict["OPTIONS"]
    monkeypatch.setitem(options, "options", f"{options.get('options', '')} -c extension_control_path=/nowhere")
    answer = client.get("/readyz")
    assert (answer.status_code, "pgvector" in answer.json()["failing"]) == (503, True)


@pytest.mark.django_db(transaction=True)
def test_missing_migrations_are_named_with_what_to_run(client: Client) -> None:
    doctor.check_migrations()  # what there is on disk is read once, which takes a while
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("sessions", "0001_initial")
    try:
        answer, found = client.get("/readyz"), doctor.check_migrations()
    finally:
        recorder.record_applied("sessions", "0001_initial")
    assert (answer.status_code, "migrations" in answer.json()["failing"]) == (503, True)
    assert (found.ok, found.mend) == (False, "Run `manage.py migrate`.")


def test_doctor_reads_the_key_of_the_audit_log() -> None:
    """Not made yet is a note; lost, or readable by others, is bad."""
    folder = settings.AUDIT_KEYS
    for name in folder.glob("*") if folder.exists() else ():
        name.unlink()
    assert examine()["Audit key"] | {"mend": ""} == {
        "name": "Audit key", "ok": False, "detail": "not made yet", "mend": "", "optional": True
    }  # fmt: skip
    key = ensure_signing_key()
    found = examine()["Audit key"]
    assert (found["ok"], found["detail"].startswith(key[:16])) == (True, True)
    (folder / "signing.pem").chmod(0o644)
    found = examine()["Audit key"]
    assert (found["ok"], found["optional"]) == (False, False)
    assert "chmod 600" in found["detail"]
    (folder / "signing.pem").unlink()
    assert "Restore it from your backup" in examine()["Audit key"]["detail"]
