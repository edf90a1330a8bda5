"""The stages before publishing: read the file, split it, index the passages.

Each does its work and gives back what is to be written; the caller writes it while the lease holds.
"""

import json
import shutil
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple
from uuid import UUID, uuid5

from django.conf import settings
from django.core.files.base import ContentFile

from knowledge import titles
from knowledge.ingestion.chunking import ChunkDraft, chunk_document
from knowledge.ingestion.indexing import (
    IndexRow,
    build_index_rows,
    find_unindexed_passages,
    split_into_batches,
    write_document_rows,
)
from knowledge.ingestion.lease import open_fenced_transaction
from knowledge.ingestion.pictures import add_picture_text
from knowledge.models import Chunk, Document, DocumentVersion, KnowledgeBase, Recognition
from knowledge.parsers.base import PARSER_VERSION, ParseLimits, Rejected
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.detect import find_parser_by_name
from knowledge.parsers.sandbox import parse_in_child
from knowledge.retrieval.engine import load_engine
from knowledge.stated_fields import clean_front_matter, fill_document_fields
from knowledge.text.language import detect_language
from knowledge.text.passage_blocks import serialise_blocks

Report = Callable[[int, int], None]
"""Told how many passages (or pictures) are done, of how many."""


@dataclass(frozen=True)
class Written:
    """The result of a stage. items: how many; write: writes them in the caller's transaction."""

    items: int
    write: Callable[[], None]


def parse_version(version: DocumentVersion, report: Report) -> Written:
    """Read the original and its pictures in child processes and keep the blocks beside it. Raises Rejected, ParseFailed."""
    with open_local_copy(version) as path:
        limits = ParseLimits(file_bytes=settings.UPLOAD_MAX_BYTES)
        read = parse_in_child(path, filename=version.document.filename, limits=limits)
        parsed, recognised = add_picture_text(version, path, read, report)
    if version.document.knowledge_base.is_hidden_text_indexed:
        parsed = parsed.with_hidden()
    if not any(block.text.strip() for block in parsed.blocks):
        raise Rejected(_explain_missing_text(version, parsed))
    bare = sum(picture.is_bare for picture in read.pictures)
    stated = clean_front_matter(parsed.fields)

    def write() -> None:
        save_parsed_document(version, parsed)
        DocumentVersion.unscoped.filter(pk=version.pk).update(
            mime_type=find_parser_by_name(version.document.filename).mime_types[0],
            page_count=parsed.page_count,
            parser_version=PARSER_VERSION,
            hidden_apart=len(parsed.apart),
            hidden_indexed=parsed.hidden_count,
            bare_pictures=bare,
            scanned_pages=len(read.pictures) - bare,
            recognised=recognised,
            losses=dict(parsed.losses),
            stated=stated,
        )
        set_title_and_language(version.document, parsed)
        fill_document_fields(version.document, stated)

    return Written(1, write)


def _explain_missing_text(version: DocumentVersion, parsed: ParsedDocument) -> str:
    if parsed.apart:
        return "only_hidden_text"
    if parsed.pictures and version.document.knowledge_base.recognition != Recognition.OFF:
        return "no_text_in_pictures"
    return "no_text_in_pages" if parsed.page_count else "no_text"


def set_title_and_language(document: Document, parsed: ParsedDocument) -> None:
    """Take title and language from the document itself, unless they were given."""
    if parsed.title and titles.is_title_from_filename(document.filename, document.title):
        document.title = parsed.title[:300]
    document.language = choose_language(document, parsed)
    document.save(update_fields=["title", "language", "updated_at"])


def choose_language(document: Document, parsed: ParsedDocument) -> str:
    """Return the base's language, or the document's own, given or recognised; not one that its base had before."""
    before = document.current_version
    was_told = before is not None and before.cut_as.rpartition("/")[2]
    return document.knowledge_base.language or ("" if was_told else document.language) or detect_language(parsed.text)


def split_into_passages(parsed: ParsedDocument, base: KnowledgeBase) -> list[ChunkDraft]:
    """Return the passages of a parsed document, in the sizes of its base or of the settings."""
    sizes = resolve_sizes(base.chunk_tokens, base.chunk_max_tokens)
    return chunk_document(
        parsed, count_tokens=load_engine().embedder.count_tokens, target_tokens=sizes.target, max_tokens=sizes.most
    )


