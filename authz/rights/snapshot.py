"""Permission snapshots: a person's access at the time of a question.

A snapshot is written for audit and replay, and never read to grant anything: rights are always read from their rows.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from authz.models import PermissionSnapshot, VisibleFolders
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids

ID_BYTES = 16


def take_snapshot(principal: Principal) -> str:
    """Return the id of the snapshot of this person's current access, `perm_20251227_1a2b3c4d5e6f`; store a new one.

    A person with unchanged rights gets the same id; nothing is written then, so this works read-only.
    """
    about, packed = _build_principal_fields(principal), _pack_visible_folders(principal)
    folders = hashlib.sha256(packed).hexdigest()
    sha256 = _compute_content_hash(about, folders)
    known = PermissionSnapshot.objects.filter(sha256=sha256).values_list("pk", flat=True).first()
    return known or _store_snapshot(principal, about, packed, folders=folders, sha256=sha256)


def is_intact(snapshot: PermissionSnapshot) -> bool:
    """Tell whether the row still matches its hash."""
    folders = hashlib.sha256(bytes(snapshot.folders.packed)).hexdigest()
    return folders == snapshot.folders_id and _compute_content_hash(snapshot.principal, folders) == snapshot.sha256


@transaction.atomic
def _store_snapshot(principal: Principal, about: dict[str, Any], packed: bytes, *, folders: str, sha256: str) -> str:
    """Store a snapshot; of two concurrent runs of one person the first one's id stays."""
    VisibleFolders.objects.bulk_create(
        [VisibleFolders(sha256=folders, count=len(packed) // ID_BYTES, packed=packed)], ignore_conflicts=True
    )
    made = PermissionSnapshot(
        id=f"perm_{timezone.now():%Y%m%d}_{sha256[:12]}",
        sha256=sha256,
        user_id=principal.user_id,
        username=principal.username,
        principal=about,
        folders_id=folders,
    )
    PermissionSnapshot.objects.bulk_create([made], ignore_conflicts=True)
    return PermissionSnapshot.objects.values_list("pk", flat=True).get(sha256=sha256)


def _build_principal_fields(principal: Principal) -> dict[str, Any]:
    """Return the principal's fields as JSON; readable files of a conversation are among the folders."""
    facts = {name: _convert_to_json(value) for name, value in asdict(principal).items()}
    del facts["conversation_id"]
    return facts


def _convert_to_json(value: Any) -> Any:
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value) if isinstance(value, UUID) else value


def _pack_visible_folders(principal: Principal) -> bytes:
    """Return the ids of the folders this person may view, packed into one row."""
    visible = select_folder_ids(principal, Right.VIEW)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT string_agg(DISTINCT uuid_send(id), ''::bytea ORDER BY uuid_send(id))
            FROM ({visible.sql}) AS visible(id)""",  # noqa: S608  # the statement of `authz.rights.folders`, which holds no input
            visible.params,
        )
        (packed,) = cursor.fetchone()
    return bytes(packed or b"")


def _compute_content_hash(about: dict[str, Any], folders: str) -> str:
    content = json.dumps([about, folders], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
