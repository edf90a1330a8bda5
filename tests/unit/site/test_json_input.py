"""JSON from outside: what is nested without end is refused, before anything recurses into it."""

import pytest

from agent.providers.reply import PartialCall
from copilot_site.lib.text.json_input import MAX_LEVELS, HalfCharacter, NestedTooDeeply, load_answer_json, load_json


@pytest.mark.parametrize("levels", [MAX_LEVELS + 1, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_deep_json_is_refused(levels: int, opened: str, closed: str) -> None:
    with pytest.raises(NestedTooDeeply):
        load_json(opened * levels + "1" + closed * levels)


def test_what_is_meant_is_read() -> None:
    for levels in (0, 1, MAX_LEVELS):
        value = load_json("[" * levels + "1" + "]" * levels)
        for _ in range(levels):
            (value,) = value
        assert value == 1, levels


def test_a_wide_one_is_no_deep_one() -> None:
    assert len(load_json("[" + ",".join(["[1]"] * 10_000) + "]")) == 10_000


def test_a_model_s_arguments_that_are_nested_without_end_are_not_whole() -> None:
    """A call of a model goes through the same door: its mistake, not ours."""
    assert not PartialCall(index=0, id="c", name="look", arguments="[" * 100_000).is_whole


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "[1, -1e999]"])
def test_what_is_no_number_of_json_is_refused(number: str) -> None:
    """Python reads it, and no database keeps it: a model's arguments that are kept for the person would end the run."""
    with pytest.raises(ValueError, match="no number of JSON"):
        load_json(number)


@pytest.mark.parametrize("text", ['"\\ud800"', '{"a\\udfff": 1}', '["\\uDBFF"]', '"\ud800"'])
def test_half_of_a_character_is_refused_in_a_request_and_left_out_of_an_answer(text: str) -> None:
    with pytest.raises(HalfCharacter):
        load_json(text)
    assert "\ud800" not in str(load_answer_json(text))


def test_a_pair_is_a_character_and_written_marks_are_text() -> None:
    assert load_json('"\\ud83d\\ude00"') == "\U0001f600"
    assert load_json('"\\\\ud800"') == "\\ud800"
    assert load_answer_json('{"a": "b\\u0000c\\ud800"}') == {"a": "bc"}


@pytest.mark.parametrize("text", ["9" * 41, f"[-{'1' * 5_000}]", "1" * 400])
def test_a_whole_number_without_end_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        load_json(text)
    assert load_json("9" * 40) == int("9" * 40)


@pytest.mark.parametrize("data", [b"\xff", b'\xef\xbb\xbf"a"\x80', "a".encode("utf-16")])
def test_bytes_that_are_no_utf_8_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_json(data)
    assert load_json(b'\xef\xbb\xbf"a"') == "a"
