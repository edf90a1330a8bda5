"""Every socket × everybody who may come, as tests/golden/routes.txt has it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agent.conversations.sessions import create_session
from agent.urls import websocket_urlpatterns
from authz.permissions import Right
from authz.principal import Principal
from tests.factories import allow, make_base, make_folder, make_user
from tests.goldens import FOLDER
from tests.integration.agent.test_consumer import Socket, talked
from tests.integration.routes.world import RIGHTS, ROLES

pytestmark = pytest.mark.django_db(transaction=True)  # Channels closes the connection of an open transaction


def written() -> Iterator[tuple[str, dict[str, str]]]:
    """(address, what each role gets: the code it is closed with, or `open`)."""
    for text in (FOLDER / "routes.txt").read_text(encoding="utf-8").splitlines():
        if text.startswith("SOCKET"):
            _kind, address, *cells = text.split()
            yield address, dict(zip(ROLES, cells, strict=True))


async def greeting(socket: Socket) -> str:
    """What comes first from a socket that was opened and sent a wrong message: a sentence about it, or the end."""
    await socket.send("{}")
    message = await socket.client.receive_output(30)
    return "open" if message["type"] == "websocket.send" else str(message["code"])


def test_everybody_gets_what_the_table_says_at_a_socket() -> None:
    base = make_base()
    folder = make_folder(base)
    people: dict[str, User] = {role: make_user(role) for role in ROLES[1:]}
    allow(people["else"], make_base(), *Right)
    for role in ("view", *RIGHTS):
        allow(people[role], folder, Right.VIEW)
    browsers: dict[str, Any] = {role: Client() for role in ROLES}
    for role, user in people.items():
        browsers[role].force_login(user)
    User.objects.filter(username="dead").update(is_active=False)
    mine = create_session(Principal.of(people["view"])).pk
    table = dict(written())
    assert {f"/{str(route.pattern).replace('<uuid:', '<')}" for route in websocket_urlpatterns} == set(table)
    expected = table["/ws/chat/<session_id>/"]
    assert {role: talked(None, mine, greeting, browsers[role]) for role in ROLES} == expected
