"""A program opens the chat's socket with its token: whose it is decides, and a cookie beside it counts for nothing."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agent.pages.consumers import NOT_YOURS, SIGNED_OUT
from authz.models import ApiToken
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, make_library, make_reader
from tests.integration.agent.test_consumer import Socket, answer_to, session_of, talked, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def program(secret: str, session_id: UUID, talk: Any, browser: Client | None = None) -> Any:
    """What `talk` does over a socket that was opened with a token. browser: whose cookies are sent beside it."""

    sent: Any = browser or Client()
    sent.token = secret
    return talked(None, session_id, talk, sent)


def secret_of(user: User, *scopes: TokenScope) -> str:
    return issue_token(Principal.of(user), name="program", scopes=scopes)[1]


async def closed(socket: Socket) -> int:
    return await socket.close_code()


def test_a_token_for_chat_asks_and_follows() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    asked = json.dumps({"query": LEAVE})
    events = program(secret_of(reader, TokenScope.CHAT), session_of(reader), lambda socket: answer_to(socket, asked))
    assert "30 days" in text_of(events)
    assert events[-1]["data"] == {"stop_reason": "ok"}


def test_a_token_for_something_else_or_a_dead_one_opens_nothing_whatever_cookie_comes_with_it() -> None:
    reader = make_user()
    mine, browser = session_of(reader), Client()
    browser.force_login(reader)
    assert program(secret_of(reader, TokenScope.SEARCH), mine, closed, browser) == SIGNED_OUT
    assert program("ekc_nonsense", mine, closed, browser) == SIGNED_OUT
    secret = secret_of(reader, TokenScope.CHAT)
    ApiToken.objects.update(revoked_at="2026-01-01T00:00:00Z")
    assert program(secret, mine, closed, browser) == SIGNED_OUT
    assert program(secret_of(make_user(), TokenScope.CHAT), mine, closed, browser) == NOT_YOURS
