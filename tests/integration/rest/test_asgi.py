"""The API as the product serves it: synchronous views in threads below an asynchronous server."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import AsyncClient

from authz.permissions import Right
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.rest.world import Answer

pytestmark = pytest.mark.django_db


async def signed_in(user: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(user)
    return client


async def begin_and_ask(user: User) -> dict[str, Any]:
    client = await signed_in(user)
    session = (await client.post("/api/v1/sessions", {}, content_type="application/json")).json()
    path = f"/api/v1/sessions/{session['id']}/messages"
    answer = await client.post(path, {"query": "What are the rules?"}, content_type="application/json")
    assert answer.status_code == 201
    return dict(answer.json())


async def download(user: User, path: str) -> list[bytes]:
    answer: Answer = await (await signed_in(user)).get(path)
    assert answer.status_code == 200
    return [part async for part in answer]


def test_a_question_is_answered_to_the_end() -> None:
    answer = async_to_sync(begin_and_ask)(make_user())
    assert (answer["role"], answer["is_complete"], answer["stop_reason"]) == ("assistant", True, "no_evidence")


def test_a_download_comes_in_parts() -> None:
    data = b"A rule.\n" * 20_000
    base, user = make_base(), make_user()
    document = make_document(base, "rules.txt", data)
    allow(user, base, Right.VIEW, Right.DOWNLOAD)
    parts = async_to_sync(download)(user, f"/api/v1/documents/{document.pk}/download")
    assert len(parts) > 1
    assert b"".join(parts) == data
