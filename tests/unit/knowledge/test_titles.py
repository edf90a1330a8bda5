"""A file name as a title: words instead of joints, dates and names in other scripts as they are."""

import pytest

from knowledge.titles import title_of


@pytest.mark.parametrize(
    ("filename", "title"),
    [
        ("price-list-2026.xlsx", "Price list 2026"),
        ("product-council-minutes_2026-10-14.txt", "Product council minutes 2026-10-14"),
        ("数据保留期限表.xlsx", "数据保留期限表"),
        ("绩效考核结果-2026上半年.csv", "绩效考核结果 2026上半年"),
        ("Travel rules - final.txt", "Travel rules - final"),
        ("README.txt", "README"),
        ("___.txt", "___"),
    ],
)
def test_a_file_name_reads_as_a_title(filename: str, title: str) -> None:
    assert title_of(filename) == title
