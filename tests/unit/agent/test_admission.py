"""Who has which place among the runs of a process."""

from collections.abc import Iterator

import pytest
from django.test import override_settings

from agent.runs.run import place_in_words
from agent.runs.start import admitted, queue
from authz.principal import Principal
from copilot_site.lib.errors import TooMany, Unavailable

ANNA, BERT = Principal(1, "anna", frozenset()), Principal(2, "bert", frozenset())
LIMITS = {"RUNS_AT_ONCE": 4, "RUNS_PER_PERSON": 2, "RUNS_PER_PROGRAM": 1, "RUNS_WAITING": 3}


@pytest.fixture(autouse=True)
def own_queues() -> Iterator[None]:
    queue.cache_clear()
    yield
    queue.cache_clear()


def token_of(person: Principal, token_id: int) -> Principal:
    return Principal(person.user_id, person.username, frozenset(), token_id=token_id, scopes=frozenset())


def served(*people: Principal, has_model: bool = False) -> list[bool]:
    return [admitted(person, has_model=has_model).is_served for person in people]


@override_settings(**LIMITS)
def test_a_person_and_all_of_their_tokens_together_are_a_party_each() -> None:
    assert served(ANNA, ANNA, ANNA) == [True, True, False]
    assert served(token_of(ANNA, 1), token_of(ANNA, 2)) == [True, False], "a second token is no second party"
    assert served(BERT) == [True]


@override_settings(**LIMITS | {"RUNS_AT_ONCE": 2})
def test_nobody_takes_more_than_half_of_the_places() -> None:
    assert served(ANNA, ANNA, BERT) == [True, False, True]


@override_settings(**LIMITS | {"RUNS_AT_ONCE": 1})
def test_runs_with_a_model_do_not_wait_for_those_without() -> None:
    assert served(ANNA, BERT) == [True, False]
    assert served(BERT, has_model=True) == [True]


@override_settings(**LIMITS | {"RUNS_AT_ONCE": 1})
def test_who_finds_no_room_is_told_whether_that_is_their_own_doing_and_when_to_come_back() -> None:
    served(BERT, ANNA, ANNA)
    with pytest.raises(TooMany) as own:
        admitted(ANNA, has_model=False)
    served(BERT)
    with pytest.raises(Unavailable) as all_full:
        admitted(token_of(BERT, 1), has_model=False)
    assert not isinstance(all_full.value, TooMany)
    for refused in (own, all_full):
        assert str(refused.value).endswith(f"ask it again in {refused.value.retry_after_s} s.")


def test_a_place_is_said_in_the_language_of_whoever_waits() -> None:
    assert [place_in_words(before, "en") for before in (0, 1, 3)] == [
        "Others are being answered; yours is next.", "1 question before yours.", "3 questions before yours.",
    ]  # fmt: skip
    assert place_in_words(3, "zh-hans") == "前面还有 3 个问题。"
