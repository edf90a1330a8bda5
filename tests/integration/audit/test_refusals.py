"""What somebody asked for and did not get is recorded, by page, API and socket; and from where."""

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from agent.urls import websocket_urlpatterns
from audit.actions import Action, Outcome
from audit.models import Entry
from copilot_site.lib.http.sockets import find_scope_address
from tests.factories import make_base, make_document, make_folder, make_user

pytestmark = pytest.mark.django_db


def refusals() -> list[Entry]:
    return list(Entry.objects.filter(action=Action.ACCESS_DENIED).order_by("id"))


@pytest.fixture
def client() -> Client:
    client = Client(REMOTE_ADDR="192.0.2.9")
    client.force_login(make_user("anna"))
    return client


def test_a_hidden_document_and_a_missing_one_are_recorded_alike(client: Client) -> None:
    hidden = make_document(make_folder(make_base(), "Secret")).pk
    for pk in (hidden, uuid4()):
        assert client.get(reverse("document", args=[pk])).status_code == 404
    found = refusals()
    assert [entry.detail["asked"] for entry in found] == [{"document_id": str(hidden)}, {"document_id": str(pk)}]
    for entry in found:
        assert (entry.actor_name, entry.outcome, entry.reason) == ("anna", Outcome.DENY, "missing or hidden")
        assert (entry.address, entry.target_name, entry.detail["status"]) == ("192.0.2.9", "", 404)
    assert found[0].request_id != found[1].request_id


def test_a_refusal_of_the_api_and_of_the_admin_is_recorded(client: Client) -> None:
    api = APIClient()
    api.force_login(make_user("bert"))
    assert api.get("/api/v1/audit/entries").status_code == 403
    assert client.get(reverse("admin:audit_entry_changelist")).status_code in {302, 403}
    first = refusals()[0]
    assert (first.actor_name, first.detail["route"]) == ("bert", "api:audit-entries")


def test_what_is_no_address_and_who_is_nobody_are_not_recorded(client: Client) -> None:
    assert client.get("/no-such-page").status_code == 404
    assert Client().get(reverse("document", args=[uuid4()])).status_code == 302
    assert APIClient().get("/api/v1/audit/entries").status_code == 401
    assert refusals() == []


@pytest.mark.django_db(transaction=True)  # Channels closes the connection after each message
def test_somebody_else_s_conversation_by_socket_is_recorded() -> None:
    wrong = uuid4()
    browser = Client()
    browser.force_login(make_user("anna"))
    scope = {
        "type": "websocket",
        "path": f"/ws/chat/{wrong}/",
        "session": browser.session,
        "client": ["192.0.2.44", 5000],
        "headers": [],
        "subprotocols": [],
    }

    async def knock() -> list[str]:
        communicator: Any = ApplicationCommunicator
        socket = communicator(URLRouter(websocket_urlpatterns), scope)
        await socket.send_input({"type": "websocket.connect"})
        said = [(await socket.receive_output(30))["type"] for _ in range(2)]
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait(30)
        return said

    assert async_to_sync(knock)() == ["websocket.accept", "websocket.close"]
    (entry,) = refusals()
    assert (entry.address, entry.detail["asked"]) == ("192.0.2.44", {"session_id": str(wrong)})


@pytest.mark.parametrize(
    ("trusted", "forwarded", "address"),
    [
        (False, b"203.0.113.1", "192.0.2.44"),
        (True, b"198.51.100.1, 203.0.113.1", "203.0.113.1"),
        (True, b"", "192.0.2.44"),
        (True, b"nonsense", "192.0.2.44"),
    ],
)
def test_only_a_trusted_proxy_says_where_a_socket_comes_from(
    settings: LazySettings, trusted: bool, forwarded: bytes, address: str
) -> None:
    settings.TRUSTED_PROXY = trusted
    assert find_scope_address({"headers": [(b"x-forwarded-for", forwarded)], "client": ["192.0.2.44", 5000]}) == address
    assert find_scope_address({"client": None}) == ""
