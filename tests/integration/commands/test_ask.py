"""`manage.py ask`: a question that is none, or nobody who asks it, is one sentence and leaves nothing behind."""

import json
import os
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agent.models import Session
from audit.models import Entry
from tests.factories import make_base, make_user
from tests.integration.agent.conversations import LEAVE, make_library, make_reader

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["", "--as", "anna"], "The question is empty."),
        (["字" * 20_000, "--as", "anna"], "at most 4000 characters; this one has 20000"),
        (["What?", "--as", "nobody"], "no active user 'nobody'"),
        (
            ["What?", "--as", "anna", "--kb", "Secret"],
            "There is no knowledge base “Secret” that anna may see; there is none yet.",
        ),
    ],
)
def test_it_is_refused_in_one_sentence_and_no_conversation_is_begun(words: list[str], said: str) -> None:
    make_user("anna")
    make_base("Secret")
    before = Entry.objects.count()
    with pytest.raises(CommandError, match=said) as refused:
        call_command("ask", *words)
    assert "\n" not in str(refused.value)
    assert (Session.objects.count(), Entry.objects.count()) == (0, before)


def test_a_reader_that_leaves_early_ends_it_quietly() -> None:
    reader = make_reader(make_library()[0])
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        call_command("ask", LEAVE, "--as", reader.username, "--json", stdout=out)


def test_a_refusal_is_in_the_language_of_the_question_unless_another_is_asked_for() -> None:
    reader = make_reader(make_library()[0])
    for language, said in ((), "没有找到"), (("--language", "en"), "found nothing about this"):
        out = StringIO()
        call_command("ask", "鲸鱼吃什么？", "--as", reader.username, *language, stdout=out)
        assert said in out.getvalue()
    call_command("ask", LEAVE, "--as", reader.username, "--json", stdout=(out := StringIO()))
    assert json.loads(out.getvalue().splitlines()[-1])["response_type"] == "complete"
