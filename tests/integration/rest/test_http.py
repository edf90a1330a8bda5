"""What goes wrong before a view is reached is a problem document, too."""

from typing import Any

import pytest

from tests.integration.rest.world import World


@pytest.mark.parametrize(
    ("request_", "options", "status", "says"),
    [
        ("post knowledge-search", {"data": "{", "content_type": "application/json"}, 400, "JSON parse error"),
        ("post knowledge-search", {"data": "[1]", "content_type": "application/json"}, 400, "dictionary"),
        ("post knowledge-search", {"data": "\xff", "content_type": "application/json"}, 400, "JSON"),
        ("post knowledge-search", {"data": "query=x", "content_type": "text/plain"}, 415, "text/plain"),
        ("put knowledge-search", {}, 405, "PUT"),
        ("delete folders", {}, 405, "DELETE"),
        ("get folders/not-an-id", {}, 404, "no such address"),
        ("get folders/", {}, 404, "none ends with a slash"),
        ("get nothing", {}, 404, "/api/docs/"),
        ("post ", {}, 404, "/api/docs/"),
    ],
)
def test_it_is_a_problem_document(world: World, request_: str, options: dict[str, Any], status: int, says: str) -> None:
    method, path = request_.split(" ")
    answer = getattr(world.client("all"), method)(f"/api/v1/{path}", **options)
    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["type"]) == (status, "about:blank")
    assert says in problem["detail"]


def test_an_unknown_address_says_the_same_to_everybody(world: World) -> None:
    assert len({world.client(role).get("/api/v1/nothing").content for role in ("anonymous", "view", "superuser")}) == 1
