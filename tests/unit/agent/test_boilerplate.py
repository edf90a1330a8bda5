"""What says nothing is never an answer; what says little is."""

import pytest

from agent.extractive.boilerplate import says_something
from agent.extractive.sentences import split

OFFICIAL, LEAVE = "Who is my authorizing official?", "年假有多少天？"


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (OFFICIAL, "Who is my authorizing official?"),
        (OFFICIAL, "Who is my authorizing official? ........................ 12"),
        (OFFICIAL, "Your authorizing official . . . . . . . . . . 12"),
        (OFFICIAL, "Authorizing official……………… 7"),
        (OFFICIAL, "{% include official.html %}"),
        (OFFICIAL, "{{ site.official }}"),
        (OFFICIAL, "..."),
        (OFFICIAL, "Version 2.1, 2026-05-01"),
        (OFFICIAL, "Last updated: 2026-05-01"),
        (LEAVE, "年假有多少天？"),
        (LEAVE, "年假天数…………………… 12"),
        (LEAVE, "4.3 年假 .................. 第 12 页"),
        (LEAVE, "{% if 年假 %}"),
        (LEAVE, "版本：2.1，更新日期：2026年5月1日"),
        (LEAVE, "……"),
    ],
)
def test_a_line_that_states_nothing(question: str, line: str) -> None:
    assert not any(says_something(sentence, question) for sentence in split(line))


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (OFFICIAL, "Your authorizing official is the head of your department."),
        (OFFICIAL, "Are you the head of a department? Then you are the authorizing official yourself."),
        ("Which version is it?", "Version 2.1, 2026-05-01"),
        ("Are refunds possible?", "Refunds are possible."),
        ("What is in the template?", "{{ site.name }} is the name of the company."),
        ("How many days?", "- 30 days"),
        (LEAVE, "年假 12 天。"),
        (LEAVE, "工作满一年后，年假为 12 天……以此类推。"),
        ("现在是哪个版本？", "版本：2.1"),
        ("发布日期是什么？", "发布日期：2026年5月1日"),
    ],
)
def test_a_line_that_states_something(question: str, line: str) -> None:
    assert any(says_something(sentence, question) for sentence in split(line))
