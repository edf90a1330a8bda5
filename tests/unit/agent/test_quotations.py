"""A quotation counts only as whole words and numbers of what it is said to stand in."""

from agent.attribution.judge import is_quoted


def test_a_quotation_is_of_whole_words_and_numbers() -> None:
    for quote, text, stands in (
        ("30", "This was decided in 2030.", False),
        ("30", "It costs 1.30 euros.", False),
        ("30", "It costs 30,000 euros.", False),
        ("30", "They have 30.", True),
        ("leave", "Sleeves are long.", False),
        ("30天", "每年有130天。", False),
        ("十天", "每年有三十天。", False),
        ("三十天", "每年有三十天年假。", True),
        ("“30 Days”", "They have 30\ndays of leave.", True),
    ):
        assert is_quoted(quote, text) is stands
