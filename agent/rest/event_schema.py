"""The schema of stream events in the API's description, one for each `data:` line, made from the union of events."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import TypeAdapter

from agent.events import Event

PREFIX = "Streamed"  # of component names, to avoid clashes with those of serializers
_REF = "#/components/schemas/"


class StreamedEvent:
    """Stands in an operation for what its stream consists of: one JSON object in each `data:` line."""


class StreamedEventExtension(OpenApiSerializerExtension):
    target_class = StreamedEvent

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return StreamedEvent.__name__

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return `oneOf` by `response_type`; each event becomes a component."""
        schema = TypeAdapter(Event).json_schema(ref_template=f"{_REF}{PREFIX}{{model}}")
        for name, part in schema.pop("$defs").items():
            if "response_type" in part.get("properties", {}):
                part["required"] = ["response_type", *part.get("required", [])]
            component: Any = ResolvedComponent(  # type: ignore[no-untyped-call]
                f"{PREFIX}{name}", ResolvedComponent.SCHEMA, as_3_0(part), object=f"{PREFIX}{name}"
            )
            auto_schema.registry.register_on_missing(component)
        described: dict[str, Any] = as_3_0(schema)
        return described | {"description": "One event: the JSON object of one `data:` line."}


def as_3_0(part: Any) -> Any:
    """Convert a JSON Schema 2020-12, as pydantic writes it, to OpenAPI 3.0."""
    if isinstance(part, list):
        return [as_3_0(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    given = dict(part)
    if "const" in given:
        given["enum"] = [given.pop("const")]
    if {"type": "null"} in given.get("anyOf", []):
        left = [item for item in given.pop("anyOf") if item != {"type": "null"}]
        given |= {"nullable": True} | (left[0] if len(left) == 1 and "$ref" not in left[0] else {"anyOf": left})
    choices = given.pop("enum", None)
    plain = {name: as_3_0(value) for name, value in given.items()}
    if choices:  # one level down, where drf-spectacular makes no component of its own of it
        plain["allOf"] = [{"type": plain.pop("type", "string"), "enum": choices}]
    return plain
