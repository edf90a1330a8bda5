"""JSON as models write it when they almost do."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.knowledge_search import SearchArgs
from copilot_site.lib.text.json_input import load_repaired_json

KEPT = st.characters(codec="utf-8", exclude_characters="\0")  # what a database keeps
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(KEPT, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(KEPT, max_size=4), inner, max_size=3),
    max_leaves=8,
)


def test_commas_too_many_and_cuts_are_mended() -> None:
    for text, value in (
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": "x, ]",}', {"a": "x, ]"}),
        ('{"a": ["x", "y"', {"a": ["x", "y"]}),
        ('{"a": {"b": [1]}', {"a": {"b": [1]}}),
        ('{"a": "x", "b": "half of i', {"a": "x"}),
        ('{"a": "x", "b": 12', {"a": "x"}),
        ('{"a": "x", "b"', {"a": "x"}),
    ):
        assert load_repaired_json(text) == value


@pytest.mark.parametrize("text", ["no JSON", '{"a": "half of i', "{", '{"a" 1}', "]", '{"a": 1}}'])
def test_what_is_not_certain_is_not_mended(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_repaired_json(text)


@given(VALUES)
def test_whole_json_is_read_as_it_is(value: Any) -> None:
    assert load_repaired_json(json.dumps(value)) == value


@given(st.dictionaries(st.text(KEPT, max_size=4), VALUES, min_size=1, max_size=3), st.data())
def test_a_cut_leaves_no_value_that_was_not_written(value: dict[str, Any], data: st.DataObject) -> None:
    """Members are whole or missing at the top, wherever the text ends."""
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    try:
        found = load_repaired_json(cut)
    except ValueError:
        return
    assert set(found) <= set(value)
    assert all(found[name] == value[name] for name in found if not isinstance(value[name], list | dict))


def test_one_thing_stands_for_a_list_of_one() -> None:
    assert SearchArgs.model_validate({"queries": "annual leave"}).queries == ["annual leave"]
