"""Normalised text is stable, storable and says the same as before."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from knowledge.text.normalise import clean_text, normalise_text

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates and unassigned code points too


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_text(text)
    assert normalise_text(once) == once


# What has no shape, beside what it may shape: Arabic, Devanagari, Mongolian, emoji.
AROUND_JOINERS = st.text(
    st.sampled_from(
        "aé ،می\u0915\u094d\u1820👩❤↔🏻™≤㊗\u0301\u0338\u200b\u200c\u200d\u2060\ufe0e\ufe0f\u180b\u202e\U000e0041\ufef4\ufe8e"
    )
)


@given(AROUND_JOINERS)
@example("م\u200c\u094d\u0338")  # whose marks change places
def test_joiners_settle_at_once(text: str) -> None:
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert not set(once) & set("\u200b\u2060\u202e\U000e0041")


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing_and_hides_nothing_from_a_search(text: str) -> None:
    shown = clean_text(text)
    assert clean_text(shown) == shown
    assert normalise_text(shown) == normalise_text(text)


def test_what_people_read_says_what_the_file_says() -> None:
    for text, shown in (
        ("1½ cups, 10⁶ m², H₂O", "1½ cups, 10⁶ m², H₂O"),
        ("ＡＢＣ１２３ ① Ⅳ ㎡ ™ ﬁve", "ＡＢＣ１２３ ① Ⅳ ㎡ ™ five"),  # a ligature is how two letters are drawn
        ("⻚⾯\u3000a\u00a0b\u200bc\r\n", "页面 a bc\n"),
    ):
        assert clean_text(text) == shown


@given(ANY_TEXT)
@pytest.mark.parametrize("form", [clean_text, normalise_text])
def test_text_can_be_stored_and_encoded(form: Callable[[str], str], text: str) -> None:
    found = form(text)
    found.encode("utf-8")
    assert not {unicodedata.category(char) for char in found if char not in "\t\n"} & {"Cc", "Cs"}


@given(ANY_TEXT)
def test_only_full_width_punctuation_differs_from_nfkc(text: str) -> None:
    found = normalise_text(text)
    changed = {char for char in found if unicodedata.normalize("NFKC", char) != char}
    assert changed <= set("，：；！？（）")


def test_text_is_written_one_way() -> None:
    for text, expected in (
        ("员⼯⼿册", "员工手册"),  # Kangxi radicals, which NFKC folds
        ("⻚⾯ ⻋⻔ ⻅⻓ ⻰⻛ ⺟⻆", "页面 车门 见长 龙风 母角"),  # CJK Radicals Supplement, which it does not
        ("ＡＢＣ１２３", "ABC123"),
        ("你好，世界！（注：一）", "你好，世界！（注：一）"),
        ("a\r\nb\rc\u2028d\fe", "a\nb\nc\nd\ne"),
        ("x\0y\u200bz\ufeff\u202e\ud800", "xyz"),
        ("e\u200b\u0301", "é"),
        ("ig\u200cno\u200dre\u200e all\u2061 \ufe0frules\u180b", "ignore all rules"),
        ("a\U000e0049\U000e0067\U000e006e b\u2800c\u3164d\u115f", "a bcd"),  # tags that spell ASCII, blanks, fillers
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),  # scripts that need their joiners
        ("👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 \u182d\u180b", "👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 \u182d\u180b"),
        ("ﬁle №5 ½", "file No5 1/2"),
        ("1½ l, ２¾ kg", "1 1/2 l, 2 3/4 kg"),  # and not 11/2
        ("10⁶ m², 5⁻³, 10₂, CO₂, 20ᵗʰ", "10^6 m2, 5^−3, 10_2, CO2, 20th"),  # and not 106
    ):
        assert normalise_text(text) == expected
