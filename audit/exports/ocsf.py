"""OCSF 1.3 events, one JSON object a line, for a SIEM. https://schema.ocsf.io/1.3.0"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.actions import Action, Outcome
from audit.exports.base import ChainedEntry, Extract, write_entries
from audit.models import Entry, format_utc_time
from copilot_site.lib import version

VERSION = "1.3.0"
PRODUCT = {
    "name": "Enterprise Knowledge Copilot",
    "vendor_name": "Enterprise Knowledge Copilot",
    "version": version.VERSION,
}
INFORMATIONAL, LOW, MEDIUM = 1, 2, 3
SUCCESS, FAILURE = 1, 2
CREATE, READ, UPDATE, DELETE, OTHER = 1, 2, 3, 4, 99


@dataclass(frozen=True)
class Class:
    """An event class. category: its category_uid; name as the schema calls it."""

    uid: int
    category: int
    name: str


AUTHENTICATION = Class(3002, 3, "Authentication")
ACCOUNT_CHANGE = Class(3001, 3, "Account Change")
API_ACTIVITY = Class(6003, 6, "API Activity")

# Authentication: 1 logon, 2 logoff. Account Change: 1 create, 2 enable, 3 password change, 5 disable, 6 delete, 10/11 MFA on/off.
SPECIAL: dict[str, tuple[Class, int]] = {
    Action.SIGNED_IN: (AUTHENTICATION, 1),
    Action.SIGN_IN_FAILED: (AUTHENTICATION, 1),
    Action.SIGNED_OUT: (AUTHENTICATION, 2),
    Action.MFA_FAILED: (AUTHENTICATION, OTHER),
    Action.USER_CREATED: (ACCOUNT_CHANGE, 1),
    Action.USER_ENABLED: (ACCOUNT_CHANGE, 2),
    Action.PASSWORD_CHANGED: (ACCOUNT_CHANGE, 3),
    Action.USER_DISABLED: (ACCOUNT_CHANGE, 5),
    Action.USER_DELETED: (ACCOUNT_CHANGE, 6),
    Action.MFA_ADDED: (ACCOUNT_CHANGE, 10),
    Action.MFA_REMOVED: (ACCOUNT_CHANGE, 11),
}
VERBS = {
    CREATE: {"created", "issued", "given", "uploaded", "version_added", "added", "made", "placed", "requested", "published"},
    READ: {"opened", "downloaded", "shown", "page_image_shown", "performed", "asked", "answered", "explained", "previewed",
           "change_previewed", "exported", "read", "replayed", "executed", "verified", "used"},
    UPDATE: {"renamed", "moved", "changed", "retried", "broken", "restored", "set", "cleared", "granted", "released", "enabled",
             "disabled", "mapped"},
    DELETE: {"deleted", "revoked", "removed", "purged", "erased", "unmapped"},
}  # fmt: skip
ACTIVITY = {verb: activity for activity, verbs in VERBS.items() for verb in verbs}


def write_ocsf(extract: Extract) -> Iterator[bytes]:
    return write_entries(_write_event_line, extract.entries)


def _write_event_line(placed: ChainedEntry) -> bytes:
    return json.dumps(build_event(placed), ensure_ascii=False).encode() + b"\n"


def build_event(placed: ChainedEntry) -> dict[str, Any]:
    """Return one entry as an OCSF event."""
    entry = placed.entry
    kind, activity = SPECIAL.get(entry.action) or (API_ACTIVITY, ACTIVITY.get(entry.action.rpartition(".")[2], OTHER))
    failed = entry.outcome in {Outcome.DENY, Outcome.ERROR}
    found = {
        "category_uid": kind.category,
        "class_uid": kind.uid,
        "class_name": kind.name,
        "activity_id": activity,
        "activity_name": entry.action,
        "type_uid": kind.uid * 100 + activity,
        "severity_id": MEDIUM if entry.outcome == Outcome.DENY else LOW if failed else INFORMATIONAL,
        "status_id": FAILURE if failed else SUCCESS,
        "status_detail": entry.reason,
        "time": int(entry.at.timestamp() * 1000),
        "metadata": {
            "version": VERSION,
            "product": PRODUCT,
            "uid": placed.hash.hex(),
            "sequence": placed.seq,
            "correlation_uid": entry.run_id or entry.request_id,
            "original_time": format_utc_time(entry.at),
        },
        "actor": {"user": _build_user(entry.actor_id, entry.actor_name)},
        "src_endpoint": {"ip": entry.address} if entry.address else {"name": "local"},
        "unmapped": {"outcome": entry.outcome, "detail": entry.detail, "on_behalf_of": entry.on_behalf_of_id},
    }
    return found | _build_class_fields(kind, entry)


def _build_class_fields(kind: Class, entry: Entry) -> dict[str, Any]:
    """Return the fields that a class needs in addition to the base."""
    if kind is API_ACTIVITY:
        resource = {"type": entry.target_type, "uid": entry.target_id, "name": entry.target_name}
        api = {"operation": entry.action, "request": {"uid": entry.request_id}}
        return {"api": api, "resources": [resource] if entry.target_type else []}
    target = entry.target_type == "user"
    return {
        "user": _build_user(int(entry.target_id or 0), entry.target_name)
        if target
        else _build_user(entry.actor_id, entry.actor_name)
    }


def _build_user(number: int | None, name: str) -> dict[str, Any]:
    """Return a person; the system where there is no number and no name."""
    if not number and not name:
        return {"name": "system", "type_id": 3}
    return {"uid": str(number or ""), "name": name, "type_id": 1}
