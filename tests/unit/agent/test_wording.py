"""The patterns of questions and answers, as the file lists them."""

import pytest

from agent.extractive.amounts import Amount
from agent.extractive.questions import AnswerKind
from agent.extractive.wording import pattern, patterns


def test_every_kind_and_every_amount_is_asked_for_somehow() -> None:
    assert {AnswerKind(name) for name in patterns("questions", "kinds")} == set(AnswerKind) - {AnswerKind.ANY}
    assert set(patterns("questions", "holds")) == set(patterns("questions", "kinds"))
    assert {Amount(name) for name in patterns("amounts", "asked")} == set(Amount) - {Amount.ANY}


def test_a_fragment_stands_in_its_place_and_capitals_do_not_count() -> None:
    assert pattern("amounts", "date").search("on 3 MARCH 2026")
    assert "<" not in pattern("amounts", "date").pattern.replace("(?<", "")


@pytest.mark.parametrize(("text", "is_person"), [("It was ada Lovelace.", True), ("it was ada lovelace", False)])
def test_where_capitals_tell_a_name_they_count(text: str, is_person: bool) -> None:
    assert (patterns("questions", "holds")["person"].search(text) is not None) is is_person