class PassageSizes(NamedTuple):
    """Target and maximum size of passages, in tokens of the embedder."""

    target: int
    most: int


def resolve_sizes(target: int | None, most: int | None) -> PassageSizes:
    """Return the sizes of a base; None where it uses those of the settings."""
    return PassageSizes(target or settings.CHUNK_TOKENS, most or settings.CHUNK_MAX_TOKENS)


def chunk_version(version: DocumentVersion, report: Report) -> Written:
    """Split the blocks into passages; writing them again gives the same rows."""
    drafts = split_into_passages(load_parsed_document(version), version.document.knowledge_base)
    rows = build_passages(version, drafts, _assign_passage_ids(version, [draft.text for draft in drafts]))

    def write() -> None:
        Chunk.unscoped.filter(version=version).delete()
        Chunk.unscoped.bulk_create(rows, batch_size=500)
        DocumentVersion.unscoped.filter(pk=version.pk).update(cut_as=version.document.knowledge_base.cut_as)

    return Written(len(rows), write)


def build_passages(version: DocumentVersion, drafts: Sequence[ChunkDraft], ids: Sequence[UUID]) -> list[Chunk]:
    """Return the passages of a version under the ids they are to have, not written yet."""
    return [
        Chunk(
            id=ids[draft.ordinal],
            knowledge_base_id=version.document.knowledge_base_id,
            document=version.document,
            version=version,
            position=draft.ordinal,
            text=draft.text,
            heading_path=list(draft.heading_path),
            kind=draft.kind,
            page_from=draft.page_from,
            page_to=draft.page_to,
            page_starts=list(draft.page_starts),
            blocks=serialise_blocks(draft.blocks),
            start=draft.start,
            end=draft.end,
            length_tokens=draft.length_tokens,
        )
        for draft in drafts
    ]


def embed_version(version: DocumentVersion, report: Report) -> Written:
    """Index the passages that the configured embedding space does not hold yet, a batch at a time; the last one is left to write."""
    with_engine = load_engine()
    there, missing = find_unindexed_passages(version, with_engine)
    done, rows = there, list[IndexRow]()
    for batch in split_into_batches(missing):
        if rows:
            with open_fenced_transaction(version):
                write_document_rows(version.document, rows)
            report(done, there + len(missing))
        rows = build_index_rows(version.document, batch, with_engine, live=False)
        done += len(batch)
    return Written(done, partial(write_document_rows, version.document, rows))


def _assign_passage_ids(version: DocumentVersion, texts: Sequence[str]) -> list[UUID]:
    """Return an id for each passage. A version that is read again keeps the ids of passages that stay the same: citations name them."""
    known: dict[str, list[UUID]] = {}
    for text, chunk in (
        Chunk.unscoped.filter(version=version).order_by("is_retired", "position").values_list("text", "id")
    ):
        known.setdefault(text, []).append(chunk)
    taken = {item for ids in known.values() for item in ids}
    return [
        known[text].pop(0) if known.get(text) else make_chunk_id(version.pk, position, taken=taken)
        for position, text in enumerate(texts)
    ]


def make_chunk_id(version_id: UUID, position: int, *, taken: Container[UUID] = ()) -> UUID:
    """Return the id made from a passage's place, or the next free one: repeating the stage gives the same rows."""
    ids = (uuid5(version_id, f"{position}/{turn}" if turn else str(position)) for turn in count())
    return next(identifier for identifier in ids if identifier not in taken)


@contextmanager
def open_local_copy(version: DocumentVersion) -> Iterator[Path]:
    """Yield the original as a file on this machine, under a name of ours; storages may be far away."""
    with NamedTemporaryFile(prefix="original-") as copy:
        with version.file.open("rb") as original:
            shutil.copyfileobj(original, copy)
        copy.flush()
        yield Path(copy.name)


def save_parsed_document(version: DocumentVersion, parsed: ParsedDocument) -> None:
    storage, name = version.file.storage, version.parsed_name
    storage.delete(name)
    storage.save(name, ContentFile(json.dumps(parsed.to_json(), ensure_ascii=False).encode()))


def load_parsed_document(version: DocumentVersion) -> ParsedDocument:
    """Return the blocks that `parse_version` kept; raises FileNotFoundError when they are gone."""
    with version.file.storage.open(version.parsed_name) as file:
        return ParsedDocument.from_json(json.load(file))
