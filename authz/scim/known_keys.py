"""Check that a request names only attributes of RFC 7643, whether kept here or ignored.

A key that is silently ignored would look like a change that was made.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _
from scim2_models import EnterpriseUser, Group, InvalidPathException, InvalidValueException, Path, ResourceType, User

_PATHS: dict[str, Any] = {"User": Path[User[EnterpriseUser]], "Group": Path[Group]}
_OPERATION = {"op", "path", "value"}


def require_known(kind: ResourceType, body: Any) -> None:
    """Raise InvalidValueException for a resource with a key that the standard lacks. body: as sent."""
    if isinstance(body, dict):
        for key in body:
            if not key.lower().startswith("urn:") and not key.isalnum():
                raise _unknown(key)
        _require_keys(str(kind.name), "", body)


def with_known_operations(kind: ResourceType, body: Any) -> Any:
    """Return a PATCH in which each key with a filter (`emails[type eq "work"].value`, as Entra ID writes it) becomes the
    path of a separate operation: the library reads filters only there. Raises InvalidValueException for a key that
    the standard lacks.
    """
    if not isinstance(body, dict):
        return body
    name = next((name for name in body if name.lower() == "operations"), "")
    if not isinstance(body.get(name), list):
        return body
    return body | {name: [made for operation in body[name] for made in _operations(str(kind.name), operation)]}


def _operations(kind: str, operation: Any) -> Iterator[Any]:
    if not isinstance(operation, dict):
        yield operation
        return
    given = {key.lower(): value for key, value in operation.items()}
    for key in given.keys() - _OPERATION:
        raise _unknown(key)
    path, value = given.get("path"), given.get("value")
    if path and isinstance(path, str) and not _is_known(kind, path):
        raise _unknown(path)
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
            text = key if not path else f"{path}:{key}" if _is_schema(kind, path) else f"{path}.{key}"
            if not _is_known(kind, text):
                raise _unknown(key)
            _require_keys(kind, text, item)


@lru_cache(maxsize=2_000)
def _is_known(kind: str, text: str) -> bool:
    try:
        path = _PATHS[kind](text)
    except InvalidPathException:
        return False
    return path.model is not None or path.resolve() is not None


@lru_cache(maxsize=200)
def _is_schema(kind: str, text: str) -> bool:
    """Return whether a path names a schema, whose attributes follow a colon."""
    return _PATHS[kind](text).model is not None


def _unknown(key: str) -> InvalidValueException:
    sentence = _("This service does not know “%(key)s”. Nothing was changed.")
    return InvalidValueException(detail=sentence % {"key": key[:100]})
