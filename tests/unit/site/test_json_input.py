"""JSON from outside: what is nested without end is refused, before anything recurses into it."""

import pytest

from agent.providers.reply import PartialCall
from copilot_site.lib.json_input import MOST_LEVELS, NestedTooDeeply, loads


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 900, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_deep_json_is_refused(levels: int, opened: str, closed: str) -> None:
    with pytest.raises(NestedTooDeeply):
        loads(opened * levels + "1" + closed * levels)


@pytest.mark.parametrize("levels", [0, 1, MOST_LEVELS])
def test_what_is_meant_is_read(levels: int) -> None:
    value = loads("[" * levels + "1" + "]" * levels)
    for _ in range(levels):
        (value,) = value
    assert value == 1


def test_a_wide_one_is_no_deep_one() -> None:
    assert len(loads("[" + ",".join(["[1]"] * 10_000) + "]")) == 10_000


def test_a_model_s_arguments_that_are_nested_without_end_are_not_whole() -> None:
    """A call of a model goes through the same door: its mistake, not ours."""
    assert not PartialCall(index=0, id="c", name="look", arguments="[" * 100_000).is_whole


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "[1, -1e999]"])
def test_what_is_no_number_of_json_is_refused(number: str) -> None:
    """Python reads it, and no database keeps it: a model's arguments that are kept for the person would end the run."""
    with pytest.raises(ValueError, match="no number of JSON"):
        loads(number)
