"""Codes of things: another code is another thing, one with a suffix is a variant."""

import pytest

from agent.extractive.identifiers import identifiers_in, is_row_of, names, names_others, spelt_names, without_labels


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("How much does a KG-400 cost?", {"kg-400"}),
        ("kg-400-l 和 R-2602 的区别", {"kg-400-l", "r-2602"}),
        ("SI-2026-08", {"si-2026-08"}),
        ("E5 in Q3 with 5G and IP 6", set()),
        ("KeelTrack 5.4 of 2026-10-20, PostgreSQL-2000000x", set()),
    ],
)
def test_a_code_is_letters_and_at_least_two_digits(text: str, codes: set[str]) -> None:
    assert identifiers_in(text) == codes


def test_names_are_told_by_their_spelling_in_both_languages() -> None:
    assert spelt_names("订KG-400-L，SLA 为99.9%，KeelTrack 5.4, by Friday") == [
        "KG-400-L",
        "SLA",
        "99.9",
        "KeelTrack",
        "5.4",
    ]


def test_the_digits_of_a_code_a_grade_and_a_version_are_no_amount() -> None:
    assert without_labels("编号KG-400的E5用4.6.2版，共 5,980 元，99.9%").split() == [
        "编号",
        "的",
        "用",
        "版，共",
        "5,980",
        "元，99.9%",
    ]


def test_a_code_names_its_variants_and_a_variant_only_itself() -> None:
    assert names("KG-400-L: 5,980", {"kg-400"})
    assert not names("KG-4000: 5,980", {"kg-400"})
    assert not names("KG-400: 5,980", {"kg-400-l"})


def test_another_code_of_the_series_is_another_thing() -> None:
    assert names_others("Parts of the KG-600 cost CNY 4,150.", {"kg-400"})
    assert not names_others("KG-200: 2 GB; KG-400: 8 GB", {"kg-400"})
    assert not names_others("R-2602 is open.", {"kg-400"})
    assert not names_others("The gateway costs 5,980.", {"kg-400"})


def test_a_row_is_about_what_its_first_cell_names() -> None:
    assert is_row_of("Order number: KG-400-L; CNY: 5980", {"kg-400"})
    assert not is_row_of("Item: Memory; KG-200: 2 GB; KG-400: 8 GB", {"kg-400"})
    assert not is_row_of("KG-400-L; 5980", set())
