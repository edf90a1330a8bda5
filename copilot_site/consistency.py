"""Find what a fault or a restore may have left: rows without files, files without rows, passages that answer wrongly, unequal rights.

Administrators run it after a restore, a full disk or a killed server (`manage.py check_consistency`). It changes nothing. Work that is
under way is no fault: leases count ten minutes after their end, runs and files after an hour.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.files.storage import Storage
from django.db import connection
from django.utils import timezone

from audit.chain.verification import verify_log
from copilot_site.check_result import CheckResult
from knowledge.models import DocumentVersion
from knowledge.retrieval.engine import load_engine

ORIGINALS = "originals"
NAMED = 3  # rows that a finding names
YOUNG = timedelta(hours=1)  # a file is stored before its row commits


@dataclass(frozen=True)
class SqlCheck:
    """A check in SQL. rows: selects one text for each fault. mend: what to do."""

    name: str
    rows: str
    mend: str


REINDEX = "Run manage.py reindex."
RESTORE = "Restore the last backup, and report how it came to this."
STATEMENTS = (
    SqlCheck(
        "folder tree",
        """
        WITH RECURSIVE up (ancestor, descendant, depth, is_cut) AS (
            SELECT id, id, 0, false FROM knowledge_folder
            UNION ALL SELECT f.parent_id, up.descendant, up.depth + 1, up.is_cut OR NOT f.inherits
            FROM up JOIN knowledge_folder f ON f.id = up.ancestor WHERE f.parent_id IS NOT NULL
        ), kept AS (SELECT ancestor_id, descendant_id, depth::int, is_cut FROM knowledge_folderlink)
        SELECT 'folder ' || descendant FROM (
            (SELECT * FROM up EXCEPT SELECT * FROM kept) UNION ALL (SELECT * FROM kept EXCEPT SELECT * FROM up)
        ) unequal
        """,
        RESTORE,
    ),
    SqlCheck(
        "rights in the index",
        """
        SELECT 'passage ' || i.chunk_id FROM knowledge_chunkindex i JOIN knowledge_document d ON d.id = i.document_id
        WHERE i.live AND i.folder_id <> d.access_id
        """,
        REINDEX,
    ),
    SqlCheck(
        "answering versions",
        """
        SELECT 'passage ' || i.chunk_id FROM knowledge_chunkindex i JOIN knowledge_document d ON d.id = i.document_id
        WHERE i.live AND i.version_id IS DISTINCT FROM d.current_version_id
        UNION ALL
        SELECT 'document ' || d.id FROM knowledge_document d JOIN knowledge_documentversion v ON v.id = d.current_version_id
        WHERE v.document_id <> d.id
        """,
        REINDEX,
    ),
    SqlCheck(
        "passages in the index",
        """
        SELECT 'passage ' || c.id FROM knowledge_chunk c JOIN knowledge_document d ON d.current_version_id = c.version_id
        JOIN knowledge_documentversion v ON v.id = c.version_id AND v.parse_status = 'completed'
        WHERE NOT c.is_retired AND NOT EXISTS (
            SELECT FROM knowledge_chunkindex i
            WHERE i.knowledge_base_id = c.knowledge_base_id AND i.chunk_id = c.id AND i.space_id = %(space)s AND i.live
        )
        UNION ALL
        SELECT 'index row ' || i.chunk_id FROM knowledge_chunkindex i WHERE NOT EXISTS (
            SELECT FROM knowledge_chunk c WHERE c.knowledge_base_id = i.knowledge_base_id AND c.id = i.chunk_id
        )
        """,
        REINDEX,
    ),
    SqlCheck(
        "counts of folders",
        """
        SELECT 'folder ' || f.id FROM knowledge_folder f LEFT JOIN (
            SELECT folder_id, count(*) AS chunks, sum(term_total) AS terms
            FROM (SELECT DISTINCT folder_id, chunk_id, term_total FROM knowledge_chunkindex WHERE live) once GROUP BY 1
        ) c ON c.folder_id = f.id
        WHERE (f.chunk_count, f.term_count) <> (coalesce(c.chunks, 0), coalesce(c.terms, 0))
        """,
        REINDEX,
    ),
    SqlCheck(
        "unfinished work",
        """
        SELECT 'version ' || id FROM knowledge_documentversion
        WHERE parse_status = 'processing' AND lease_expires_at < now() - interval '10 minutes'
        UNION ALL
        SELECT 'answer ' || id FROM agent_message
        WHERE role = 'assistant' AND NOT is_complete AND created_at < now() - interval '1 hour'
        """,
        "Start the workers and the scheduler (manage.py up, or their services): they finish it.",
    ),
)


def check_consistency() -> Iterator[CheckResult]:
    """Yield the result of each check. Reads every row of the index once: about a minute for a million passages."""
    for statement in STATEMENTS:
        yield _build_result(
            statement.name, *_count_faults(statement.rows, {"space": load_engine().space_id}), statement.mend
        )
    missing, unknown = _find_lost_files()
    yield _build_result("files of versions", len(missing), missing[:NAMED], "Restore the files of the last backup.")
    yield _build_result(
        "versions of files", len(unknown), unknown[:NAMED], "Delete these files once you know whose they were."
    )
    report = verify_log()
    first = [fault.sentence for fault in report.faults[:NAMED]]
    yield _build_result(
        "audit log", len(report.faults), first, "Run manage.py verify_audit, and keep the database as it is."
    )


def are_all_files_lost() -> bool:
    """Tell whether versions have files, and none of these is stored: as in the home of another database."""
    names = DocumentVersion.unscoped.exclude(file="").values_list("file", flat=True)
    return names.exists() and not any(map(DocumentVersion._meta.get_field("file").storage.exists, names.iterator()))


def _build_result(name: str, count: int, named: list[str], mend: str) -> CheckResult:
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return CheckResult(name, not count, f"{', '.join(named)}{more}" if count else "consistent", mend)


def _count_faults(rows: str, parameters: Mapping[str, Any]) -> tuple[int, list[str]]:
    """Return the number of faults, and the first of them."""
    with connection.cursor() as cursor:
        cursor.execute(rows, parameters)
        found = sorted(row for (row,) in cursor.fetchall())
    return len(found), found[:NAMED]


def _find_lost_files() -> tuple[list[str], list[str]]:
    """Return the versions without a file, and the stored originals without a version."""
    storage: Storage = DocumentVersion._meta.get_field("file").storage
    expected = dict(DocumentVersion.unscoped.exclude(file="").values_list("file", "pk"))
    stored = set(_iterate_stored_names(storage))
    missing = [f"version {pk}" for name, pk in expected.items() if name not in stored and not storage.exists(name)]
    before = timezone.now() - YOUNG
    unknown = [name for name in sorted(stored - expected.keys()) if storage.get_modified_time(name) < before]
    return missing, unknown


def _iterate_stored_names(storage: Storage) -> Iterator[str]:
    """Yield the names of all stored originals."""
    if storage.exists(ORIGINALS):
        for base in storage.listdir(ORIGINALS)[0]:
            yield from (f"{ORIGINALS}/{base}/{name}" for name in storage.listdir(f"{ORIGINALS}/{base}")[1])
