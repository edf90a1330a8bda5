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

from audit.chain.keys import is_signed, public_key, signing_key, trusted_keys
from audit.chain.malformed_rows import ODD, readable
from audit.models import Checkpoint, Head, Kind, Link
from audit.verify_export import canonical
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
    key = signing_key()
    with transaction.atomic():
        lock_signing()
        head = Head.objects.first()
        last = newest()
        made = (
            None
            if head is None or (last and last.seq >= head.seq)
            else signed(head.seq, bytes(head.hash), Kind.PERIODIC, key)
        )
    copy_outside()
    return made


def lock_signing() -> None:
    """Wait for any other signer and lock until the transaction ends: two at once would sign one number twice."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def newest() -> Checkpoint | None:
    """Return the newest valid checkpoint."""
    return next(counting(Checkpoint.objects.order_by("-seq", "-id")), None)


def counting(checkpoints: QuerySet[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield checkpoints signed by a key of ours; on a host without the keys, those that agree with the chain."""
    if trusted_keys():
        return genuine(checkpoints)
    cut, place = Q(kind=Kind.CUT), Link.objects.filter(seq=OuterRef("seq"), hash=OuterRef("hash"))
    return _readable(checkpoints.filter(cut | Exists(place)))


def genuine(checkpoints: QuerySet[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield checkpoints signed by a key of ours: a forged row with a future number must not stop the signing."""
    trusted = trusted_keys()
    for row in _readable(checkpoints):
        if row.key in trusted and is_signed(canonical(row.statement()), row.signature, row.key):
            yield row


def _readable(checkpoints: QuerySet[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield checkpoints that can be read and could be signed."""
    numbers = checkpoints.values_list("pk", flat=True).iterator()
    while batch := list(islice(numbers, HEALED)):
        found = readable(Checkpoint, batch)
        for number in batch:
            try:
                canonical(found[number].statement())
            except ODD:
                continue
            yield found[number]


def signed(seq: int, digest: bytes, kind: Kind, key: Any) -> Checkpoint:
    """Add one checkpoint in the caller's transaction."""
    checkpoint = Checkpoint(seq=seq, kind=kind, hash=digest, at=timezone.now(), key=public_key(key))
    checkpoint.signature = key.sign(canonical(checkpoint.statement())).hex()
    checkpoint.save(force_insert=True)
    return checkpoint


def copy_outside() -> None:
    """Write the files that are missing of the newest checkpoints. Raises Conflict."""
    for checkpoint in reversed([*islice(genuine(Checkpoint.objects.order_by("-id")), HEALED)]):
        path = _path(checkpoint)
        content = canonical({"checkpoint": checkpoint.statement(), "signature": checkpoint.signature}) + b"\n"
        if not path.exists():
            _write(path, content)
        elif path.read_bytes() != content:
            raise Conflict(
                _(
                    "%(path)s and the database disagree about entry %(seq)s. Was an old state restored? Run `manage.py verify_audit`."
                )
                % {"path": path, "seq": checkpoint.seq}
            )


def outside() -> Iterator[Outside]:
    """Yield every checkpoint outside the database, by day and number."""
    for path in sorted(settings.AUDIT_CHECKPOINTS.glob("*/*.json")):
        yield _outside(path)


def contradicting(first: int) -> Iterator[Outside]:
    """Yield files signed by a key of ours that contradict the chain from this number on, or go beyond its end."""
    trusted, files = trusted_keys(), outside()
    while batch := [*islice(files, HEALED)]:
        placed = [(file, file.statement["seq"]) for file in batch if isinstance(file.statement.get("seq"), int)]
        chain = dict(Link.objects.filter(seq__in=[seq for _file, seq in placed]).values_list("seq", "hash"))
        for file, seq in placed:
            statement, key = file.statement, file.statement.get("key")
            is_other = seq >= first and statement.get("hash") != bytes(chain.get(seq, b"")).hex()
            if is_other and key in trusted and is_signed(canonical(statement), file.signature, key):
                yield file


def _outside(path: Path) -> Outside:
    try:
        found = json.loads(path.read_bytes())
        return Outside(path, dict(found["checkpoint"]), str(found["signature"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Outside(path, {}, "")


def _path(checkpoint: Checkpoint) -> Path:
    folder: Path = settings.AUDIT_CHECKPOINTS
    return folder / f"{checkpoint.at:%Y-%m-%d}" / f"{checkpoint.seq:015d}-{checkpoint.kind}.json"


def _write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing, read-only and on disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.chmod(0o444)
    fresh.replace(path)
