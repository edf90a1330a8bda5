"""The list of tests that the quick tier leaves out, and what a run says of what it could not do."""

import re

import pytest

from tests import programs, tiers

LINES = [line for line in tiers.LISTED.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


def test_a_listed_test_exists_and_has_a_reason() -> None:
    for line in LINES:
        node, reason = (part.strip() for part in line.split("#", 1))
        file, _, name = node.partition("::")
        assert reason, line
        assert (tiers.ROOT / file).exists(), line
        if name:
            assert re.search(
                rf"def {re.escape(name.split('[')[0])}\b", (tiers.ROOT / file).read_text(encoding="utf-8")
            ), line


def test_a_listed_beginning_covers_its_own_tests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tiers, "exhaustive", lambda: ("tests/a/", "tests/b.py", "tests/c.py::test_d", "tests/e.py::test_f[g")
    )
    covered = (
        "tests/a/test_x.py::test_y",
        "tests/b.py",
        "tests/b.py::test_z",
        "tests/c.py::test_d[1]",
        "tests/e.py::test_f[g-h]",
    )
    left = ("tests/ab.py::test_x", "tests/c.py::test_dd", "tests/c.py", "tests/e.py::test_f[i]")
    assert [node for node in (*covered, *left) if tiers.is_exhaustive(node)] == list(covered)


def test_the_parts_are_all_files_and_share_none() -> None:
    places = tiers._places()
    assert set(places) == {str(path.relative_to(tiers.ROOT)) for path in (tiers.ROOT / "tests").rglob("test_*.py")}
    assert sorted(places.values()) == list(range(len(places)))


def test_a_missing_program_skips_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(programs.FOUND, "git", lambda: False)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="needs git"):
        programs.skip_without("git")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="git is missing"):
        programs.skip_without("git")
