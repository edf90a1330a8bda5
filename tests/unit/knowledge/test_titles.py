"""A file name as a title: words instead of joints, dates and names in other scripts as they are."""

import pytest

from knowledge.titles import build_title, clean_stated_title


def test_a_file_name_reads_as_a_title() -> None:
    for filename, title in (
        ("price-list-2026.xlsx", "Price list 2026"),
        ("product-council-minutes_2026-10-14.txt", "Product council minutes 2026-10-14"),
        ("数据保留期限表.xlsx", "数据保留期限表"),
        ("绩效考核结果-2026上半年.csv", "绩效考核结果 2026上半年"),
        ("Travel rules - final.txt", "Travel rules - final"),
        ("README.txt", "README"),
        ("___.txt", "___"),
    ):
        assert build_title(filename) == title


@pytest.mark.parametrize(
    "text",
    ["about:blank", "Untitled-1", "无标题", "Microsoft Word - rules.doc", "Document1",
     "文档 2", "PowerPoint Presentation", "  ", "2026-07"],
)  # fmt: skip
def test_what_a_program_filled_in_is_no_title(text: str) -> None:
    assert clean_stated_title(text) == ""


def test_what_a_person_wrote_is_one() -> None:
    for text in ("Travel rules", "员工手册", "About: our values", "Document control", "Book 1 of the rules", "FAQ:K8s"):
        assert clean_stated_title(f" {text} ") == text
