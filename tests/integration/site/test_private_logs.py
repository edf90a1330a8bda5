"""The text of a person's question is in no log: not of a request, a failure, a model, a socket, nor of PostgreSQL.

Everything here is logged at DEBUG, which is more than any deployment writes.
"""

import io
import json
import logging
import logging.config
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.test import Client
from rest_framework.test import APIClient

from agent.models import Message, Session
from tests.integration.agent.conversations import LEAVE, make_library, make_reader
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.agent.test_consumer import answer_to, session_of, talked
from tests.integration.pages.house import client_of
from tests.modelserver import Step, says

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "quokkafish"
ASKED = f"{LEAVE} {SECRET} 斑马鱼问题"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """All that the product's loggers write, as the product writes it, at DEBUG."""
    written, before = io.StringIO(), logging.root.handlers[:]
    config: dict[str, Any] = deepcopy(settings.LOGGING)
    config["root"]["level"] = "DEBUG"
    config["handlers"]["stderr"]["stream"] = written
    config["disable_existing_loggers"] = False
    logging.config.dictConfig(config)
    yield written
    logging.config.dictConfig(settings.LOGGING)
    logging.root.handlers[:] = before


def asking(reader: Any, query: str = ASKED) -> int:
    """Ask over the API; the status."""
    client = APIClient(raise_request_exception=False)
    client.force_login(reader)
    session = client.post("/api/v1/sessions").json()["id"]
    return int(client.post(f"/api/v1/sessions/{session}/messages", {"query": query}, format="json").status_code)


def assert_private(lines: io.StringIO, *expected: str) -> None:
    said = lines.getvalue()
    for part in expected:
        assert part in said, "this way was not walked"
    found = [line for line in said.splitlines() if SECRET in line or "斑马鱼" in line]
    assert found == []
    assert [line for line in postgres_log() if SECRET in line] == []


def postgres_log() -> list[str]:
    return (settings.HOME.logs / "postgres.log").read_text(encoding="utf-8", errors="replace").splitlines()


def test_an_answer_without_a_model_with_one_and_with_one_that_fails_and_repeats_the_question(
    lines: io.StringIO,
) -> None:
    echo = json.dumps({"error": {"message": f"cannot answer {ASKED}"}}, ensure_ascii=False)

    def fails(_request: dict[str, Any]) -> Step:
        return Step(status=400, body=echo)

    reader = make_reader(make_library()[0])
    assert asking(reader) == 201
    with modelled(SEARCH, says(THIRTY)):
        assert asking(reader) == 201
    with modelled(chooses=fails):
        assert asking(reader) == 201
    assert Message.objects.filter(content__contains=SECRET).count() == 3
    assert_private(lines, "/api/v1/sessions", "run.model_failed")


def test_a_database_that_refuses_the_question(lines: io.StringIO) -> None:
    """PostgreSQL repeats the row that failed, in its own log and in the error."""
    reader = make_reader(make_library()[0])
    with refusing("agent_message", "content"):
        assert asking(reader) == 500
    assert_private(lines, "refused_here")
    assert any("refused_here" in line for line in postgres_log())


def test_a_search_in_conversations(lines: io.StringIO) -> None:
    reader = make_reader(make_library()[0])
    Session.objects.create(user=reader, title=ASKED)
    for path in ("/", "/chat/", "/library/", "/admin/"):
        client_of(reader).get(path, {"q": ASKED})
    assert_private(lines, "request_finished")


def test_a_socket(lines: io.StringIO) -> None:
    reader = make_reader(make_library()[0])
    talked(reader, session_of(reader), lambda socket: answer_to(socket, json.dumps({"query": ASKED})))
    with refusing("agent_message", "content"), pytest.raises(IntegrityError) as error:
        talked(reader, session_of(reader), lambda socket: answer_to(socket, json.dumps({"query": ASKED})))
    logging.getLogger("uvicorn.error").error(
        "Exception in ASGI application", exc_info=error.value
    )  # as the server does
    talked(reader, session_of(reader), lambda socket: answer_to(socket, json.dumps({"query": [ASKED], "x": ASKED})))
    assert_private(lines, "refused_here")


def test_without_these_guards_the_same_would_be_written(lines: io.StringIO) -> None:
    """The test sees what is written: Python's own formatter repeats the row, Django's own line the query."""
    from django_structlog.middlewares import RequestMiddleware

    with refusing("agent_session", "title"), pytest.raises(IntegrityError) as error:
        Session.objects.create(user=make_reader(make_library()[0]), title=ASKED)
    assert SECRET in logging.Formatter().formatException((error.type, error.value, error.tb))
    logging.getLogger("agent").warning("as text: %s", error.value)
    assert SECRET in lines.getvalue()
    with pytest.raises(AssertionError):
        assert_private(lines)
    answer = Client().get("/sign-in/", {"q": SECRET})
    assert SECRET in RequestMiddleware.format_request(answer.wsgi_request)


class refusing:  # noqa: N801 - a context manager
    """A table that takes no text with the secret in it, which is an error nobody expects."""

    def __init__(self, table: str, column: str) -> None:
        self.table, self.column = table, column

    def __enter__(self) -> None:
        self._run(
            f"ADD CONSTRAINT refused_here CHECK ({self.column} NOT LIKE '%{SECRET[:6]}' || '{SECRET[6:]}%') NOT VALID"
        )

    def __exit__(self, *_: object) -> None:
        self._run("DROP CONSTRAINT refused_here")

    def _run(self, change: str) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {self.table} {change}")
