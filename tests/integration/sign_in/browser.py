"""A browser that follows a sign-in from our page to the issuer and back, over real HTTP where it is not ours."""

import http.client
from typing import Any
from urllib.parse import urlsplit

from django.test import Client


def follow(url: str) -> str:
    """Where the issuer sends the browser: the address without our host."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}")
    back = urlsplit(connection.getresponse().headers["Location"])
    connection.close()
    assert back.hostname == "testserver"
    return f"{back.path}?{back.query}"


def signed_in_by_company(client: Client | None = None, *, following: str = "/library/") -> tuple[Client, Any]:
    """The browser after the whole way round, and our answer to its coming back."""
    client = client or Client()
    away = client.get("/sign-in/with/company/", {"next": following})
    assert away.status_code == 302, away.content
    return client, client.get(follow(away["Location"]))


def is_in(client: Client) -> bool:
    return client.get("/library/").status_code == 200
