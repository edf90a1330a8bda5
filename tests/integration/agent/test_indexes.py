"""What is asked of all messages, every ten seconds or by an auditor, is found by an index: a table of years is not read through."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agent.models import Message, MessageRole, Session
from agent.runs.reaper import close_abandoned_runs
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def look_at_answers() -> None:
    client = Client()
    client.force_login(make_user(is_superuser=True))
    assert client.get(reverse("answers")).status_code == 200


def write_many() -> None:
    """So many that to read them all is dearer than an index; the statistics know it."""
    session = Session.objects.create(user=make_user())
    Message.objects.bulk_create(
        Message(session=session, role=MessageRole.ASSISTANT, content="x" * 500) for _number in range(3_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agent_message")


def test_all_messages_are_never_read_through() -> None:
    write_many()
    for index, act in (("message_open_idx", close_abandoned_runs), ("message_answers_idx", look_at_answers)):
        with CaptureQueriesContext(connection) as asked:
            act()
        found = [one["sql"] for one in asked if 'FROM "agent_message"' in one["sql"] and " LIMIT " in one["sql"]]
        assert len(found) == 1
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {found[0]}")
            assert index in "\n".join(line for (line,) in cursor.fetchall())
