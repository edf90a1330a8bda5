"""Checks of requests: only attributes of RFC 7643, and no PATCH with too many operations; fast handling of changes of members.

A key that is silently ignored would look like a change that was made. The protocol's library compares each operation of a PATCH
with each member, which takes a minute for 2,000 of both.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _
from scim2_models import (
    EnterpriseUser,
    InvalidPathException,
    InvalidValueException,
    PatchOp,
    PatchOperation,
    Path,
    PayloadTooLargeException,
    Resource,
    ResourceType,
)
from scim2_models import Group as StandardGroup
from scim2_models import User as StandardUser
from scim2_server.conditions import Conditions
from scim2_server.service import ScimService

from authz.scim.resources import Group, GroupMember
from copilot_site.lib.text.json_input import load_json

_PATHS: dict[str, Any] = {"User": Path[StandardUser[EnterpriseUser]], "Group": Path[StandardGroup]}
_OPERATION = {"op", "path", "value"}


def require_known_keys(kind: ResourceType, body: Any) -> None:
    """Raise InvalidValueException for a resource with a key that the standard lacks. body: as sent."""
    if isinstance(body, dict):
        for key in body:
            if not key.lower().startswith("urn:") and not key.isalnum():
                raise _make_unknown_key_error(key)
        _require_keys(str(kind.name), "", body)


def normalise_operations(kind: ResourceType, body: Any) -> Any:
    """Return a PATCH in which each key with a filter (`emails[type eq "work"].value`, as Entra ID writes it) becomes the
    path of a separate operation: the library reads filters only there. Raises InvalidValueException for a key that
    the standard lacks.
    """
    if not isinstance(body, dict):
        return body
    name = next((name for name in body if name.lower() == "operations"), "")
    if not isinstance(body.get(name), list):
        return body
    return body | {name: [made for operation in body[name] for made in _split_operation(str(kind.name), operation)]}


def _split_operation(kind: str, operation: Any) -> Iterator[Any]:
    if not isinstance(operation, dict):
        yield operation
        return
    given = {key.lower(): value for key, value in operation.items()}
    for key in given.keys() - _OPERATION:
        raise _make_unknown_key_error(key)
    path, value = given.get("path"), given.get("value")
    if path and isinstance(path, str) and not _is_known_path(kind, path):
        raise _make_unknown_key_error(path)
    _require_keys(kind, path if isinstance(path, str) else "", value)
    if path or not isinstance(value, dict) or not any("[" in key for key in value):
        yield operation
        return
    plain = {key: item for key, item in value.items() if "[" not in key}
    if plain:
        yield {"op": given.get("op"), "value": plain}
    for key, item in value.items():
        if key not in plain:
            yield {"op": given.get("op"), "path": key, "value": item}


def _require_keys(kind: str, path: str, value: Any) -> None:
    """Check the keys of a value. path: where the value belongs, "" for the resource."""
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, dict):
            continue
        for key, item in entry.items():
            if key == "$ref":
                continue
            text = key if not path else f"{path}:{key}" if _is_schema_path(kind, path) else f"{path}.{key}"
            if not _is_known_path(kind, text):
                raise _make_unknown_key_error(key)
            _require_keys(kind, text, item)


@lru_cache(maxsize=2_000)
def _is_known_path(kind: str, text: str) -> bool:
    try:
        path = _PATHS[kind](text)
    except InvalidPathException:
        return False
    return path.model is not None or path.resolve() is not None


@lru_cache(maxsize=200)
def _is_schema_path(kind: str, text: str) -> bool:
    """Return whether a path names a schema, whose attributes follow a colon."""
    return _PATHS[kind](text).model is not None


def _make_unknown_key_error(key: str) -> InvalidValueException:
    sentence = _("This service does not know “%(key)s”. Nothing was changed.")
    return InvalidValueException(detail=sentence % {"key": key[:100]})


MAX_OPERATIONS = 1_000  # of one PATCH; Entra ID and Okta send one, or some tens
MAX_COMPARED = 100_000  # operations times members, compared by the library in five seconds
_ONE = re.compile(r'members\[value eq "([^"\\]{1,200})"\]', re.IGNORECASE)


class BoundedService(ScimService):
    """Every read method raises InvalidValueException for a key that the standard does not have."""

    def read_creation(self, resource_type: ResourceType, body: bytes, content_type: str | None) -> Resource[Any]:
        require_known_keys(resource_type, _parse_json(body))
        return super().read_creation(resource_type, body, content_type)

    def read_replacement(self, resource_type: ResourceType, body: bytes, content_type: str | None) -> Resource[Any]:
        require_known_keys(resource_type, _parse_json(body))
        return super().read_replacement(resource_type, body, content_type)

    def read_patch(self, resource_type: ResourceType, body: bytes, content_type: str | None) -> "PatchOp[Any]":
        """Read a PATCH as the base class does. Raises PayloadTooLargeException before any slow check."""
        given = _parse_json(body)
        if (count := _count_operations(given)) > MAX_OPERATIONS:
            raise _make_too_large_error(count, MAX_OPERATIONS)
        if (known := normalise_operations(resource_type, given)) != given:
            body = json.dumps(known).encode()
        return super().read_patch(resource_type, body, content_type)

    def apply_patch(
        self, current: Resource[Any], patch_op: "PatchOp[Any]", conditions: Conditions
    ) -> Resource[Any] | None:
        operations = patch_op.operations or []
        if not isinstance(current, Group):
            return super().apply_patch(current, patch_op, conditions)
        changes = [_parse_member_change(operation) for operation in operations]
        if all(change is not None for change in changes):
            self.check_preconditions(current, "PATCH", conditions)
            return _apply_changes(current, (change for change in changes if change))
        members = len(current.members or ())
        if members * len(operations) > MAX_COMPARED:
            raise _make_too_large_error(len(operations), max(1, MAX_COMPARED // members))
        return super().apply_patch(current, patch_op, conditions)


Change = tuple[bool, list[str]]  # whether members are added, and their ids


def _parse_member_change(operation: "PatchOperation[Any]") -> Change | None:
    """Return the operation's change of members; None for any other operation or form."""
    name, path, value = operation.op, str(operation.path or ""), operation.value
    if found := _ONE.fullmatch(path):
        return (False, [found[1]]) if name == PatchOperation.Op.remove and value is None else None
    if path.lower() != "members" or name not in (PatchOperation.Op.add, PatchOperation.Op.remove):
        return None
    ids = list(_iterate_ids(value if isinstance(value, list) else [value]))
    return (name == PatchOperation.Op.add, ids) if ids and all(ids) else None


