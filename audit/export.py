"""Exporting the log: recorded first, then streamed."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice

from django.db.models.functions import TruncDay
from django.utils import timezone

from audit.actions import Action
from audit.chain.checkpoints import filter_valid_checkpoints, find_contradicting_files, sign_checkpoint
from audit.chain.malformed_rows import load_readable_rows, make_unreadable_entry
from audit.exports import FORMATS, ChainedEntry, ExportFormat, Extract, Signed
from audit.models import Checkpoint, Entry, Kind, Link
from audit.record import Actor, record_action
from audit.selectors import EntryFilter, list_links
from audit.verify_export import GENESIS, write_canonical_json
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.registry import UnknownName

MAX_CONTRADICTING = 100  # the most checkpoints in one export; the first says where it begins
BATCH = 1000  # entries read at a time
TIMES = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))  # showable in every time zone


def build_file_name(form: ExportFormat) -> str:
    """Return the name of an export made now: audit-2026-11-21.jsonl."""
    return f"audit-{timezone.now():%Y-%m-%d}.{form.extension}"


def find_export_format(name: str) -> ExportFormat:
    """Return the format of this name. Raises InvalidInput, naming the available formats."""
    try:
        return FORMATS.get(name)
    except UnknownName as error:
        raise InvalidInput(str(error)) from error


def export_entries(by: Actor | None, *, chosen: EntryFilter, form: ExportFormat) -> Iterator[bytes]:
    """Yield the chosen entries as a file, piece by piece; record the export before the first piece.

    The end of the log is signed first, so that the file carries a signature over all it holds; on a host without the key it
    carries the last one there is.
    """
    record_action(by, Action.AUDIT_EXPORTED, detail={"format": form.name, "filter": chosen.stored()})
    with suppress(
        CopilotError, OSError
    ):  # beat's host has the key and reports its loss; a damaged log is exported, too
        sign_checkpoint()
    first, last = Link.objects.order_by("seq").first(), Link.objects.order_by("seq").last()
    end = last.seq if last else 0
    extract = Extract(
        exported_at=timezone.now(),
        chosen=chosen.stored(),
        first_seq=first.seq if first else 1,
        last_seq=end,
        count=list_links(chosen).filter(seq__lte=end).count(),
        checkpoints=_list_checkpoints(first.seq if first else 1, end),
        entries=_iterate_placed_entries(chosen, end),
    )
    return form.write(extract)


def _list_checkpoints(first: int, end: int) -> list[Signed]:
    """Return the last checkpoint of each day and the cut at the log's beginning: an offline check takes 3 ms for each.

    Add the files outside the database that contradict the chain: a database administrator can rewrite it and delete its
    checkpoints.
    """
    cut = islice(filter_valid_checkpoints(Checkpoint.objects.filter(kind=Kind.CUT, seq=first - 1)), 1)
    inside = [
        (checkpoint.statement(), checkpoint.signature) for checkpoint in (*cut, *_find_daily_checkpoints(first, end))
    ]
    outside_signed = [
        (file.statement, file.signature) for file in islice(find_contradicting_files(first), MAX_CONTRADICTING)
    ]
    found = {
        write_canonical_json(statement): (statement, signature) for statement, signature in (*inside, *outside_signed)
    }
    return sorted(found.values(), key=lambda signed: (signed[0]["seq"], signed[0]["at"]))


def _find_daily_checkpoints(first: int, end: int) -> Iterator[Checkpoint]:
    rows = Checkpoint.objects.filter(seq__gte=first, seq__lte=end, kind=Kind.PERIODIC, at__range=TIMES)
    days: dict[datetime, list[int]] = defaultdict(list)
    for number, day in rows.annotate(day=TruncDay("at")).order_by("-seq", "-id").values_list("pk", "day"):
        days[day].append(number)
    for numbers in days.values():
        candidates = (filter_valid_checkpoints(Checkpoint.objects.filter(pk=number)) for number in numbers)
        yield from islice(chain.from_iterable(candidates), 1)


def _iterate_placed_entries(chosen: EntryFilter, end: int) -> Iterator[ChainedEntry]:
    """Yield entries in the order of the chain, up to its end when the export began; an unreadable one keeps its place."""
    after = 0
    while batch := list(
        list_links(chosen).filter(seq__gt=after, seq__lte=end).values_list("seq", "hash", "entry_id")[:BATCH]
    ):
        before = dict(Link.objects.filter(seq__in=[seq - 1 for seq, *_ in batch]).values_list("seq", "hash"))
        cut = next(filter_valid_checkpoints(Checkpoint.objects.filter(kind=Kind.CUT, seq=batch[0][0] - 1)), None)
        entries = load_readable_rows(Entry, [number for *_, number in batch], instead=make_unreadable_entry)
        for seq, digest, number in batch:
            previous = before.get(seq - 1) or (cut.hash if cut and cut.seq == seq - 1 else GENESIS)
            yield ChainedEntry(seq, bytes(previous), bytes(digest), entries.get(number) or make_unreadable_entry())
        after = batch[-1][0]
