"""Normalised text is stable, storable and says the same as before."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.ingestion.normalise import normalise

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates and unassigned code points too


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(ANY_TEXT)
def test_normalised_text_can_be_stored_and_encoded(text: str) -> None:
    found = normalise(text)
    found.encode("utf-8")
    assert not {unicodedata.category(char) for char in found if char not in "\t\n"} & {"Cc", "Cs"}


@given(ANY_TEXT)
def test_only_full_width_punctuation_differs_from_nfkc(text: str) -> None:
    found = normalise(text)
    changed = {char for char in found if unicodedata.normalize("NFKC", char) != char}
    assert changed <= set("，：；！？（）")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("员⼯⼿册", "员工手册"),  # Kangxi radicals, which NFKC folds
        ("⻚⾯ ⻋⻔ ⻅⻓ ⻰⻛ ⺟⻆", "页面 车门 见长 龙风 母角"),  # CJK Radicals Supplement, which it does not
        ("ＡＢＣ１２３", "ABC123"),
        ("你好，世界！（注：一）", "你好，世界！（注：一）"),
        ("a\r\nb\rc\u2028d\fe", "a\nb\nc\nd\ne"),
        ("x\0y\u200bz\ufeff\u202e\ud800", "xyz"),
        ("e\u200b\u0301", "é"),
        ("ﬁle №5 ½", "file No5 1⁄2"),
    ],
)
def test_text_is_written_one_way(text: str, expected: str) -> None:
    assert normalise(text) == expected
