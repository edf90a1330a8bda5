"""What can go wrong with a file or around it: every version ends with a status and a reason, and can be tried again."""

import io
from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

from audit.actions import Action, Outcome
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.embedding.base import EmbedderOptions, EmbedderUnavailable, embedders
from knowledge.embedding.openai_compatible import OpenAICompatibleEmbedder
from knowledge.ingestion.lease import MAX_ATTEMPTS
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import ChunkIndex, Document, DocumentVersion, ParseStatus, StageStatus
from knowledge.retrieval import engine
from knowledge.services.documents import retry_document
from tests.embedders import EmbeddingService, serving
from tests.factories import allow, make_base, make_document, make_user, newest_version
from tests.ports import closed_port

pytestmark = pytest.mark.django_db


def locked_pdf() -> bytes:
    """A PDF that opens with a password only."""
    stream = io.BytesIO()
    page = canvas.Canvas(stream, encrypt=StandardEncryption("secret", ownerPassword="other", strength=128))
    page.drawString(72, 720, "Nobody reads this.")
    page.save()
    return stream.getvalue()


def state(version: DocumentVersion) -> tuple[str, str | None, int]:
    version.refresh_from_db()
    return version.parse_status, (version.failure or {}).get("code"), version.attempts


def stages(version: DocumentVersion) -> list[str]:
    return [stage.status for stage in version.stages.all()]


def keeper() -> Principal:
    return Principal.named("keeper")


@pytest.mark.parametrize(
    ("filename", "content", "code", "sentence"),
    [
        ("blank.md", b" \n\n", "no_text", "No text found"),
        ("broken.pdf", b"%PDF-1.7\nthis is no pdf", "damaged", "damaged"),
        ("wrong.docx", b"plain text", "mismatch_text", ".docx"),
        ("locked.pdf", locked_pdf(), "encrypted", "password"),
    ],
)
def test_a_bad_file_fails_with_a_reason_for_people(filename: str, content: bytes, code: str, sentence: str) -> None:
    document = make_document(make_base(), filename, content, ingested=True)
    version = newest_version(document)
    assert state(version) == (ParseStatus.FAILED, code, 1)
    assert sentence in version.failure_reason
    assert stages(version) == [StageStatus.FAILED, StageStatus.PENDING, StageStatus.PENDING, StageStatus.PENDING]
    assert document.current_version is None
    entry = Entry.objects.get(action=Action.DOCUMENT_FAILED)
    assert (entry.outcome, entry.reason, entry.target_id) == (Outcome.ERROR, code, str(document.pk))
    assert (version.lease, version.lease_expires_at) == (None, None)
    run_ingestion(version.pk)
    assert state(version) == (ParseStatus.FAILED, code, 1), "what is finished is not worked on again"


def lose_original(version: DocumentVersion) -> bytes:
    """Take the stored file away, as a storage does that is not mounted; returns its bytes."""
    with version.file.open("rb") as file:
        content: bytes = file.read()
    version.file.storage.delete(version.file.name or "")
    return content


def test_after_the_last_attempt_it_is_given_up_and_a_person_can_try_again() -> None:
    document = make_document(make_base())
    version = newest_version(document)
    content = lose_original(version)
    for attempt in range(1, MAX_ATTEMPTS):
        with pytest.raises(FileNotFoundError):
            run_ingestion(version.pk)
        assert state(version) == (ParseStatus.PENDING, None, attempt), "a temporary error gives it back"
        assert version.lease is None
    run_ingestion(version.pk)
    assert state(version) == (ParseStatus.FAILED, "gave_up", MAX_ATTEMPTS)
    assert f"{MAX_ATTEMPTS} attempts (FileNotFoundError)" in version.failure_reason

    with version.file.storage.open(version.file.name or "", "wb") as file:
        file.write(content)
    retry_document(keeper(), document_id=document.pk)
    assert state(version) == (ParseStatus.PENDING, None, 0)
    assert stages(version) == [StageStatus.PENDING] * 4
    run_ingestion(version.pk)
    assert state(version) == (ParseStatus.COMPLETED, None, 1)
    assert Entry.objects.filter(action=Action.DOCUMENT_RETRIED, actor_name="keeper").count() == 1


def test_only_a_failed_document_is_tried_again_and_only_by_who_may_change_it() -> None:
    base = make_base()
    document = make_document(base)
    with pytest.raises(InvalidInput, match="Only failed documents can be tried again"):
        retry_document(keeper(), document_id=document.pk)
    reader, stranger = make_user(), make_user()
    allow(reader, base, Right.VIEW, Right.ADD)
    with pytest.raises(PermissionDenied):
        retry_document(Principal.of(reader), document_id=document.pk)
    with pytest.raises(NotFound):
        retry_document(Principal.of(stranger), document_id=document.pk)


def impatient(options: EmbedderOptions) -> OpenAICompatibleEmbedder:
    """The served embedder with hardly a pause between its attempts."""
    assert options.base_url
    return OpenAICompatibleEmbedder(base_url=options.base_url, model="served", first_wait_s=0.001)


@pytest.fixture
def served(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingService]:
    """An embedding service over HTTP in the place of the bundled model."""
    monkeypatch.setitem(embedders._items, "impatient", impatient)
    with serving(EmbeddingService(lambda texts: [[3.0, 4.0 * (len(text) % 2)] for text in texts])) as service:
        settings.EMBEDDER = "impatient"
        settings.EMBEDDER_OPTIONS = {**settings.EMBEDDER_OPTIONS, "base_url": service.base_url}
        engine._load_embedder.cache_clear()
        yield service
    engine._load_embedder.cache_clear()


def test_an_embedding_service_that_is_away_interrupts_and_the_work_goes_on_where_it_stopped(
    served: EmbeddingService, settings: LazySettings
) -> None:
    document = make_document(make_base())
    version = newest_version(document)
    answering = settings.EMBEDDER_OPTIONS
    settings.EMBEDDER_OPTIONS = {**answering, "base_url": f"http://127.0.0.1:{closed_port()}/v1"}
    with pytest.raises(EmbedderUnavailable):
        run_ingestion(version.pk)
    assert state(version) == (ParseStatus.PENDING, None, 1)
    parsed_at = version.stages.get(name="parse").finished_at
    assert parsed_at is not None

    settings.EMBEDDER_OPTIONS = answering
    engine._load_embedder.cache_clear()
    run_ingestion(version.pk)
    assert state(version) == (ParseStatus.COMPLETED, None, 2)
    assert version.stages.get(name="parse").finished_at == parsed_at, "what is done is not done again"
    assert Document.unscoped.get(pk=document.pk).current_version == version
    assert ChunkIndex.unscoped.filter(version=version, space__name="openai_compatible:served", live=True).exists()


def test_a_service_that_refuses_us_is_a_failure_with_its_name_and_no_secret(served: EmbeddingService) -> None:
    served.faults = [(401, {"error": {"message": "wrong key sk-12345"}})] * 5
    version = newest_version(make_document(make_base()))
    run_ingestion(version.pk)
    assert state(version) == (ParseStatus.FAILED, "unexpected", 1)
    assert "EmbedderMisconfigured" in version.failure_reason
    assert "sk-12345" not in version.failure_reason
