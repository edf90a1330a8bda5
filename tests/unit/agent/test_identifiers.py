"""Codes of things: letters and at least two digits."""

from agent.text.words import find_identifiers


def test_a_code_is_letters_and_at_least_two_digits() -> None:
    for text, codes in (
        ("How much does a KG-400 cost?", {"kg-400"}),
        ("kg-400-l 和 R-2602 的区别", {"kg-400-l", "r-2602"}),
        ("SI-2026-08", {"si-2026-08"}),
        ("E5 in Q3 with 5G and IP 6", set()),
        ("KeelTrack 5.4 of 2026-10-20, PostgreSQL-2000000x", set()),
    ):
        assert find_identifiers(text) == codes