def _iterate_ids(values: Iterable[Any]) -> Iterator[str]:
    """Yield the id of each value; "" for one without an id or with other keys."""
    for value in values:
        pk = (
            value.get("value")
            if isinstance(value, Mapping) and not value.keys() - {"value", "$ref", "display"}
            else None
        )
        yield pk if isinstance(pk, str) else ""


def _apply_changes(group: Group, changes: Iterable[Change]) -> Group | None:
    """Return the group after all changes; None where nothing changed."""
    members = {member.value: member for member in group.members or ()}
    before = set(members)
    for is_added, ids in changes:
        for pk in ids:
            if is_added:
                members.setdefault(pk, GroupMember.model_validate({"value": pk}))
            else:
                members.pop(pk, None)
    group.members = list(members.values()) or None
    return None if set(members) == before else group


def _parse_json(body: bytes) -> Any:
    """Return a body as JSON; None for invalid JSON, which the library refuses."""
    try:
        return load_json(body.decode())
    except ValueError:
        return None


def _count_operations(given: Any) -> int:
    """Count the operations of a body; 0 for anything but a PATCH, which the library refuses."""
    found = [value for name, value in given.items() if name.lower() == "operations"] if isinstance(given, dict) else []
    return max((len(value) for value in found if isinstance(value, list)), default=0)


def _make_too_large_error(count: int, limit: int) -> PayloadTooLargeException:
    sentence = _("This PATCH has %(count)s operations; at most %(most)s are taken here at once. Nothing was changed.")
    return PayloadTooLargeException(detail=sentence % {"count": count, "most": limit})
