"""Write everything a company owns into one new folder, in formats that other programs read, for whoever leaves or keeps an archive.

documents/BASE/FOLDER/FILE   the current version of each document, as it was uploaded
versions/ID/NUMBER-FILE      the other versions
documents.jsonl              a document a line: place, title, fields, owner, dates, versions and where their files are
grants.csv                   rights, as `manage.py import_grants` reads them
people.jsonl                 accounts, with the groups, units and roles that grants.csv names
conversations.jsonl          a conversation a line, with its questions, answers, sources and ratings
verified_answers.jsonl       a verified answer a line
audit.jsonl                  the audit log, with verify_export.py, which checks it without this product

Not in it: passwords, keys and tokens, what can be computed again (passages, vectors), and business data, which stays in its databases.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Prefetch

from agent.models import Message, Session, VerifiedAnswer
from audit import verify_export
from audit.actions import Action
from audit.export import export_entries, find_export_format
from audit.record import record_action
from audit.selectors import EntryFilter
from copilot_site.backup import make_folder_private, require_unused_folder, use_private_file_mode
from knowledge.models import Document, DocumentVersion, Folder, FolderLink
from knowledge.services.grant_files import export_grants

BATCH = 500  # rows read at a time
UNSAFE = re.compile(r"[\x00-\x1f/\\:*?\"<>|]|^\.+|[. ]+$")  # in a file's name, on some system
NAME_BYTES = 200


def export_all(folder: Path) -> Iterator[str]:
    """Write everything into a new folder that only this user can read; yield the steps done. Raises InvalidInput."""
    require_unused_folder(folder)
    with use_private_file_mode():
        make_folder_private(folder)
        record_action(None, Action.DATA_EXPORTED)
        for name, rows in (
            ("documents", _export_documents(folder)),
            ("people", _iterate_people()),
            ("conversations", _iterate_conversations()),
            ("verified_answers", _iterate_verified_answers()),
        ):
            yield f"{name}.jsonl: {_write_rows(folder / f'{name}.jsonl', rows)}"
        with (folder / "grants.csv").open("w", encoding="utf-8", newline="") as out:
            yield f"grants.csv: {export_grants(None, out)}"
        with (folder / "audit.jsonl").open("wb") as log:
            log.writelines(export_entries(None, chosen=EntryFilter(), form=find_export_format("jsonl")))
        program = shutil.copyfile(Path(verify_export.__file__), folder / "verify_export.py")
        yield f"audit.jsonl: check it with python3 {program} {folder / 'audit.jsonl'}"


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n")
            count += 1
    return count


def _export_documents(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield each document with the places of its files, which are copied on the way; the files of conversations, too."""
    versions = Prefetch("versions", DocumentVersion.unscoped.order_by("number"))
    wanted = Document.unscoped.select_related("folder", "knowledge_base", "owner").prefetch_related(versions)
    for document in wanted.order_by("pk").iterator(chunk_size=BATCH):
        names = _list_folder_names(document.trashed_from or document.folder)
        yield {
            "id": document.pk,
            "knowledge_base": document.knowledge_base.name,
            "folder": names,
            "title": document.title,
            "filename": document.filename,
            "fields": document.metadata,
            "owner": document.owner.username if document.owner else None,
            "review_on": document.review_on,
            "superseded_by": document.superseded_by_id,
            "in_trash_since": document.trashed_at,
            "withdrawn_at": document.withdrawn_at,
            "created_at": document.created_at,
            "versions": [
                {
                    "number": version.number,
                    "is_current": version.pk == document.current_version_id,
                    "sha256": version.sha256,
                    "created_at": version.created_at,
                    "approved_at": version.approved_at,
                    "file": _copy_file(version, folder, _build_file_place(document, names, version)),
                }
                for version in document.versions.all()
            ],
        }


def _list_folder_names(folder: Folder) -> list[str]:
    """Return the names from the top folder below the base down to this one."""
    above = FolderLink.objects.filter(descendant=folder, ancestor__parent__isnull=False).order_by("-depth")
    return list(above.values_list("ancestor__name", flat=True))


def _build_file_place(document: Document, names: list[str], version: DocumentVersion) -> Path:
    if version.pk == document.current_version_id and not document.trashed_at:
        return Path("documents", *map(_make_safe_name, (document.knowledge_base.name, *names, document.filename)))
    return Path("versions", str(document.pk), f"{version.number}-{_make_safe_name(document.filename)}")


def _make_safe_name(name: str) -> str:
    """Return a name that every file system takes."""
    path = Path(UNSAFE.sub("_", name) or "_")
    return path.stem.encode()[:NAME_BYTES].decode(errors="ignore") + path.suffix[:20]


def _copy_file(version: DocumentVersion, folder: Path, place: Path) -> str | None:
    """Copy the file; return its place, None where the storage has lost it."""
    if (folder / place).exists():  # two names that are one here
        place = Path("versions", str(version.document_id), f"{version.number}-{place.name}")
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    try:
        with version.file.open("rb") as source, (folder / place).open("wb") as target:
            shutil.copyfileobj(source, target)
    except FileNotFoundError:
        return None
    return str(place)


def _iterate_people() -> Iterator[dict[str, Any]]:
    for person in User.objects.prefetch_related("groups").order_by("pk").iterator(chunk_size=BATCH):
        yield {
            "sign_in_name": person.username,
            "name": person.get_full_name(),
            "email": person.email,
            "is_active": person.is_active,
            "is_administrator": person.is_superuser,
            "groups": sorted(group.name for group in person.groups.all()),
            "joined_at": person.date_joined,
        }


def _iterate_conversations() -> Iterator[dict[str, Any]]:
    messages = Prefetch(
        "messages", Message.objects.order_by("created_at").prefetch_related("citations", "queries", "pages")
    )
    wanted = Session.objects.select_related("user").prefetch_related(messages)
    for session in wanted.order_by("created_at", "pk").iterator(chunk_size=BATCH):
        yield {
            "id": session.pk,
            "person": session.user.username,
            "title": session.title,
            "created_at": session.created_at,
            "messages": [_build_message(message) for message in session.messages.all()],
        }


def _build_message(message: Message) -> dict[str, Any]:
    return {
        "id": message.pk,
        "answers": message.parent_id,
        "role": message.role,
        "content": message.content,
        "created_at": message.created_at,
        "rating": message.rating,
        "comment": message.comment,
        "documents": [
            {"number": cited.number, "document": cited.document_id, "version": cited.version_id}
            for cited in message.citations.all()
        ],
        "results": [{"number": query.number, "result": query.result} for query in message.queries.all()],
        "pages": [{"number": page.number, "url": page.url} for page in message.pages.all()],
    }


def _iterate_verified_answers() -> Iterator[dict[str, Any]]:
    wanted = VerifiedAnswer.unscoped.select_related("verified_by").prefetch_related("wordings", "sources__data_source")
    for answer in wanted.order_by("verified_at", "pk").iterator(chunk_size=BATCH):
        yield {
            "id": answer.pk,
            "folder": answer.folder_id,
            "question": answer.question,
            "wordings": [wording.text for wording in answer.wordings.all()],
            "text": answer.text,
            "sql": answer.sql,
            "documents": [source.document_id for source in answer.sources.all() if source.document_id],
            "data_sources": [source.data_source.name for source in answer.sources.all() if source.data_source],
            "verified_by": answer.verified_by.username if answer.verified_by else None,
            "verified_at": answer.verified_at,
            "valid_until": answer.expires_on,
        }
