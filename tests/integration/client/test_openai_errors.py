"""Every answer below /v1 that is no success is JSON as OpenAI's clients read it; one model is read by its name."""

import json
from typing import Any

import pytest
from django.test import Client as Browser

from agent.openai_api import views
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens import issue_token
from knowledge.retrieval.engine import engine
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def program(**more: Any) -> Browser:
    secret = issue_token(Principal.of(make_user()), name="program", scopes=[TokenScope.CHAT])[1]
    return Browser(headers={"Authorization": f"Bearer {secret}", "Accept": "*/*"}, **more)


def error_of(response: Any) -> dict[str, Any]:
    assert response.headers["Content-Type"].startswith("application/json"), response.content
    body: dict[str, Any] = json.loads(response.content)
    assert set(body) == {"error"}
    assert body["error"]["message"]
    assert body["error"]["code"] == body["error"]["type"]
    found: dict[str, Any] = body["error"]
    return found


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/v1", 404),
        ("get", "/v1/", 404),
        ("get", "/v1/nothing", 404),
        ("post", "/v1/completions", 404),
        ("get", "/v1/models/", 404),
        ("get", "/v1/models/nobody", 404),
        ("get", "/v1/chat/completions", 405),
        ("delete", "/v1/models/copilot", 405),
        ("post", "/v1/chat/completions", 400),
        ("post", "/v1/responses", 400),
    ],
)
def test_a_refusal_is_json(method: str, path: str, status: int) -> None:
    response = program().generic(method.upper(), path, b"{" if status == 400 else b"", "application/json")
    assert response.status_code == status
    error_of(response)


def test_whoever_is_nobody_is_told_so_in_json() -> None:
    response = Browser().get("/v1/models")
    assert response.status_code == 401
    error_of(response)


def test_a_fault_of_ours_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(views, "_model_names", broken)
    response = program(raise_request_exception=False).get("/v1/models")
    assert response.status_code == 500
    assert error_of(response)["code"] == "failed"


def test_another_address_that_is_none_stays_a_page() -> None:
    response = Browser(headers={"Accept": "text/html"}).get("/nothing/")
    assert (response.status_code, response.headers["Content-Type"][:9]) == (404, "text/html")


def test_one_model_is_read_by_its_name() -> None:
    client = program()
    for name in ("copilot", engine().space):
        assert client.get(f"/v1/models/{name}").json() == {
            "id": name, "object": "model", "created": 0, "owned_by": "copilot",
        }  # fmt: skip
