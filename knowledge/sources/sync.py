"""Synchronisation of a source: each listed item is imported, moved, left unchanged, or missed."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import PurePosixPath

import structlog
from django.core.files.base import ContentFile
from django.db import DataError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from authz.rights.checks import make_not_found
from copilot_site.lib.errors import CopilotError, StorageFull
from knowledge.models import Document, DocumentVersion, Folder, Source, SourceItem, SourceRun
from knowledge.services.folders import ensure_path
from knowledge.services.originals import (
    find_free_filename,
    place_document,
    restore_withdrawn_document,
    withdraw_document,
)
from knowledge.services.tree import lock_tree
from knowledge.services.uploads import IncomingFile, Upload, UploadOutcome, add_document, clean_filename
from knowledge.sources.base import Connector, ItemContent, ListedItem, Missed, Passing, Unreadable
from knowledge.sources.runs import clean_foreign_text, lock_held_run, record_run_failure, store_run_progress

log = structlog.get_logger(__name__)

PROGRESS_S = 2.0
WAITS_S = (1.0, 5.0)  # before a temporary failure is retried
BATCH = 500


@dataclass
class Keeper:
    """One run at work. sleep: waits seconds.

    items: those of earlier runs, by id. seen: ids in the source. dark: prefixes of ids whose state is unknown.
    stored: versions of the transaction under way.
    """

    run: SourceRun
    source: Source
    connector: Connector
    sleep: Callable[[float], None] = time.sleep
    items: dict[str, SourceItem] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    dark: list[str] = field(default_factory=list)
    stored: list[DocumentVersion] = field(default_factory=list)
    checked: list[int] = field(default_factory=list)
    told_at: float = 0.0

    def keep_all(self, listing: Iterable[ListedItem | Missed]) -> None:
        """Import all listed items, then process missing ones. listing: of `normalise_item`.

        Raises Unreadable where the listing ends early, Overtaken.
        """
        later: list[ListedItem] = []
        for entry in listing:
            if isinstance(entry, Missed):
                self._record_missed(entry)
            elif self._may_be_moved(entry):
                self._count_seen_item(entry.id)
                later.append(entry)
            else:
                self._count_seen_item(entry.id)
                self._try_item(entry)
            self._report_progress()
        self._refuse_empty_listing(later)
        for item in later:  # a new name may be a rename of a missing one
            self._try_item(item)
            self._report_progress()
        for row in self._iterate_gone_items():
            self._mark_item_missing(row)
            self._report_progress()
        self._store_check_times()

    def _count_seen_item(self, original_id: str) -> None:
        if original_id not in self.seen:
            self.seen.add(original_id)
            self.run.seen += 1

    def _may_be_moved(self, item: ListedItem) -> bool:
        return self.connector.ids_are_paths and item.id not in self.items and item.was not in self.items

    def _record_missed(self, missed: Missed) -> None:
        if missed.is_branch:
            self.dark.append(missed.id)
        else:
            self._count_seen_item(missed.id)
        self._record_failure(missed.id, missed.id, missed.why)

    def _try_item(self, item: ListedItem) -> None:
        """Import one item; a failure is recorded and tried again by the next run."""
        try:
            self._import_item(item)
        except StorageFull:
            raise
        except CopilotError as error:
            self._record_failure(item.id, item.path, str(error))
        except (ValueError, KeyError, DataError):  # an unexpected answer affects this item alone
            log.warning("source.item_failed", source=str(self.source.pk), item=item.id, exc_info=True)
            self._record_failure(item.id, item.path, _("It cannot be stored as it is: the log of the worker says why."))

    def _import_item(self, item: ListedItem) -> None:
        row = self.items.get(item.id) or self._find_renamed_row(item)
        if row is not None and _is_kept_out(row):
            self._keep_item_out(row, item)
            return
        if row is not None and row.version == item.version and row.document_id and not row.failure:
            self._update_unchanged_item(row, item)
            return
        content = self._fetch_content(item)
        sha256 = hashlib.sha256(content.data).hexdigest()
        if row is None and self.connector.ids_are_paths:
            same = (entry for entry in self._iterate_gone_items() if entry.sha256 == sha256)
            row = min(same, key=_is_kept_out, default=None)
            if row is not None and _is_kept_out(row):
                self._keep_item_out(row, item)
                return
        with self._open_transaction():
            lock_held_run(self.run)
            if row is None:
                row = SourceItem(source=self.source, original_id=item.id, path="")
            outcome = self._store_content(row, item, content, sha256)
            self._set_origin_facts(row, item, content)
            row.sha256, row.version, row.read_at, row.failure = sha256, item.version, timezone.now(), ""
            row.save()
        self._count_outcome(row, outcome)

    @contextmanager
    def _open_transaction(self) -> Iterator[None]:
        """Yield a transaction; a failure in it leaves no file behind."""
        self.stored = []
        try:
            with transaction.atomic():
                yield
        except BaseException:
            for version in self.stored:
                version.file.storage.delete(version.file.name or "")
            raise

    def _count_outcome(self, row: SourceItem, outcome: str) -> None:
        self.items[row.original_id] = row
        self.checked.append(row.pk)
        setattr(self.run, outcome, getattr(self.run, outcome) + 1)

    def _store_content(self, row: SourceItem, item: ListedItem, content: ItemContent, sha256: str) -> str:
        """Store an item's content as a document. Return the name of the run's counter for it."""
        title = item.title or content.title
        *folders, filename = PurePosixPath(item.path).parts
        document = row.document
        if document is None:
            folder = ensure_path(None, self.source.folder, tuple(folders))
            name = find_free_filename(folder, clean_filename(filename))
            incoming = IncomingFile(name, ContentFile(content.data), title=title, queue="bulk")
            row.document = self._add_document(folder, incoming, {}).document
            return "added"
        was_back = self._restore_withdrawn(row, document)
        has_moved = self._move_to_item_path(row, document, item, title)
        if row.sha256 == sha256:
            return "moved" if has_moved else "added" if was_back else "unchanged"
        if Document.unscoped.select_for_update().filter(pk=document.pk, trashed_at=None).first() is None:
            raise make_not_found(Document)  # since the run began
        incoming = IncomingFile(document.filename, ContentFile(content.data), queue="bulk")
        upload = self._add_document(document.folder, incoming, {document.filename: document})
        return "unchanged" if upload.outcome is UploadOutcome.UNCHANGED else "changed"

    def _keep_item_out(self, row: SourceItem, item: ListedItem) -> None:
        """Keep deleted documents out and trashed ones unchanged; only the item's id in the source is updated.

        A changed file whose document was deleted for good is read, so that it is known by its text once it is renamed.
        """
        if row.is_left_out and self.connector.ids_are_paths and row.version != item.version:
            row.sha256, row.version = hashlib.sha256(self._fetch_content(item).data).hexdigest(), item.version
        with transaction.atomic():
            lock_held_run(self.run)
            self.items.pop(row.original_id, None)
            row.original_id = item.id
            row.save(update_fields=["original_id", "sha256", "version"])
        self.items[item.id] = row
        self.run.unchanged += 1

    def _add_document(self, folder: Folder, incoming: IncomingFile, known: dict[str, Document]) -> Upload:
        upload = add_document(None, folder, incoming, known=known)
        if upload.outcome is not UploadOutcome.UNCHANGED:
            self.stored.append(upload.version)
        return upload

    def _update_unchanged_item(self, row: SourceItem, item: ListedItem) -> None:
        """Process an unchanged item, which may have been moved, or be back."""
        facts = (item.id, item.path, item.url or row.url, item.author or row.author, item.title or row.title)
        if row.gone_at is None and facts == (row.original_id, row.path, row.url, row.author, row.title):
            self._count_outcome(row, "unchanged")
            return
        with transaction.atomic():
            lock_held_run(self.run)
            assert row.document is not None  # checked by the caller
            was_back = self._restore_withdrawn(row, row.document)
            has_moved = self._move_to_item_path(row, row.document, item, item.title)
            self._set_origin_facts(row, item, None)
            row.save()
        self._count_outcome(row, "moved" if has_moved else "added" if was_back else "unchanged")

    def _move_to_item_path(self, row: SourceItem, document: Document, item: ListedItem, title: str) -> bool:
        """Follow a new path or title, unless the document was moved here by hand. Return whether it was moved."""
        has_moved = row.path != item.path
        title = title if title != row.title else ""
        if not has_moved and not title:
            return False
        folder, filename = document.folder, document.filename
        if has_moved:
            lock_tree(document.knowledge_base_id)  # before a folder is added, which shares it
            *folders, filename = PurePosixPath(item.path).parts
            folder = ensure_path(None, self.source.folder, tuple(folders))
        place_document(None, document, folder, filename, title)
        return has_moved

    def _restore_withdrawn(self, row: SourceItem, document: Document) -> bool:
        was_withdrawn = row.gone_at is not None and document.withdrawn_at is not None
        row.gone_at = None
        if was_withdrawn:
            restore_withdrawn_document(None, document)
            document.withdrawn_at = None
        return was_withdrawn

    def _set_origin_facts(self, row: SourceItem, item: ListedItem, content: ItemContent | None) -> None:
        """Set the facts about a document's origin: its address, author and time in the source."""
        self.items.pop(row.original_id, None)  # its id may have changed
        row.original_id, row.path = item.id, item.path
        row.title = (item.title or (content.title if content else "") or row.title)[:300]
        row.url, row.author = (
            item.url or row.url,
            (item.author or (content.author if content else "") or row.author)[:200],
        )
        row.modified_at = item.modified_at or (content.modified_at if content else None) or row.modified_at
        row.memory = dict(item.memory) or row.memory
        if content is not None:
            row.sections = [list(section) for section in content.sections]

    def _find_renamed_row(self, item: ListedItem) -> SourceItem | None:
        """Return the row of an item under its previous id, where the connector knows that."""
        return self.items.get(item.was) if item.was and item.was not in self.seen else None

    def _fetch_content(self, item: ListedItem) -> ItemContent:
        for wait in WAITS_S:
            try:
                return self.connector.fetch(item)
            except Passing:
                self.sleep(wait)
        return self.connector.fetch(item)

    def _record_failure(self, original_id: str, what: str, why: str) -> None:
        record_run_failure(self.run, what, why)
        row = self.items.get(original_id)
        if row is not None:
            row.failure = clean_foreign_text(why)[:500]
            SourceItem.unscoped.filter(pk=row.pk).update(failure=row.failure)

    def _iterate_gone_items(self) -> Iterable[SourceItem]:
        for original_id, row in list(self.items.items()):
            if original_id not in self.seen and not any(original_id.startswith(dark) for dark in self.dark):
                yield row

    def _refuse_empty_listing(self, later: list[ListedItem]) -> None:
        """Refuse an empty listing: an unmounted share looks like an empty one."""
        here = [row for row in self.items.values() if row.gone_at is None]
        if here and not self.seen and not self.dark:
            raise Unreadable(
                _("Nothing is left of %(count)s pages, so nothing is withdrawn here. Check the source first.")
                % {"count": len(here)}
            )

    def _mark_item_missing(self, row: SourceItem) -> None:
        """Process missing items: their documents answer until the grace period is over."""
        now = timezone.now()
        grace = timedelta(hours=self.source.grace_hours)
        with transaction.atomic():
            lock_held_run(self.run)
            if row.gone_at is None:
                row.gone_at = now
                row.save(update_fields=["gone_at"])
            document = row.document
            is_over = row.gone_at + grace <= now
            if document is not None and document.withdrawn_at is None and is_over and _is_source_content(row, document):
                withdraw_document(None, document)
                self.run.withdrawn += 1

    def _report_progress(self) -> None:
        if time.monotonic() - self.told_at > PROGRESS_S:
            store_run_progress(self.run)
            self._store_check_times()
            self.told_at = time.monotonic()

    def _store_check_times(self) -> None:
        while self.checked:
            part, self.checked = self.checked[:BATCH], self.checked[BATCH:]
            SourceItem.unscoped.filter(pk__in=part).update(checked_at=timezone.now())


def _is_kept_out(row: SourceItem) -> bool:
    return row.is_left_out or (row.document is not None and row.document.trashed_at is not None)


def _is_source_content(row: SourceItem, document: Document) -> bool:
    """Tell whether the document's present content is the source's, not a person's replacement."""
    newest = document.versions.order_by("-number").first()
    return newest is not None and newest.uploaded_by_id is None and newest.sha256 == row.sha256


def load_source_items(source: Source) -> dict[str, SourceItem]:
    """Return the items of earlier runs of a source, by id."""
    rows = SourceItem.unscoped.filter(source=source).select_related("document__folder")
    return {row.original_id: row for row in rows}
