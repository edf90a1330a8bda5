"""The floor under coverage: what falls is named, and nothing lowers it."""

import json
import tomllib

from scripts.coverage_floor import FLOOR, ROOT


def test_every_package_that_is_measured_has_a_floor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    floors = json.loads(FLOOR.read_text())
    assert sorted(floors) == sorted(project["tool"]["coverage"]["run"]["source"])
    assert all(80 <= least <= 100 for least in floors.values())
