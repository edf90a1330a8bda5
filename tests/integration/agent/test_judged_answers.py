"""Sentences that facts do not settle: a model reads them once, and what nobody checked are marked."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.connections.service_keys import seal_service_key
from agent.events import Answer
from agent.models import AgentProfile, LanguageModel
from agent.profiles.settings import Options
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored, words
from tests.integration.agent.modelled import SEARCH, THIRTY, judge, judges, modelled, of
from tests.modelserver import Step, says

pytestmark = pytest.mark.django_db

OPEN = "Staff can be away for a whole month each year [1]."


def open_answer(handbook: Handbook, *judging: Step, options: Options | None = None) -> tuple[Any, list[Any]]:
    """The stored answer, and the events of it, where facts settle the first sentence and not the second."""
    base, _manual, _secret = handbook
    with modelled(SEARCH, says(f"{THIRTY} {OPEN} {THIRTY}"), *judging):
        events = asked(make_reader(base), LEAVE, options=options or Options())
    return stored(events), of(events, Answer)


def test_an_open_sentence_is_judged_once_while_the_first_ones_are_shown(handbook: Handbook) -> None:
    row, answers = open_answer(handbook, judges("supported", quote="30 days of annual leave", sentences=[1]))
    assert len(row.sentences) == 3
    assert all("is_checked" not in sentence for sentence in row.sentences)
    assert [OPEN[:10] in answer.content for answer in answers] == [False, True, False, False]
    assert "judge.en" in row.prompts


def test_a_sentence_that_the_judge_finds_contradicted_is_left_out(handbook: Handbook) -> None:
    row, _answers = open_answer(handbook, judges("contradicted", quote="30 days", sentences=[1]))
    assert [sentence["text"][:5] for sentence in row.sentences] == ["Emplo", "Emplo"]


@pytest.mark.parametrize(
    "judging",
    [
        judges("supported", quote="a month of leave", sentences=[1]),
        judges("supported", quote="", sentences=[1]),
        judge(says("Yes.")),
    ],
    ids=["made up", "no quotation", "no verdict"],
)
def test_what_the_judge_does_not_show_stays_unchecked_and_is_marked(handbook: Handbook, judging: Step) -> None:
    row, answers = open_answer(handbook, judging)
    assert [sentence.get("is_checked", True) for sentence in row.sentences] == [True, False, True]
    assert [answer.data.get("is_checked", True) for answer in answers] == [True, False, True, True]
    assert "are marked" in row.notice
    assert row.provider == "default"


def test_a_judge_is_not_believed_where_what_it_quotes_says_something_else(reader: User) -> None:
    said = "All employees have annual leave, always [1]."
    quote = "Employees have 30 days of annual leave"
    with modelled(SEARCH, says(said), judges("supported", quote=quote, sentences=[1])):
        row = stored(asked(reader, LEAVE))
    assert [sentence.get("is_checked", True) for sentence in row.sentences] == [False]


def test_a_strict_profile_leaves_out_what_is_not_checked(handbook: Handbook) -> None:
    profile = AgentProfile.objects.create(name="strict", is_strict=True)
    row, _answers = open_answer(handbook, judges(sentences=[]), options=Options(profile_id=str(profile.pk)))
    assert len(row.sentences) == 2


def test_a_profile_names_another_model_as_judge(reader: User) -> None:
    with modelled(SEARCH, says(OPEN), judges("supported", quote="30 days", sentences=[1])) as server:
        small = LanguageModel.objects.create(
            name="Small",
            base_url=server.base_url,
            model="small-1",
            encrypted_key=seal_service_key("k-1", server.base_url),
        )
        profile = AgentProfile.objects.create(name="judged", judge=small)
        asked(reader, LEAVE, options=Options(profile_id=str(profile.pk)))
    assert [request["model"] for request in server.requests] == ["scripted", "scripted", "small-1"]


def test_escapes_of_the_evidence_do_not_leak_into_the_answer(reader: User) -> None:
    with modelled(SEARCH, says(f"R&amp;D: {THIRTY}"), judges("supported", quote="30 days")):
        assert words(asked(reader, LEAVE)).startswith("R&D: ")
