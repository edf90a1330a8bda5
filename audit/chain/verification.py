"""Verify the whole chain of the audit log, and name the first sequence number that fails."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction

from audit.actions import Action
from audit.chain.checkpoints import iterate_checkpoint_files
from audit.chain.guards import find_guard_faults, use_own_search_path
from audit.chain.keys import is_signed, list_trusted_keys
from audit.chain.malformed_rows import ODD, load_readable_rows
from audit.models import Checkpoint, Entry, Head, Hold, Kind, Link, build_chain_content
from audit.verify_export import (
    CHECKPOINT,
    GENESIS,
    PERSONAL,
    check_shape,
    compute_commitment,
    compute_content_hash,
    compute_link_hash,
    id_of,
    write_canonical_json,
)

BATCH = 2000  # links per batch
MAX_FAULTS = 100  # kept of each kind; a rewritten log would name every entry


@dataclass(frozen=True)
class Fault:
    """A verification failure. seq: the sequence number it begins at; None where no entry is concerned."""

    seq: int | None
    kind: str
    sentence: str


@dataclass
class VerificationReport:
    """The result of a verification. erased: names and addresses that were removed by a recorded erasure."""

    entries: int = 0
    first: int = 0
    last: int = 0
    erased: int = 0
    checkpoints: int = 0
    outside: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def first_bad(self) -> int | None:
        """Return the smallest sequence number with a fault."""
        return min((fault.seq for fault in self.faults if fault.seq is not None), default=None)

    def bad(self, seq: int | None, kind: str, sentence: str) -> None:
        """Add a fault."""
        if sum(fault.kind == kind for fault in self.faults) < MAX_FAULTS:
            self.faults.append(Fault(seq, kind, sentence))


@dataclass(frozen=True)
class Lost:
    """An erased name or address. person_id: the person it belonged to; None where the entry does not say."""

    seq: int
    field: str
    person_id: int | None


Losses = dict[int | None, list[Lost]]  # by person


@dataclass
class Marks:
    """The content of signatures by our keys: hash by sequence number, and where the log was cut."""

    trusted: set[str]
    hashes: dict[int, set[str]] = field(default_factory=dict)
    cut_seq: int = 0
    cut_hash: bytes = GENESIS

    def add(self, statement: dict[str, Any]) -> None:
        seq, digest = int(statement["seq"]), str(statement["hash"])
        self.hashes.setdefault(seq, set()).add(digest)
        if statement["kind"] == Kind.CUT and seq > self.cut_seq:
            self.cut_seq, self.cut_hash = seq, bytes.fromhex(digest)


def verify_log() -> VerificationReport:
    """Check contents, links, head, checkpoints inside and outside, and the guards. One consistent snapshot.

    Malformed rows end up in the report, too.
    """
    report = VerificationReport()
    with _open_snapshot():
        marks = _read_signatures(report)
        _check_links(report, marks)
        _check_log_end(report, marks)
        _report_unlinked_entries(report)
        _check_active_holds(report)
        for sentence in find_guard_faults():
            report.bad(None, "guard", sentence)
    report.faults.sort(key=lambda fault: (fault.seq is None, fault.seq or 0))
    return report


@contextmanager
def _open_snapshot() -> Iterator[None]:
    """Read one consistent snapshot without blocking writers; inside a caller's transaction, use that one.

    Ignore the configured search path: a database administrator can put their own tables, catalogs and operators first.
    """
    alone = not connection.in_atomic_block
    with transaction.atomic():
        if alone:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        with use_own_search_path():
            yield


def _read_signatures(report: VerificationReport) -> Marks:
    """Read the signatures; only valid ones count."""
    marks = Marks(list_trusted_keys())
    rows: dict[tuple[int, str], Checkpoint] = {}
    numbers = dict(Checkpoint.objects.order_by("seq").values_list("pk", "seq"))
    for number, row in load_readable_rows(Checkpoint, list(numbers)).items():
        report.checkpoints += 1
        name = f"checkpoint {numbers[number]} in the database"
        try:
            statement = row.statement()
        except ODD:
            report.bad(numbers[number], "checkpoint", f"{name} cannot be read")
            continue
        if _accept_checkpoint(report, marks, statement, row.signature, name):
            rows[row.seq, str(row.kind)] = row
    seen = set()
    for file in iterate_checkpoint_files():
        report.outside += 1
        if not file.statement:
            report.bad(None, "checkpoint", f"{file.path} cannot be read")
        elif _accept_checkpoint(report, marks, file.statement, file.signature, str(file.path)):
            place = (file.statement["seq"], file.statement["kind"])
            seen.add(place)
            if place not in rows:
                report.bad(place[0], "checkpoint", f"the database has lost the checkpoint at {place[0]} ({file.path})")
    newest = max((row.pk for row in rows.values()), default=0)  # its file may not be written yet
    for place in sorted(place for place, row in rows.items() if place not in seen and row.pk != newest):
        report.bad(place[0], "checkpoint", f"outside the database the checkpoint at {place[0]} is missing")
    return marks


def _accept_checkpoint(
    report: VerificationReport, marks: Marks, statement: dict[str, Any], signature: str, name: str
) -> bool:
    """Add a checkpoint if its signature is valid and by a key of ours."""
    seq = statement["seq"] if isinstance(statement.get("seq"), int) else None
    try:
        key, message = check_shape(statement, CHECKPOINT)["key"], write_canonical_json(statement)
        bytes.fromhex(statement["hash"])
    except ODD:
        report.bad(seq, "checkpoint", f"{name} is no checkpoint")
        return False
    if key not in marks.trusted:
        report.bad(seq, "checkpoint", f"{name} is signed by a key that is not ours: {key[:16]}…")
    elif not is_signed(message, signature, key):
        report.bad(seq, "checkpoint", f"the signature of {name} is wrong")
    else:
        marks.add(statement)
        return True
    return False


def _check_links(report: VerificationReport, marks: Marks) -> None:
    """Check every link in order, with its entry."""
    before, expected, good = marks.cut_hash, marks.cut_seq + 1, marks.cut_seq
    rewritten, lost = False, Losses()
    for seq, entry_id in Link.objects.filter(seq__lte=marks.cut_seq).values_list("seq", "entry_id")[:MAX_FAULTS]:
        report.bad(seq, "stray", f"entry {entry_id} stands as number {seq}, before the log begins")
    for link, entry in _iterate_links(marks.cut_seq):
        seq, digest = link.seq, bytes(link.hash or b"")
        report.entries, report.first, report.last = report.entries + 1, report.first or seq, seq
        if seq != expected:
            report.bad(expected, "missing", _format_missing_numbers(expected, seq - 1))
        try:
            _check_entry(report, lost, seq, entry)
            if entry and seq == expected and compute_link_hash(before, seq, bytes(entry.content_hash)) != digest:
                report.bad(seq, "link", f"number {seq} does not follow from the number before it")
        except ODD:
            report.bad(seq, "changed", f"number {seq} holds what no entry holds: it was changed")
        if seq in marks.hashes and not rewritten:
            rewritten = marks.hashes[seq] != {digest.hex()}
            if rewritten:
                where = f"between {good + 1} and {seq}" if seq > good + 1 else f"at {seq}"
                report.bad(
                    good + 1, "rewritten", f"the chain was rewritten {where}: the checkpoint at {seq} says otherwise"
                )
            good = seq
        before, expected = digest, seq + 1
    for gone in (gone for of_one in lost.values() for gone in of_one):
        report.bad(gone.seq, "erased", f"{gone.field} of number {gone.seq} is gone without a recorded erasure")


def _check_entry(report: VerificationReport, lost: Losses, seq: int, entry: Entry | None) -> None:
    """Check the row against its hash. lost: by person, losses without a recorded erasure so far. Raises any of ODD."""
    if entry is None:
        report.bad(seq, "missing", f"the entry with number {seq} is deleted")
        return
    for gone in _find_erased_fields(seq, entry):
        report.erased += 1
        lost.setdefault(gone.person_id, []).append(gone)
    for name in entry.salts.keys() | set(PERSONAL):
        text, salt = str(getattr(entry, name, "") or ""), entry.salts.get(name)
        if name not in entry.personal and (text or name in entry.salts):
            report.bad(seq, "changed", f"{name!a} of number {seq} was added")
        elif (text and salt is None) or (salt is not None and compute_commitment(text, salt) != entry.personal[name]):
            report.bad(seq, "changed", f"{name} of number {seq} was changed")
    if compute_content_hash(build_chain_content(entry)) != bytes(entry.content_hash):
        report.bad(seq, "changed", f"the content of number {seq} was changed")
    elif entry.action == Action.PERSON_ERASED:
        lost.pop(entry.detail["person"], None)


def _find_erased_fields(seq: int, entry: Entry) -> Iterator[Lost]:
    """Yield the fields with a hash in the chain and no salt in the row."""
    for name in PERSONAL:
        if name in entry.personal and entry.salts.get(name) is None:
            yield Lost(seq, name, id_of(vars(entry), name))


def _iterate_links(after: int) -> Iterator[tuple[Link, Entry | None]]:
    """Yield links with the entries they name, in order of their numbers."""
    while links := list(Link.objects.filter(seq__gt=after).order_by("seq")[:BATCH]):
        entries = load_readable_rows(Entry, [link.entry_id for link in links if link.entry_id is not None])
        yield from ((link, entries.get(link.entry_id)) for link in links)
        after = links[-1].seq


def _check_log_end(report: VerificationReport, marks: Marks) -> None:
    """Check that the log ends where its head and signatures say."""
    last = max(report.last, marks.cut_seq)
    heads = list(Head.objects.all())
    head = heads[0] if len(heads) == 1 else None
    if len(heads) > 1:
        report.bad(last + 1, "head", "more than one row names the end of the chain")
    elif head is None and last:
        report.bad(last + 1, "head", "the row that names the end of the chain is deleted")
    elif head is not None and (head.seq or 0) > last:
        report.bad(last + 1, "missing", _format_missing_numbers(last + 1, head.seq))
    elif head is not None and report.last:
        newest = Link.objects.get(seq=report.last)
        seq = head.seq or 0
        if seq < last or newest.hash is None or head.hash is None or bytes(newest.hash) != bytes(head.hash):
            report.bad(min(seq + 1, last), "head", f"the end of the chain is {last}, its head says otherwise")
    ahead = max(marks.hashes, default=0)
    if ahead > last:
        report.bad(
            last + 1,
            "behind",
            f"the log ends at {last}, a signed checkpoint names {ahead}: its end was deleted or an old state restored",
        )


def _report_unlinked_entries(report: VerificationReport) -> None:
    """Report entries added while linking was switched off."""
    for number in Entry.objects.filter(link=None).order_by("id").values_list("pk", flat=True)[:MAX_FAULTS]:
        before = Link.objects.filter(entry_id__lt=number).order_by("-seq").first()
        seq = before.seq + 1 if before else 1
        report.bad(seq, "stray", f"entry {number} is in no place of the chain; it was put in where {seq} is")


def _check_active_holds(report: VerificationReport) -> None:
    """Check that every hold still active is unchanged since it was placed."""
    recorded = Link.objects.filter(entry__action__in=[Action.HOLD_PLACED, Action.HOLD_RELEASED])
    seqs = dict(recorded.order_by("seq").values_list("entry_id", "seq"))
    entries, placed = load_readable_rows(Entry, list(seqs)), dict[int, tuple[int, dict[str, Any]]]()
    for number, seq in seqs.items():
        with suppress(*ODD):  # an entry that cannot be read this way fails by its hash
            hold, detail = int(entries[number].target_id), dict(entries[number].detail)
            if entries[number].action == Action.HOLD_PLACED:
                placed[hold] = seq, detail
            else:
                del placed[hold]
    rows = load_readable_rows(Hold, list(placed))
    for hold, (seq, detail) in placed.items():
        row = rows.get(hold)
        is_there = row is not None and row.pk is not None and row.released_at is None
        if not is_there or not detail.items() <= rows[hold].extent().items():
            report.bad(seq, "hold", f"the legal hold {hold} was released, changed or deleted without an entry")


def _format_missing_numbers(first: int, last: int) -> str:
    return f"number {first} is missing" if first == last else f"the numbers {first} to {last} are missing"
