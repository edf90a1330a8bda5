"""The order of tests that share a world: nobody sees the rows of a world that they did not ask for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.sharing import in_order


def item(name: str, *asked: str, commits: bool = False, file: str = "test_a.py") -> Any:
    marker = SimpleNamespace(kwargs={"transaction": commits})
    return SimpleNamespace(nodeid=name, path=Path(file), fixturenames=asked, get_closest_marker=lambda _name: marker)


def ordered(*items: Any) -> list[str]:
    return [entry.nodeid for entry in in_order(items)]


def test_who_shares_nothing_comes_first_and_who_shares_more_comes_later() -> None:
    both = item("both", "shared_house", "shared_garden", "db")
    assert ordered(both, item("house", "shared_house"), item("none"), item("commits", commits=True)) == [
        "none", "commits", "house", "both",
    ]  # fmt: skip


def test_files_stay_in_their_order() -> None:
    first = item("late", "shared_house", file="test_b.py"), item("early", file="test_b.py")
    assert ordered(*first, item("other")) == ["early", "late", "other"]


def test_who_commits_comes_before_the_worlds_of_its_file_wherever_it_stood() -> None:
    commits = item("commits", commits=True)
    assert ordered(item("house", "shared_house"), item("other", file="test_b.py"), commits) == [
        "commits", "house", "other",
    ]  # fmt: skip


def test_two_worlds_in_one_file_are_refused() -> None:
    with pytest.raises(pytest.UsageError, match=r"test_a.py has tests with .*split it"):
        ordered(item("house", "shared_house"), item("garden", "shared_garden"))


@pytest.mark.parametrize(
    "committing", [item("x", "shared_house", commits=True), item("x", "shared_house", "transactional_db")]
)
def test_who_commits_shares_nothing(committing: Any) -> None:
    with pytest.raises(pytest.UsageError, match="x commits"):
        ordered(committing)
