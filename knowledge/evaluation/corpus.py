"""An evaluation corpus as a knowledge base of its own, brought in by the real upload and the real pipeline."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from authz.grants import give
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.evaluation.datasets import CorpusDocument, Dataset
from knowledge.ingestion.pipeline import ingest
from knowledge.ingestion.statistics import refresh_statistics
from knowledge.models import Document, Folder, KnowledgeBase, ParseStatus
from knowledge.services.documents import remove_document
from knowledge.services.folders import create_knowledge_base, root_folder
from knowledge.services.uploads import IncomingFile, Upload, add_document

Progress = Callable[[Sequence[Upload]], Iterable[Upload]]


@dataclass(frozen=True)
class LoadedCorpus:
    """The knowledge base of a corpus, and which of its documents is which row."""

    base: KnowledgeBase
    external_ids: dict[UUID, str]

    def document_ids(self, external: Iterable[str]) -> tuple[UUID, ...]:
        """The rows of the named documents; those without text have none."""
        wanted = set(external)
        return tuple(pk for pk, name in self.external_ids.items() if name in wanted)


def load_corpus(dataset: Dataset, reader: Principal, *, name: str, progress: Progress) -> LoadedCorpus:
    """Bring a corpus into the knowledge base `name`; a document that is there unchanged is not read again.

    reader: who is given the right to view it. progress: wraps the list of uploads that are ingested one by one.
    Raises InvalidInput when a document cannot be ingested.
    """
    base = KnowledgeBase.unscoped.filter(name=name).first() or create_knowledge_base(None, name=name)
    folder = root_folder(base)
    uploads = {document.id: _upload(folder, number, document) for number, document in enumerate(dataset.corpus)}
    waiting = [
        upload
        for upload in uploads.values()
        if upload is not None and upload.version.parse_status == ParseStatus.PENDING
    ]
    for upload in progress(waiting):
        ingest(upload.version.pk)
    _drop_others(folder, {upload.document.pk for upload in uploads.values() if upload is not None})
    refresh_statistics(base)
    give(None, [Right.VIEW], base, to=User.objects.get(pk=reader.user_id))
    broken = Document.unscoped.filter(folder=folder, versions__parse_status=ParseStatus.FAILED).first()
    if broken is not None:
        raise InvalidInput(f"{broken.title} could not be ingested: {broken.versions.all()[0].failure_reason}")
    return LoadedCorpus(base, {upload.document.pk: name for name, upload in uploads.items() if upload is not None})


def _upload(folder: Folder, number: int, document: CorpusDocument) -> Upload | None:
    """A document as a Markdown file; one without any text has nothing to find."""
    if not document.text.strip():
        return None
    incoming = IncomingFile(
        filename=f"{number:06d}.md",
        file=ContentFile(document.text.encode()),
        title=document.title or document.id,
        language=document.language or "",
        queue="bulk",
    )
    return add_document(None, folder, incoming)


def _drop_others(folder: Folder, kept: set[UUID]) -> None:
    """What an earlier corpus of the same name left behind would be found, too."""
    for document in Document.unscoped.filter(folder=folder).exclude(pk__in=kept):
        remove_document(None, document)
