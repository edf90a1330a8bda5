"""API tokens: shown once, hashed, expiring, revocable, and no way to live for ever."""

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone
from rest_framework.test import APIClient

from authz.models import ApiToken
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from knowledge.models import Folder
from knowledge.services.access_requests import request_access
from tests.factories import make_folder
from tests.integration.rest.world import Answer, World
from tests.tokens import client_with


def ask_with(secret: str, scheme: str = "Bearer") -> Answer:
    return APIClient().get("/api/v1/folders", headers={"Authorization": f"{scheme} {secret}"})


def secret_of(world: World, role: str = "view", days: int = 1) -> tuple[ApiToken, str]:
    return issue_token(Principal.of(world.people[role]), name="script", days=days)


def test_a_secret_is_shown_once_and_kept_as_a_hash(world: World) -> None:
    body = world.client("view").post("/api/v1/tokens", {"name": "nightly", "days": 30}, format="json").json()
    secret = body["secret"]
    assert secret.startswith(body["prefix"])
    row = ApiToken.objects.get(pk=body["id"])
    assert secret not in {str(value) for value in vars(row).values()}
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    (listed,) = world.client("view").get("/api/v1/tokens").json()["results"]
    assert "secret" not in listed
    assert "sha256" not in listed
    assert ask_with(secret).status_code == 200


def refused(answer: Answer) -> bool:
    return (answer.status_code, answer["WWW-Authenticate"], answer["Content-Type"]) == (
        401, "Bearer", "application/problem+json",
    )  # fmt: skip


def test_a_secret_that_is_not_quite_right_or_in_another_scheme_is_refused(world: World) -> None:
    _row, secret = secret_of(world)
    for wrong in (secret[:-1], secret[:12], "", f"{secret}x", "é"):
        assert refused(ask_with(wrong)), wrong
    assert refused(ask_with(secret, scheme="Basic"))


def test_a_token_reaches_no_token(world: World) -> None:
    row, secret = secret_of(world)
    client = client_with(secret)
    answers = [
        client.post("/api/v1/tokens", {"name": "longer life", "days": 366}, format="json"),
        client.get("/api/v1/tokens"),
        client.delete(f"/api/v1/tokens/{row.pk}"),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "no_tokens")] * 3


def test_a_wrong_order_for_a_token_is_refused_naming_the_field(world: World) -> None:
    for body, field in (
        ({}, "name"),
        ({"name": "x", "days": 367}, "days"),
        ({"name": "x", "day": 3}, "day"),
        ({"name": "x", "scopes": ["everything"]}, "scopes"),
        ({"name": "x", "scopes": []}, "scopes"),
        ({"name": "x", "folder_id": "nonsense"}, "folder_id"),
    ):
        answer = world.client("view").post("/api/v1/tokens", body, format="json")
        assert answer.status_code == 400, body
        assert {error["field"].partition(".")[0] for error in answer.json()["errors"]} == {field}


def test_a_session_cookie_needs_the_csrf_token_to_write(world: World) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(world.people["view"])
    answer = client.post("/api/v1/sessions")
    assert (answer.status_code, "CSRF" in answer.json()["detail"]) == (403, True)


def test_a_token_for_a_folder_knows_the_conversations_alone_that_one_for_it_began(world: World) -> None:
    owner = Principal.of(world.people["all"])
    narrow = [
        client_with(issue_token(owner, name="narrow", scopes=["chat"], folder_id=folder.pk)[1])
        for folder in (world.folder, world.folder, world.empty)
    ]
    own = f"/api/v1/sessions/{world.session.pk}"
    gone = narrow[0].get(f"/api/v1/sessions/{uuid4()}")
    for answer in (narrow[0].get(own), narrow[0].get(f"{own}/messages"), narrow[0].delete(own)):
        assert (answer.status_code, answer.json()["detail"]) == (404, gone.json()["detail"])
    begun = narrow[0].post("/api/v1/sessions").json()["id"]
    listed = [[row["id"] for row in client.get("/api/v1/sessions").json()["results"]] for client in narrow]
    assert listed == [[begun], [begun], []], "a second token for the folder goes on with what the first began"
    everything = {row["id"] for row in world.client("all").get("/api/v1/sessions").json()["results"]}
    assert everything == {begun, str(world.session.pk)}, "its owner sees all of them"


def test_a_token_for_a_folder_learns_of_no_other_one(world: World) -> None:
    owner = world.people["all"]
    hidden = make_folder(world.base, "Secret plans")
    Folder.unscoped.filter(pk=hidden.pk).update(is_discoverable=True)
    request_access(Principal.of(owner), folder_id=hidden.pk)
    narrow = client_with(issue_token(Principal.of(owner), name="n", scopes=["chat"], folder_id=world.folder.pk)[1])
    assert world.client("all").get("/api/v1/access-requests").json()["results"][0]["folder_name"] == "Secret plans"
    assert narrow.get("/api/v1/access-requests").json()["results"] == []
    assert narrow.post("/api/v1/access-requests", {"folder": str(hidden.pk)}, format="json").status_code == 404
