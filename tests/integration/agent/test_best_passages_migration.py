"""Answers that were not confirmed are passages now, under the words of today."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from agent.conversations.sessions import create_session, get_message
from agent.models import Message, Role
from authz.principal import Principal
from tests.factories import make_user

pytestmark = pytest.mark.django_db

OLD = "I cannot confirm an answer. These passages come closest:"


def test_a_stored_answer_that_was_not_confirmed_becomes_passages() -> None:
    reader = Principal.of(make_user())
    session = create_session(reader)
    kept = [{"text": OLD, "citations": []}, {"text": "Lunch is at noon.", "citations": [1]}]
    state = {"output": {"stop_reason": "not_confirmed"}, "draft": {"confidence": 0.0}}
    row = Message.objects.create(
        session=session, role=Role.ASSISTANT, content=f"{OLD}\nLunch is at noon.[1]", sentences=kept, state=state,
        stop_reason="not_confirmed", provider="extractive",
    )  # fmt: skip
    answered = Message.objects.create(session=session, role=Role.ASSISTANT, content="Yes.", stop_reason="ok")
    with connection.schema_editor() as editor:
        import_module("agent.migrations.0002_best_passages").show_as_passages(apps, editor)
    row.refresh_from_db()
    assert row.content.splitlines()[0] == "Best match (not verified):"
    shown = get_message(reader, session, row.pk)
    assert (shown.stop_reason, shown.kind) == ("ok", "passages")
    assert row.sentences[0]["text"] == "Best match (not verified):"
    assert get_message(reader, session, answered.pk).kind == ""
