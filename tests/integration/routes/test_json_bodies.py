"""Every address that takes JSON is sent JSON that nobody means: it is refused or done, and never an error of ours."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from authz.scopes import TokenScope
from tests.integration.routes.addresses import Route, routes
from tests.integration.routes.surface import _api_bodies
from tests.integration.routes.world import BODIES, World

pytestmark = pytest.mark.django_db
PLACES = ("api/", "v1/", "mcp", "scim/", "hooks/")  # of programs; pages take forms
WHOLE: dict[str, bytes] = {
    "a list without end": b"[" * 100_000,
    "an object without end": b'{"a":' * 5_000,
    "deep and closed": b'{"query":' + b"[" * 900 + b"]" * 900 + b"}",
    "no UTF-8": b"\xff\xfe{}",
    "half of a character": b'{"query": "\\ud800"}',
    "a number without end": b'{"query": ' + b"9" * 5_000 + b"}",
    "no number": b'{"query": NaN}',
    "cut": b'{"query": "a',
    "nothing": b"",
}
TAKEN: dict[str, bytes] = {
    "null": b"null",
    "a list": b"[]",
    "a number": b"5",
    "a text": b'"a"',
    "a list of lists": b"[[], [{}]]",
}
VALUES: tuple[Any, ...] = (
    None, 5, -1, 10**39, 1e300, True, "", "a\0b", "x" * 100_000, [], [[]], [None], {}, {"a": {"b": [5]}}, {"\0": "\0"}, ["x"] * 5_000,
)  # fmt: skip


def accepting() -> list[Route]:
    return [item for item in routes() if item.method in {"post", "put", "patch"} and item.path.startswith(PLACES)]


def fields_of(world: World, route: Route) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each field of a body, with the other ones as they would be right."""
    make = BODIES.get(f"/{route.path}")
    right = make(world) if make else {}
    if "file" in right:  # a form
        return
    for name in dict.fromkeys([*_api_bodies().get(route, ()), *right]):
        yield name, right


def test_no_json_is_an_error_of_ours(world: World) -> None:
    """Each request is undone: the next one finds the world as it was."""
    everywhere = world.with_token(*TokenScope.values)
    root = world.clients["root"]
    found: dict[str, int] = {}

    def send(client: Client, route: Route, address: str, body: bytes) -> int:
        client.raise_request_exception = False
        with transaction.atomic():
            answer: Any = client.generic(
                route.method.upper(), address, body, content_type="application/json", headers={"accept": "*/*"}
            )
            if getattr(answer, "streaming", False):
                list(answer)
            transaction.set_rollback(True)
        return int(answer.status_code)

    refused: dict[str, int] = {}
    for route in accepting():
        client = everywhere if route.path.startswith(("v1/", "mcp", "scim/")) else root
        address = world.address(route)
        for what, body in WHOLE.items():
            refused[f"{route} {what}"] = send(client, route, address, body)
        for what, body in TAKEN.items():
            found[f"{route} {what}"] = send(client, route, address, body)
        for name, right in fields_of(world, route):
            for number, value in enumerate(VALUES):
                found[f"{route} {name} {number}"] = send(
                    client, route, address, json.dumps(right | {name: value}).encode()
                )
    assert len(accepting()) > 30
    assert {what: status for what, status in (found | refused).items() if status >= 500} == {}
    # an address without a body of its own reads none
    done = {what: status for what, status in refused.items() if status < 400 and not what.endswith(" nothing")}
    assert {what.split()[1] for what in done} <= {f"/{route.path}" for route in accepting() if not _has_fields(route)}


def _has_fields(route: Route) -> bool:
    return bool(_api_bodies().get(route)) or f"/{route.path}" in BODIES
