"""Read the gauges of documents for `/metrics`: waiting and failed versions, and the last reading of each source."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q

from knowledge.models import DocumentVersion, ParseStatus, Source, SourceRunState
from knowledge.models.documents import UNFINISHED


@dataclass(frozen=True)
class Unfinished:
    """Versions of one queue and status. oldest: since when the first one waits, or was uploaded."""

    queue: str
    status: ParseStatus
    count: int
    oldest: datetime


def count_unfinished_versions() -> Iterator[Unfinished]:
    """Yield the numbers of versions that wait, are in work or failed; counts only."""
    rows = DocumentVersion.unscoped.filter(parse_status__in=UNFINISHED).order_by().values("queue", "parse_status")
    for row in rows.annotate(count=Count("pk"), oldest=Min("created_at")):
        yield Unfinished(row["queue"], ParseStatus(row["parse_status"]), row["count"], row["oldest"])


def iterate_source_readings() -> Iterator[tuple[str, datetime]]:
    """Yield the name of each active source and when it was last read without a failure, or else made."""
    well = Q(runs__state=SourceRunState.DONE)
    rows = Source.unscoped.filter(is_active=True).annotate(read_at=Max("runs__finished_at", filter=well))
    for source in rows.order_by("name"):
        yield source.name, source.read_at or source.created_at
