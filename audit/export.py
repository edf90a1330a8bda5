"""Exporting the log: recorded first, then streamed."""

from collections.abc import Iterator
from contextlib import suppress

from django.db.models import Max
from django.db.models.functions import TruncDay
from django.utils import timezone

from audit.actions import Action
from audit.checkpoints import sign_checkpoint
from audit.exports import FORMATS, ExportFormat, Extract, Placed
from audit.models import Checkpoint, Kind, Link
from audit.record import Actor, record
from audit.selectors import EntryFilter, links
from audit.verify_export import GENESIS
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.registry import UnknownName

BATCH = 1000  # entries read at a time


def filename(form: ExportFormat) -> str:
    """Of an export made now: audit-2026-11-21.jsonl."""
    return f"audit-{timezone.now():%Y-%m-%d}.{form.extension}"


def format_named(name: str) -> ExportFormat:
    """Raises InvalidInput, naming the formats there are."""
    try:
        return FORMATS.get(name)
    except UnknownName as error:
        raise InvalidInput(str(error)) from error


def export_entries(by: Actor | None, *, chosen: EntryFilter, form: ExportFormat) -> Iterator[bytes]:
    """The chosen entries as a file, piece by piece. That it was exported, by whom and what, is recorded before the first piece.

    The end of the log is signed first, so that the file carries a signature over all it holds; on a host without the key it
    carries the last one there is.
    """
    record(by, Action.AUDIT_EXPORTED, detail={"format": form.name, "filter": chosen.stored()})
    with suppress(
        CopilotError, OSError
    ):  # beat's host has the key, and says so when it is lost; a damaged log is exported, too
        sign_checkpoint()
    first, last = Link.objects.order_by("seq").first(), Link.objects.order_by("seq").last()
    end = last.seq if last else 0
    extract = Extract(
        exported_at=timezone.now(),
        chosen=chosen.stored(),
        first_seq=first.seq if first else 1,
        last_seq=end,
        count=links(chosen).filter(seq__lte=end).count(),
        checkpoints=_checkpoints(first.seq if first else 1, end),
        entries=_placed(chosen, end),
    )
    return form.write(extract)


def _checkpoints(first: int, end: int) -> list[Checkpoint]:
    """The last of each day, and the cut that the log begins at: an offline check in pure Python takes 3 ms for each."""
    periodic = Checkpoint.objects.filter(seq__gte=first, seq__lte=end, kind=Kind.PERIODIC)
    days = periodic.annotate(day=TruncDay("at")).values("day").annotate(newest=Max("seq")).values("newest")
    cut = Checkpoint.objects.filter(kind=Kind.CUT, seq=first - 1)
    return [*cut, *periodic.filter(seq__in=days).order_by("seq")]


def _placed(chosen: EntryFilter, end: int) -> Iterator[Placed]:
    """In the order of the chain, up to the end as it was when the export began."""
    after = 0
    while batch := list(links(chosen).filter(seq__gt=after, seq__lte=end)[:BATCH]):
        before = dict(Link.objects.filter(seq__in=[link.seq - 1 for link in batch]).values_list("seq", "hash"))
        cut = Checkpoint.objects.filter(kind=Kind.CUT, seq=batch[0].seq - 1).first()
        for link in batch:
            previous = before.get(link.seq - 1) or (cut.hash if cut and cut.seq == link.seq - 1 else GENESIS)
            yield Placed(link.seq, bytes(previous), bytes(link.hash), link.entry)
        after = batch[-1].seq
