"""The floor under coverage: what falls is named, and nothing lowers it."""

import json
import tomllib

from scripts.coverage_floor import FLOOR, ROOT, by_package, fallen, raised

FILES = {
    "agent/a.py": {"summary": {"covered_lines": 8, "num_statements": 10, "covered_branches": 1, "num_branches": 2}},
    "agent/deep/b.py": {"summary": {"covered_lines": 0, "num_statements": 1, "covered_branches": 0, "num_branches": 0}},
    "audit/c.py": {"summary": {"covered_lines": 2, "num_statements": 3}},
    "demo/__init__.py": {"summary": {"covered_lines": 0, "num_statements": 0}},
}


def test_lines_and_branches_of_a_package_are_counted_together_and_rounded_down() -> None:
    assert by_package(FILES) == {"agent": 69.2, "audit": 66.6}


def test_what_falls_is_named_and_what_is_not_measured_any_more_too() -> None:
    assert fallen({"agent": 69.2, "audit": 66.6}, {"agent": 69.2, "audit": 66.5}) == []
    assert [said.split(":")[0] for said in fallen({"agent": 69.1}, {"agent": 69.2, "audit": 1.0})] == ["agent", "audit"]


def test_the_floor_only_rises() -> None:
    assert raised({"agent": 70.0, "audit": 60.0, "demo": 5.0}, {"agent": 69.2, "audit": 66.6}) == {
        "agent": 70.0,
        "audit": 66.6,
        "demo": 5.0,
    }


def test_every_package_that_is_measured_has_a_floor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    floors = json.loads(FLOOR.read_text())
    assert sorted(floors) == sorted(project["tool"]["coverage"]["run"]["source"])
    assert all(80 <= least <= 100 for least in floors.values())
