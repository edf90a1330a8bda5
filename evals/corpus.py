"""Read evaluation sets (corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv in one folder), and load each into a base of its own.

A corpus is loaded by the real upload and the real pipeline.
"""

import csv
from argparse import ArgumentTypeError
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management.base import CommandParser
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny_rights, grant_rights
from copilot_site.lib.commands import read_text_file
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.progress import show_progress_bar
from evals.command import ReportCommand, read_rows
from knowledge.ingestion.completion import wait_for_versions
from knowledge.ingestion.publish import refresh_statistics
from knowledge.models import Document, Folder, KnowledgeBase, ParseStatus
from knowledge.services.folders import create_knowledge_base, ensure_path, find_root_folder
from knowledge.services.removal import remove_document
from knowledge.services.uploads import IncomingFile, Upload, add_document

Judgements = dict[str, dict[str, int]]


class CorpusDocument(BaseModel):
    """One document of the collection. language: a tag such as `zh-cn`."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = Field(min_length=1)
    text: str
    title: str | None = None
    language: str | None = Field(None, alias="lang")


class Query(BaseModel):
    """One question. answers: accepted spans; answerable: None where the set does not say.

    target_language: the language to search in when it is not the question's own.
    exclude_ids: documents to drop from the results before scoring, because the question was taken from them.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = Field(min_length=1)
    text: str
    language: str | None = Field(None, alias="lang")
    kind: str | None = None
    answers: tuple[str, ...] = ()
    answerable: bool | None = None
    target_language: str | None = Field(None, alias="target_lang")
    exclude_ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dataset:
    """A collection with its questions and graded judgements {query id: {document id: grade}}."""

    name: str
    corpus: tuple[CorpusDocument, ...]
    queries: tuple[Query, ...]
    qrels: Judgements

    def language_of(self, query: Query, *, other: bool = False) -> str:
        """Return the language a question is searched in: the one it names, else its own; "" where the corpus does not have it.

        other: the one of the corpus that it is not.
        """
        spoken = {document.language for document in self.corpus if document.language}
        own = query.target_language or query.language or ""
        if own not in spoken:
            return ""
        others = sorted(spoken - {own})
        return others[0] if other and others else own


@dataclass(frozen=True)
class LoadedCorpus:
    """The knowledge base of a corpus, and the name in the set of each document. Each document is in a folder of its own."""

    base: KnowledgeBase
    external_ids: dict[UUID, str]

    def documents(self, external: Collection[str]) -> list[Document]:
        """Return the rows of the named documents, with their folders; a document without text has no row."""
        wanted = [pk for pk, name in self.external_ids.items() if name in external]
        return list(Document.unscoped.filter(pk__in=wanted).select_related("folder"))


def load_dataset(folder: Path, *, split: str = "dev", corpus: Path | None = None) -> Dataset:
    """Read an evaluation set.

    corpus: another corpus file than the folder's `corpus.jsonl`, such as one with headings masked; relative to the folder.
    Raises InvalidInput with file and line for a missing file, a bad line, an id used twice, or a judgement about an
    unknown query or document.
    """
    corpus_file, queries_file = folder / (corpus or "corpus.jsonl"), folder / f"queries.{split}.jsonl"
    documents, queries = read_rows(corpus_file, CorpusDocument), read_rows(queries_file, Query)
    document_ids, query_ids = _unique_ids(corpus_file, documents), _unique_ids(queries_file, queries)
    qrels = _read_qrels(folder / f"qrels.{split}.tsv", query_ids, document_ids)
    return Dataset(folder.name, tuple(documents), tuple(queries), qrels)


def _unique_ids(file: Path, rows: Sequence[CorpusDocument] | Sequence[Query]) -> set[str]:
    ids = set[str]()
    for row in rows:
        if row.id in ids:
            raise InvalidInput(f"{file}: the id {row.id!r} is used twice.")
        ids.add(row.id)
    return ids


