"""Reading the pictures of a version (OCR), as its base wants it: one after the other, each kept in the storage as it is read.

A worker that comes back goes on where the one before it stopped, and a version that is read again need not read its pictures again.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import structlog
from django.core.files.base import ContentFile

from knowledge.models import DocumentVersion, Recognition
from knowledge.parsers.base import UnreadableFile
from knowledge.parsers.blocks import ParsedDocument, Picture
from knowledge.parsers.pdf.recognised import RecognisedPage, build_picture_blocks
from knowledge.parsers.sandbox import recognise_picture_in_child

log = structlog.get_logger(__name__)

MODEL = "PP-OCRv6"  # a change reads all pictures again


def select_pictures(parsed: ParsedDocument, recognition: str) -> Sequence[Picture]:
    """Return the pictures of a document to read under this setting of its base."""
    if recognition == Recognition.OFF:
        return ()
    return [item for item in parsed.pictures if item.is_bare or recognition == Recognition.ALL]


def add_picture_text(
    version: DocumentVersion, path: Path, parsed: ParsedDocument, report: Callable[[int, int], None]
) -> tuple[ParsedDocument, int]:
    """Return the document with the text of its pictures, and how many were read. path: the original; report: called with (done, total).

    A picture that cannot be read is left out: the rest of the document is not lost for it, and its page says so.
    """
    pictures = select_pictures(parsed, version.document.knowledge_base.recognition)
    read: dict[Picture, RecognisedPage] = {}
    for done, picture in enumerate(pictures):
        report(done, len(pictures))
        page = _load_recognised_page(version, picture) or _recognise_picture(version, path, picture)
        if page:
            read[picture] = page
    pages = {picture: page for picture, page in read.items() if page.lines}
    return (parsed.with_recognised(build_picture_blocks(pages)) if pages else parsed), len(read)


def _recognise_picture(version: DocumentVersion, path: Path, picture: Picture) -> RecognisedPage | None:
    try:
        page = recognise_picture_in_child(path, filename=version.document.filename, picture=picture)
    except UnreadableFile as problem:
        log.warning(
            "ingestion.picture_unread", version=str(version.pk), picture=_name_picture(picture), reason=problem.code
        )
        return None
    content = json.dumps({"model": MODEL, **asdict(page)}, ensure_ascii=False).encode()
    version.file.storage.save(_build_file_name(version, picture), ContentFile(content))
    return page


def _load_recognised_page(version: DocumentVersion, picture: Picture) -> RecognisedPage | None:
    storage, name = version.file.storage, _build_file_name(version, picture)
    if not storage.exists(name):
        return None
    with storage.open(name) as file:
        value = json.load(file)
    if value.pop("model") == MODEL:
        return RecognisedPage.from_json(value)
    storage.delete(name)
    return None


def _build_file_name(version: DocumentVersion, picture: Picture) -> str:
    return version.page_name(f"{_name_picture(picture)}.json")


def _name_picture(picture: Picture) -> str:
    return picture.name.replace("/", "-") or str(picture.page)
