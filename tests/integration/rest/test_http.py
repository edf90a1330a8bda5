"""What goes wrong before a view is reached is a problem document, too."""

from typing import Any

import pytest

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from tests.integration.rest.world import World
from tests.tokens import client_with

DEEP = '{"query": ' + "[" * 52 + "]" * 52 + "}"  # read without an error, one level more than is meant


@pytest.mark.parametrize(
    ("request_", "options", "status", "says"),
    [
        ("post knowledge-search", {"data": "{", "content_type": "application/json"}, 400, "JSON parse error"),
        ("post knowledge-search", {"data": DEEP, "content_type": "application/json"}, 400, "at most 50 levels"),
        ("post knowledge-search", {"data": '{"a":' * 100_000, "content_type": "application/json"}, 400, "nested too"),
        ("post knowledge-search", {"data": "[1]", "content_type": "application/json"}, 400, "dictionary"),
        (
            "post knowledge-search",
            {"data": "query=x", "content_type": "text/plain"},
            415,
            "“text/plain” is not accepted here. Send application/json.",
        ),
        ("get folders", {"headers": {"Accept": "application/xml"}}, 406, "This address returns application/json."),
        ("put knowledge-search", {}, 405, "PUT is not allowed here. Use POST."),
        ("get folders/", {}, 404, "none ends with a slash"),
        ("get nothing", {}, 404, "/api/docs/"),
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


def test_who_is_not_signed_in_is_told_how(world: World) -> None:
    answer = world.client("anonymous").get("/api/v1/folders")
    assert answer.status_code == 401
    assert "Authorization: Bearer" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("put", "documents", 405),
        ("get", "knowledge-search", 405),
        ("head", "documents", 200),
        ("options", "documents", 403),
    ],
)
def test_a_token_meets_the_methods_that_are_there(world: World, method: str, path: str, status: int) -> None:
    """What nobody can do is no question of the token, and HEAD is a GET."""
    secret = issue_token(Principal.of(world.people["all"]), name="script", scopes=TokenScope.values)[1]
    assert getattr(client_with(secret), method)(f"/api/v1/{path}").status_code == status
