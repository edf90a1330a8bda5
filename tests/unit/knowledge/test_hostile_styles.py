"""A style sheet that almost fits a pattern is read in one pass: each of these takes for ever where spaces can be shared out."""

import pytest

from knowledge.parsers.html_hidden import _CLEAR_MASK, _CUT_AWAY

MANY = 2_000


@pytest.mark.parametrize("text", ["gradient(" + "transparent   " * MANY + "!", "polygon(" + "0   0   " * MANY + "!"])
def test_almost_fitting_styles_are_refused_in_one_pass(text: str) -> None:
    assert _CLEAR_MASK.search(text) is _CUT_AWAY.search(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "gradient(transparent, transparent)",
        "gradient(to right, transparent 0%, transparent 100%)",
        "gradient(90deg,transparent)",
    ],
)
def test_clear_masks_are_known(text: str) -> None:
    assert _CLEAR_MASK.search(text)


@pytest.mark.parametrize("text", ["polygon(0 0, 0 0, 0 0)", "polygon(0px 0px,0% 0%)", "polygon( 0 0 )"])
def test_areas_of_no_size_are_known(text: str) -> None:
    assert _CUT_AWAY.search(text)
