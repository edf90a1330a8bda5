"""The API as the product serves it: synchronous views in threads below an asynchronous server."""

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


async def download(user: User, path: str) -> list[bytes]:
    answer: Answer = await (await signed_in(user)).get(path)
    assert answer.status_code == 200
    return [part async for part in answer]


def test_a_download_comes_in_parts() -> None:
    data = b"A rule.\n" * 20_000
    base, user = make_base(), make_user()
    document = make_document(base, "rules.txt", data)
    allow(user, base, Right.VIEW, Right.DOWNLOAD)
    parts = async_to_sync(download)(user, f"/api/v1/documents/{document.pk}/download")
    assert len(parts) > 1
    assert b"".join(parts) == data
