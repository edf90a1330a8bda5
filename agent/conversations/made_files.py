"""Files that scripts made: kept for the asker for a limited time, under the rights to their sources."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from agent.models import MadeFile, Message
from authz.principal import Principal
from business.results.visibility import Queried, visible_queries

KEPT = timedelta(days=7)
MAX, MAX_BYTES = 5, 5 * 1024 * 1024  # of one script; of one file
SUFFIXES = frozenset({".docx", ".xlsx", ".pptx", ".pdf", ".csv", ".txt", ".md", ".json", ".png"})


def store_made_files(message_id: UUID, files: Mapping[str, bytes], grounds: Sequence[Queried]) -> list[MadeFile]:
    """Store the files of a run, at most MAX; none where the run is not stored."""
    if not Message.objects.filter(pk=message_id).exists():
        return []
    fit = [
        (name, content)
        for path, content in sorted(files.items())
        if (name := "".join(c for c in PurePosixPath(path).name if c.isprintable())[:120])
        and PurePosixPath(name).suffix.lower() in SUFFIXES
        and 0 < len(content) <= MAX_BYTES
    ][:MAX]
    keys = [ground.key for ground in grounds]
    rows = [
        MadeFile(message_id=message_id, name=name, size_bytes=len(content), content=content, grounds=keys)
        for name, content in fit
    ]
    return MadeFile.objects.bulk_create(rows)


def delete_expired_made_files() -> int:
    """Delete expired files and return their number."""
    return MadeFile.objects.filter(created_at__lte=timezone.now() - KEPT).delete()[0]


def unexpired_made_files() -> QuerySet[MadeFile]:
    """Return the files not yet deleted, without their content."""
    return MadeFile.objects.filter(created_at__gt=timezone.now() - KEPT).defer("content")


def list_visible_made_files(principal: Principal, message_ids: Collection[UUID]) -> list[MadeFile]:
    """Return the files of these answers, where the person may see all of their sources."""
    if not message_ids:
        return []
    rows = list(unexpired_made_files().filter(message__in=message_ids))
    grounds = {row.pk: {Queried.model_validate_json(key) for key in row.grounds} for row in rows}
    visible = visible_queries(principal, {one for ground in grounds.values() for one in ground})
    return [row for row in rows if grounds[row.pk] <= visible]
