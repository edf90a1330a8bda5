"""Signed checkpoints of the chain: rows in the database, and the same as files outside it.

A database administrator can rewrite the chain after the last checkpoint and make all hashes fit, but cannot sign, and
cannot change files on a write-once mount. Entries up to a checkpoint are safe once it is signed.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.chain.keys import is_signed, list_trusted_keys, public_key_of, read_signing_key
from audit.chain.malformed_rows import ODD, load_readable_rows
from audit.models import Checkpoint, Head, Kind, Link
from audit.verify_export import write_canonical_json
from copilot_site.lib.errors import Conflict

LOCK = 0x61756469  # the advisory lock that serialises signing
HEALED = 300  # the newest checkpoints, whose missing files are rewritten


@dataclass(frozen=True)
class Outside:
    """A checkpoint as its file says. statement and signature are empty where the file cannot be read."""

    path: Path
    statement: dict[str, Any]
    signature: str


def sign_checkpoint() -> Checkpoint | None:
    """Sign the end of the chain and copy it outside; None where nothing was recorded since the last one.

    The row is on disk before the file is written: a file must never be ahead of the database. Raises KeyUnusable, and Conflict
    where the file outside says something else about the same number.
    """
    key = read_signing_key()
    with transaction.atomic():
        lock_signing()
        head = Head.objects.first()
        last = find_newest_checkpoint()
        made = (
            None
            if head is None or (last and last.seq >= head.seq)
            else add_signed_checkpoint(head.seq, bytes(head.hash), Kind.PERIODIC, key)
        )
    write_checkpoint_files()
    return made


def lock_signing() -> None:
    """Wait for any other signer and lock until the transaction ends: two at once would sign one number twice."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def find_newest_checkpoint() -> Checkpoint | None:
    """Return the newest valid checkpoint."""
    return next(filter_valid_checkpoints(Checkpoint.objects.order_by("-seq", "-id")), None)


def filter_valid_checkpoints(checkpoints: QuerySet[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield checkpoints signed by a key of ours; on a host without the keys, those that agree with the chain."""
    if list_trusted_keys():
        return filter_trusted_checkpoints(checkpoints)
    cut, place = Q(kind=Kind.CUT), Link.objects.filter(seq=OuterRef("seq"), hash=OuterRef("hash"))
    return _filter_readable_checkpoints(checkpoints.filter(cut | Exists(place)))


def filter_trusted_checkpoints(checkpoints: QuerySet[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield checkpoints signed by a key of ours: a forged row with a future number must not stop the signing."""
    trusted = list_trusted_keys()
    for row in _filter_readable_checkpoints(checkpoints):
        if row.key in trusted and is_signed(write_canonical_json(row.statement()), row.signature, row.key):
            yield row


def _filter_readable_checkpoints(checkpoints: QuerySet[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield checkpoints that can be read and could be signed."""
    numbers = checkpoints.values_list("pk", flat=True).iterator()
    while batch := list(islice(numbers, HEALED)):
        found = load_readable_rows(Checkpoint, batch)
        for number in batch:
            try:
                write_canonical_json(found[number].statement())
            except ODD:
                continue
            yield found[number]


def add_signed_checkpoint(seq: int, digest: bytes, kind: Kind, key: Any) -> Checkpoint:
    """Add one checkpoint in the caller's transaction."""
    checkpoint = Checkpoint(seq=seq, kind=kind, hash=digest, at=timezone.now(), key=public_key_of(key))
    checkpoint.signature = key.sign(write_canonical_json(checkpoint.statement())).hex()
    checkpoint.save(force_insert=True)
    return checkpoint


def write_checkpoint_files() -> None:
    """Write the files that are missing of the newest checkpoints. Raises Conflict."""
    for checkpoint in reversed([*islice(filter_trusted_checkpoints(Checkpoint.objects.order_by("-id")), HEALED)]):
        path = _build_checkpoint_path(checkpoint)
        content = (
            write_canonical_json({"checkpoint": checkpoint.statement(), "signature": checkpoint.signature}) + b"\n"
        )
        if not path.exists():
            _write_file_atomically(path, content)
        elif path.read_bytes() != content:
            raise Conflict(
                _(
                    "%(path)s and the database disagree about entry %(seq)s. Was an old state restored? Run `manage.py verify_audit`."
                )
                % {"path": path, "seq": checkpoint.seq}
            )


def iterate_checkpoint_files() -> Iterator[Outside]:
    """Yield every checkpoint outside the database, by day and number."""
    for path in sorted(settings.AUDIT_CHECKPOINTS.glob("*/*.json")):
        yield _read_checkpoint_file(path)


def find_contradicting_files(first: int) -> Iterator[Outside]:
    """Yield files signed by a key of ours that contradict the chain from this number on, or go beyond its end."""
    trusted, files = list_trusted_keys(), iterate_checkpoint_files()
    while batch := [*islice(files, HEALED)]:
        placed = [(file, file.statement["seq"]) for file in batch if isinstance(file.statement.get("seq"), int)]
        chain = dict(Link.objects.filter(seq__in=[seq for _file, seq in placed]).values_list("seq", "hash"))
        for file, seq in placed:
            statement, key = file.statement, file.statement.get("key")
            is_other = seq >= first and statement.get("hash") != bytes(chain.get(seq, b"")).hex()
            if is_other and key in trusted and is_signed(write_canonical_json(statement), file.signature, key):
                yield file


def _read_checkpoint_file(path: Path) -> Outside:
    try:
        found = json.loads(path.read_bytes())
        return Outside(path, dict(found["checkpoint"]), str(found["signature"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Outside(path, {}, "")


def _build_checkpoint_path(checkpoint: Checkpoint) -> Path:
    folder: Path = settings.AUDIT_CHECKPOINTS
    return folder / f"{checkpoint.at:%Y-%m-%d}" / f"{checkpoint.seq:015d}-{checkpoint.kind}.json"


def _write_file_atomically(path: Path, content: bytes) -> None:
    """Write the whole file or nothing, read-only and on disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.chmod(0o444)
    fresh.replace(path)
