"""Files of a conversation through the API."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agent.conversations.sessions import create_session
from authz.permissions import Right
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import ATTACHMENTS, DocumentVersion
from knowledge.services.folders import find_root_folder
from tests.factories import allow, make_base, make_user, prepare_embedder
from tests.tokens import client_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make_user(password="a long password")


@pytest.fixture
def mine(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def of(person: User) -> str:
    """Where the files of a new conversation of theirs are."""
    return f"/api/v1/sessions/{create_session(Principal.of(person)).pk}/attachments"


def attached(client: Client, url: str) -> Any:
    answer = client.post(url, {"file": SimpleUploadedFile("plan.md", b"# Plan\n\nThe plan says seven months.\n")})
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_program_attaches_waits_and_asks(person: User, mine: Client) -> None:
    url = of(person)
    made = attached(mine, url)
    assert (made["name"], made["reading"]) == ("plan.md", "reading")
    question = {"query": "What does the plan say?", "attachment_ids": [made["id"]]}
    messages = url.replace("attachments", "messages")
    early = mine.post(messages, question, content_type="application/json")
    assert (early.status_code, "still being read" in early.json()["detail"]) == (400, True)
    prepare_embedder()
    run_ingestion(DocumentVersion.unscoped.get(document_id=made["id"]).pk)
    assert [item["reading"] for item in mine.get(url).json()] == ["ready"]
    answer = mine.post(messages, question, content_type="application/json")
    assert answer.status_code == 201, answer.content
    cited = {item["knowledge_base_id"] for item in answer.json()["citations"]}
    assert cited <= {str(ATTACHMENTS)}
    asked = mine.get(messages).json()["results"][0]
    assert [item["name"] for item in asked["attachments"]] == ["plan.md"]


def test_a_copy_is_filed_with_the_scopes_to_chat_and_to_ingest(person: User, mine: Client) -> None:
    url = of(person)
    made = attached(mine, url)
    base = make_base()
    allow(person, base, Right.VIEW, Right.ADD)
    body = {"folder": str(find_root_folder(base).pk)}

    def token(*scopes: TokenScope) -> str:
        return issue_token(Principal.of(person), name="script", scopes=scopes)[1]

    for scopes, status in (([TokenScope.CHAT], 403), ([TokenScope.CHAT, TokenScope.INGEST], 201)):
        answer = client_with(token(*scopes)).post(f"{url}/{made['id']}/file", body, format="json")
        assert answer.status_code == status, answer.content
    assert answer.json()["document"]["id"] != made["id"]


def test_a_file_is_listed_and_deleted_by_its_person_alone_and_is_in_no_library(person: User, mine: Client) -> None:
    url = of(person)
    made = attached(mine, url)
    other, theirs = Client(), make_user(is_superuser=True)
    other.force_login(theirs)
    missing = other.delete(f"{url}/{uuid4()}")
    for client, address in ((other, url), (other, of(theirs))):
        hidden = client.delete(f"{address}/{made['id']}")
        assert (hidden.status_code, missing.status_code) == (404, 404)
    assert other.get(url).status_code == 404
    for client in (other, mine):
        assert client.get(f"/api/v1/documents/{made['id']}").status_code == 404, "no document of the library"
    assert (
        mine.get("/api/v1/documents").json()["results"] == mine.get("/api/v1/knowledge-bases").json()["results"] == []
    )
    assert mine.delete(f"{url}/{made['id']}").status_code == 204
    assert mine.get(url).json() == []
