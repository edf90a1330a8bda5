"""Sources of this machine do not leave the folders that the operator opened, and a file that is none does not hold them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.skills.packages import package_in
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, RunState, Source
from tests.integration.sources.shelf import counts, paths, read

Make = Callable[..., Source]
pytestmark = pytest.mark.django_db


def test_a_named_pipe_in_a_folder_costs_itself_alone(opened: Path, make_source: Make, folder: Folder) -> None:
    os.mkfifo(opened / "pipe.md")
    (opened / "page.md").write_text("text")
    run = read(make_source("folder", path=str(opened)))
    assert (run.state, counts(run)) == (RunState.PARTIAL, {"added": 1, "failed": 1})
    assert run.problems == [{"what": "pipe.md", "why": "pipe.md cannot be read: it is not a regular file."}]


def test_a_pipe_in_place_of_the_rules_brings_nothing(opened: Path, make_source: Make, folder: Folder) -> None:
    (opened / "page.md").write_text("text")
    os.mkfifo(opened / ".rights.yaml")
    source = make_source("folder", path=str(opened))
    Source.unscoped.update(takes_rights=True)
    run = read(source)
    assert (run.state, paths(folder)) == (RunState.FAILED, {})
    assert "it is not a regular file" in run.problem


def test_a_skill_takes_nothing_from_outside_its_folder(tmp_path: Path) -> None:
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: report\ndescription: Writes reports.\n---\nDo it.")
    assert package_in(skill).name == "report"
    (tmp_path / "secret").write_text("secret")
    (skill / "secret.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidInput, match="leads out of the folder"):
        package_in(skill)
    (skill / "secret.txt").unlink()
    os.mkfifo(skill / "pipe.txt")
    with pytest.raises(InvalidInput, match="not a regular file"):
        package_in(skill)
