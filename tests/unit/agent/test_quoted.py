"""How a quoted span stands on a source's card."""

from agent.templatetags.conversations import plain


def test_a_table_is_shown_without_its_bars() -> None:
    for quoted, shown in (
        ("| Place | Limit |\n| --- | ---: |\n| Rotterdam | 160 EUR |", "Place · Limit Rotterdam · 160 EUR"),
        ("Two lines\nof a paragraph - with a dash.", "Two lines of a paragraph - with a dash."),
        ("cat a.txt | wc -l", "cat a.txt | wc -l"),
    ):
        assert plain(quoted) == shown
