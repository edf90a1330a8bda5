"""What is sent while it is read: under the asynchronous server, in parts, and without keeping anything from others."""

import ast
import socket
from urllib.parse import urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient, Client
from django.urls import reverse

from authz.permissions import Right
from copilot_site.embedded.process import wait_until
from tests.factories import allow, make_base, make_document, make_user
from tests.homes import ROOT
from tests.served import serving_site

DATA = b"A rule.\n" * 20_000
# Whoever makes these by hand gets Django's reading of the whole under ASGI: the classes of these files do not.
STREAMING = {"FileResponse", "StreamingHttpResponse"}
MAY_STREAM = {"copilot_site/lib/storage/files.py", "agent/rest/sse.py"}


def reader_of(data: bytes) -> tuple[User, str]:
    """Somebody who may download a file, and where its page sends them."""
    base, user = make_base(), make_user()
    document = make_document(base, "rules.txt", data)
    allow(user, base, Right.VIEW, Right.DOWNLOAD)
    return user, reverse("document-download", args=[document.pk])


async def parts_of(path: str, user: User | None = None) -> tuple[list[bytes], str]:
    client = AsyncClient()
    if user is not None:
        await client.aforce_login(user)
    answer = await client.get(path)
    assert answer.status_code == 200
    return [part async for part in answer], answer["Content-Type"]  # type: ignore[attr-defined]


def test_a_static_file_is_sent_by_an_asynchronous_server_without_a_warning() -> None:
    parts, media_type = async_to_sync(parts_of)(settings.STATIC_URL + "css/tokens.css")
    assert b"".join(parts) == (ROOT / "static/css/tokens.css").read_bytes()
    assert media_type.startswith("text/css")


def test_what_the_browser_has_of_the_static_files_is_not_sent_again() -> None:
    path = settings.STATIC_URL + "css/tokens.css"
    known = Client().get(path)
    known.close()
    again = Client().get(path, headers={"If-Modified-Since": known["Last-Modified"]})
    assert (again.status_code, b"".join(again.streaming_content)) == (304, b"")  # type: ignore[attr-defined]


@pytest.mark.django_db
def test_the_page_sends_an_original_in_parts() -> None:
    user, path = reader_of(DATA)
    parts, _media_type = async_to_sync(parts_of)(path, user)
    assert len(parts) > 1
    assert b"".join(parts) == DATA


def test_nothing_else_streams_by_itself() -> None:
    apps = ("agent", "audit", "authz", "business", "copilot_site", "demo", "knowledge")
    found = {
        path.relative_to(ROOT).as_posix()
        for app in apps
        for path in (ROOT / app).rglob("*.py")
        if streams_by_itself(path.read_text())
    }
    assert found == MAY_STREAM


def streams_by_itself(source: str) -> bool:
    """Does the code call for, or build upon, Django's own streaming responses?"""
    if not any(name in source for name in STREAMING):
        return False
    names = {
        name.id if isinstance(name, ast.Name) else name.attr
        for node in ast.walk(ast.parse(source))
        for name in (
            node.bases if isinstance(node, ast.ClassDef) else [node.func] if isinstance(node, ast.Call) else []
        )
        if isinstance(name, ast.Name | ast.Attribute)
    }
    return bool(names & STREAMING)


@pytest.mark.django_db(transaction=True)
def test_a_slow_reader_of_a_file_holds_no_connection_of_the_database() -> None:
    data = DATA * 100  # more than the buffers between the two take
    user, path = reader_of(data)
    client = Client()
    client.force_login(user)
    with serving_site() as url, socket.socket() as reader:
        before = others()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", urlsplit(url).port))
        cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        reader.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n".encode()
        )
        reader.settimeout(60)
        got = bytearray()
        while b"A rule." not in got:
            part = reader.recv(1000)
            assert part, f"the site closed the connection after {bytes(got)!r}"
            got += part
        assert got.startswith(b"HTTP/1.1 200")
        assert wait_until(lambda: others() <= before, timeout_s=60)
        while part := reader.recv(1_000_000):
            got += part
        assert got.count(b"A rule.\n") == len(data) // 8


def others() -> set[int]:
    """Connections to this test's database besides its own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
        return {pid for (pid,) in cursor.fetchall()}
