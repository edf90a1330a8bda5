"""What a passage says by its form alone."""

import pytest

from knowledge.graph import kinds
from knowledge.graph.names import Names
from knowledge.graph.pattern_extraction import Directory, certain
from knowledge.text.passage_blocks import PassageBlock

PEOPLE, UNITS = Names(), Names()
PEOPLE.add(["sun rui", "陈伟"])
UNITS.add(["platform engineering"])
DIRECTORY = Directory(PEOPLE, UNITS)


def stated(text: str, *, is_first: bool = False) -> set[tuple[str, str, str]]:
    tables = [PassageBlock("table", 0, len(text), is_headed=True)] if text.startswith("|") else []
    said = certain(text, tables, is_first=is_first, directory=DIRECTORY)
    return {(item.subject.said if item.subject else "", item.kind, item.object.said) for item in said.stated}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The service level objective (SLO) of an API.", ("service level objective", kinds.ALSO_CALLED, "SLO")),
        ("Use the Chief of Staff (CoS) for it.", ("Chief of Staff", kinds.ALSO_CALLED, "CoS")),
        ("“错误预算”（简称“预算额”）按季度计算。", ("错误预算", kinds.ALSO_CALLED, "预算额")),
        ("“Error budget” means what may fail.", ("", kinds.DEFINES, "Error budget")),
        ("本制度所称差旅，是指因公外出。", ("", kinds.DEFINES, "差旅")),
        ("| Service | Team |\n|---|---|\n| track-api | Team Falcon |", ("track-api", "Team", "Team Falcon")),
    ],
)
def test_what_is_stated(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "It was late (see below).",
        "A plain sentence (ABC) here.",
        "| N | M |\n|---|---|\n| 12 | 40 |",
        "It means nothing to me.",
    ],
)
def test_what_is_not_certain_is_not_said(text: str) -> None:
    assert stated(text) == set()


def test_facts_stand_in_the_head_of_a_document_alone() -> None:
    text = "Owner: Platform team · Review: every spring"
    assert ("", "Owner", "Platform team") in stated(text, is_first=True)
    assert stated(text) == set()


def test_codes_people_and_units() -> None:
    said = certain(
        "KG-400 and maxUnavailable; Sun Rui of Platform Engineering and 陈伟", is_first=False, directory=DIRECTORY
    )
    assert {(item.kind, item.said) for item in said.named} == {
        (kinds.CODE, "KG-400"), (kinds.CODE, "maxUnavailable"), (kinds.PERSON, "Sun Rui"), (kinds.PERSON, "陈伟"),
        (kinds.UNIT, "Platform Engineering"),
    }  # fmt: skip
