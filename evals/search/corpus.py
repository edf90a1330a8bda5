"""Load an evaluation corpus into a knowledge base of its own, by the real upload and the real pipeline."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny, give
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.progress import progress
from evals.search.datasets import CorpusDocument, Dataset, Query
from knowledge.ingestion.pipeline import ingest
from knowledge.ingestion.publish import refresh_statistics
from knowledge.models import Document, DocumentVersion, Folder, KnowledgeBase, ParseStatus
from knowledge.retrieval.plan import Scope
from knowledge.services.folders import create_knowledge_base, ensure_path, root_folder
from knowledge.services.removal import remove_document
from knowledge.services.uploads import IncomingFile, Upload, add_document

OTHERS_S = 600  # that a worker beside the command may take for what it took; its lease is renewed while it works


class Languages(StrEnum):
    """The language of the corpus that a question is searched in."""

    OWN = "own"  # the one it names, else its own
    OTHER = "other"  # the one that is not its own
    ALL = "all"


@dataclass(frozen=True)
class LoadedCorpus:
    """The knowledge base of a corpus, and the name in the set of each document. Each document is in a folder of its own."""

    base: KnowledgeBase
    external_ids: dict[UUID, str]

    def documents(self, external: Collection[str]) -> list[Document]:
        """Return the rows of the named documents, with their folders; a document without text has no row."""
        wanted = [pk for pk, name in self.external_ids.items() if name in external]
        return list(Document.unscoped.filter(pk__in=wanted).select_related("folder"))


def load_corpus(dataset: Dataset, reader: Principal, *, name: str) -> LoadedCorpus:
    """Bring a corpus into the knowledge base `name`; a document that is there unchanged is not read again.

    reader: gets the right to view it.
    Raises InvalidInput when a document cannot be ingested, or another worker does not come to an end with it.
    """
    base = KnowledgeBase.unscoped.filter(name=name).first() or create_knowledge_base(None, name=name)
    root = root_folder(base)
    uploads = {document.id: _upload(root, number, document) for number, document in enumerate(dataset.corpus)}
    unfinished = {ParseStatus.PENDING, ParseStatus.PROCESSING}
    waiting = [
        upload for upload in uploads.values() if upload is not None and upload.version.parse_status in unfinished
    ]
    for upload in progress(waiting, desc="read and index", unit="document"):
        ingest(upload.version.pk)
    _wait_for_others([upload.version.pk for upload in waiting])
    _drop_others(base, {upload.document.pk for upload in uploads.values() if upload is not None})
    refresh_statistics(base)
    give(None, [Right.VIEW], base, to=User.objects.get(pk=reader.user_id))
    broken = Document.unscoped.filter(knowledge_base=base, versions__parse_status=ParseStatus.FAILED).first()
    if broken is not None:
        raise InvalidInput(f"{broken.title} could not be ingested: {broken.versions.all()[0].failure_reason}")
    return LoadedCorpus(base, {upload.document.pk: name for name, upload in uploads.items() if upload is not None})


@contextmanager
def hidden(corpus: LoadedCorpus, reader: Principal, external: Collection[str]) -> Iterator[None]:
    """Deny the reader the folders of the named documents inside the block. Nothing is kept: a killed command hides nothing."""
    user = User.objects.get(pk=reader.user_id)
    with transaction.atomic():
        for document in corpus.documents(external):
            deny(None, [Right.VIEW], document.folder, to=user)
        yield
        transaction.set_rollback(True)


def scope_of(query: Query, dataset: Dataset, corpus: LoadedCorpus, languages: Languages) -> Scope:
    """Return the corpus, in the language that is searched."""
    return Scope(knowledge_base_ids=(corpus.base.pk,), language=language_of(query, dataset, languages))


def language_of(query: Query, dataset: Dataset, languages: Languages) -> str:
    """Return the language a question is searched in; "" for all, and where the corpus does not tell languages apart."""
    spoken = {document.language for document in dataset.corpus if document.language}
    own = query.target_language or query.language or ""
    if languages is Languages.ALL or own not in spoken:
        return ""
    others = sorted(spoken - {own})
    return others[0] if languages is Languages.OTHER and others else own


def _upload(root: Folder, number: int, document: CorpusDocument) -> Upload | None:
    """Add a document as a Markdown file in a folder of its own, where rights are given; None for a document without text."""
    if not document.text.strip():
        return None
    incoming = IncomingFile(
        filename=f"{number:06d}.md",
        file=ContentFile(document.text.encode()),
        title=document.title or document.id,
        language=document.language or "",
        queue="bulk",
    )
    return add_document(None, ensure_path(None, root, (f"{number:06d}",)), incoming)


def _wait_for_others(versions: Sequence[UUID]) -> None:
    """Wait until no worker works on these versions: another one may have taken some, and a killed one keeps its lease for a while."""
    mine = DocumentVersion.unscoped.filter(pk__in=versions)
    for _second in range(OTHERS_S):
        for version in mine.filter(parse_status=ParseStatus.PROCESSING, lease_expires_at__lt=timezone.now()):
            ingest(version.pk)
        left = mine.filter(parse_status__in=[ParseStatus.PENDING, ParseStatus.PROCESSING]).count()
        if not left:
            return
        time.sleep(1)
    raise InvalidInput(f"{left} documents are still being read by other workers; start the evaluation again later.")


def _drop_others(base: KnowledgeBase, kept: set[UUID]) -> None:
    """Remove what an earlier corpus of the same name left behind: it would be found, too."""
    for document in Document.unscoped.filter(knowledge_base=base).exclude(pk__in=kept):
        remove_document(None, document)
