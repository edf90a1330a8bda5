"""Who has which place among the runs of a process."""

from collections.abc import Iterator

import pytest

from agent.runs import start
from agent.runs.run import describe_queue_place
from agent.runs.start import admit_run, find_run_queue
from authz.principal import Principal
from copilot_site.lib.errors import TooMany, Unavailable

ANNA, BERT = Principal(1, "anna", frozenset()), Principal(2, "bert", frozenset())


@pytest.fixture(autouse=True)
def own_queues(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fresh queues in which three may wait. Each test says how many runs are at work: the number of cores must not decide."""
    monkeypatch.setattr(start, "MAX_WAITING_RUNS", 3)
    find_run_queue.cache_clear()
    yield
    find_run_queue.cache_clear()


def token_of(person: Principal, token_id: int) -> Principal:
    return Principal(person.user_id, person.username, frozenset(), token_id=token_id, scopes=frozenset())


def served(*people: Principal, has_model: bool = False) -> list[bool]:
    return [admit_run(person, has_model=has_model).is_served for person in people]


def test_a_person_and_all_of_their_tokens_together_are_a_party_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "MAX_RUNS", 6)
    assert served(ANNA, ANNA, ANNA) == [True, True, False]
    tokens = [token_of(ANNA, number) for number in (1, 2, 3)]
    assert served(*tokens) == [True, True, False], "a further token is no further party"
    assert served(BERT) == [True]


def test_nobody_takes_more_than_half_of_the_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "MAX_RUNS", 2)
    assert served(ANNA, ANNA, BERT) == [True, False, True]


def test_runs_with_a_model_do_not_wait_for_those_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "MAX_RUNS", 1)
    assert served(ANNA, BERT) == [True, False]
    assert served(BERT, has_model=True) == [True]


def test_who_finds_no_room_is_told_whether_that_is_their_own_doing_and_when_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(start, "MAX_RUNS", 1)
    served(BERT, ANNA, ANNA)
    with pytest.raises(TooMany) as own:
        admit_run(ANNA, has_model=False)
    served(BERT)
    with pytest.raises(Unavailable) as all_full:
        admit_run(token_of(BERT, 1), has_model=False)
    assert not isinstance(all_full.value, TooMany)
    for refused in (own, all_full):
        assert str(refused.value).endswith(f"again in {refused.value.retry_after_s} s.")


def test_a_place_is_said_in_the_language_of_whoever_waits() -> None:
    assert [describe_queue_place(before, "en").split(" before")[0] for before in (1, 3)] == [
        "1 question",
        "3 questions",
    ]
    assert not any(sign.isdigit() for sign in describe_queue_place(0, "en"))
    assert "3" in describe_queue_place(3, "zh-hans")
    assert not describe_queue_place(3, "zh-hans").isascii()