def _read_qrels(file: Path, query_ids: set[str], document_ids: set[str]) -> Judgements:
    """Read the judgements. A first line whose grade is no number is a header."""
    qrels: Judgements = {}
    lines = csv.reader(read_text_file(file).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for fields in filter(None, lines):
        where = f"{file}, line {lines.line_num}"
        if len(fields) != 3:
            raise InvalidInput(f"{where}: must have three fields separated by tabs, not {len(fields)}.")
        query_id, document_id, grade = fields
        if not grade.removeprefix("-").isdecimal():
            if lines.line_num == 1:
                continue
            raise InvalidInput(f"{where}: the grade must be a whole number, not {grade!r}.")
        if query_id not in query_ids:
            raise InvalidInput(f"{where}: the query {query_id!r} is not in the queries file.")
        if document_id not in document_ids:
            raise InvalidInput(f"{where}: the document {document_id!r} is not in the corpus.")
        qrels.setdefault(query_id, {})[document_id] = int(grade)
    return qrels


def load_corpus(dataset: Dataset, reader: Principal, *, name: str) -> LoadedCorpus:
    """Bring a corpus into the knowledge base `name`; a document that is there unchanged is not read again.

    reader: gets the right to view it. Raises InvalidInput when a document cannot be ingested.
    """
    base = KnowledgeBase.unscoped.filter(name=name).first() or create_knowledge_base(None, name=name)
    root = find_root_folder(base)
    # a document without text has no row
    rows = [(number, document) for number, document in enumerate(dataset.corpus) if document.text.strip()]
    uploads = {document.id: _upload(root, number, document) for number, document in rows}
    unfinished = {ParseStatus.PENDING, ParseStatus.PROCESSING}
    waiting = [upload.version.pk for upload in uploads.values() if upload.version.parse_status in unfinished]
    with show_progress_bar(waiting, desc="read and index", unit="document") as bar:
        wait_for_versions(waiting, queue="bulk", done=lambda count: bar.update(count - int(bar.n)))
    kept = {upload.document.pk: name for name, upload in uploads.items()}
    for document in Document.unscoped.filter(knowledge_base=base).exclude(pk__in=kept):
        remove_document(None, document)  # an earlier corpus of the same name left it: it would be found, too
    refresh_statistics(base)
    grant_rights(None, [Right.VIEW], base, to=User.objects.get(pk=reader.user_id))
    broken = Document.unscoped.filter(knowledge_base=base, versions__parse_status=ParseStatus.FAILED).first()
    if broken is not None:
        raise InvalidInput(f"{broken.title} could not be ingested: {broken.versions.all()[0].failure_reason}")
    return LoadedCorpus(base, kept)


def _upload(root: Folder, number: int, document: CorpusDocument) -> Upload:
    """Add a document as a Markdown file in a folder of its own, where rights are given."""
    incoming = IncomingFile(
        filename=f"{number:06d}.md",
        file=ContentFile(document.text.encode()),
        title=document.title or document.id,
        language=document.language or "",
        queue="bulk",
    )
    return add_document(None, ensure_path(None, root, (f"{number:06d}",)), incoming)


@contextmanager
def hidden(corpus: LoadedCorpus, reader: Principal, external: Collection[str]) -> Iterator[None]:
    """Deny the reader the folders of the named documents inside the block. Nothing is kept: a killed command hides nothing."""
    user = User.objects.get(pk=reader.user_id)
    with transaction.atomic():
        for document in corpus.documents(external):
            deny_rights(None, [Right.VIEW], document.folder, to=user)
        yield
        transaction.set_rollback(True)


class CorpusCommand(ReportCommand):
    """Load a corpus into a knowledge base of its own, and measure the questions on it. packages: of the development requirements."""

    packages: Sequence[str] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv")
        parser.add_argument("--split", default="dev")
        parser.add_argument("--as", dest="username", required=True, help="who asks; gets the right to view the corpus")
        parser.add_argument("--corpus", type=Path, help="another corpus file, such as a masked one, in the folder")
        parser.add_argument("--every", type=_at_least_one, default=1, help="ask only every Nth question")
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        for package in self.packages:
            if find_spec(package) is None:
                raise InvalidInput(f"{package} is not installed; pip install -r requirements/dev.txt brings it.")
        corpus = options["corpus"]
        dataset = load_dataset(options["folder"], split=options["split"], corpus=corpus)
        dataset = replace(dataset, queries=dataset.queries[:: options["every"]])
        reader = Principal.named(options["username"])
        name = f"evaluation {dataset.name}" + (f" {corpus.stem}" if corpus else "")
        return self.ask(dataset, load_corpus(dataset, reader, name=name), reader, options)

    def ask(self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]) -> dict[str, Any]:
        """Ask the questions, and return the report as JSON."""
        raise NotImplementedError


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)
