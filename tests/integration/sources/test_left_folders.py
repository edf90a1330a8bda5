"""Sources of this machine do not leave the folders that the operator opened, and a file that is none does not hold them."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.skills.packages import package_in
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, RunState, Source
from knowledge.sources.base import Unreadable
from knowledge.sources.reading import preview
from tests.git_server import commit, git, make_repository
from tests.integration.sources.shelf import counts, paths, read

Make = Callable[..., Source]
pytestmark = pytest.mark.django_db
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git, to make repositories")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A repository that nobody opened to sources."""
    return make_repository(tmp_path / "secret", {"pay.md": "# Salaries"})


def git_file(opened: Path, secret: Path) -> None:
    (opened / ".git").write_text(f"gitdir: {secret / '.git'}\n")


def git_link(opened: Path, secret: Path) -> None:
    (opened / ".git").symlink_to(secret / ".git")


def worktree(opened: Path, secret: Path) -> None:
    git(secret, "worktree", "add", "-q", str(opened / "tree"), "-b", "side")
    shutil.move(opened / "tree" / ".git", opened / ".git")


def links_inside(opened: Path, secret: Path) -> None:
    (opened / ".git").mkdir()
    for name in ("HEAD", "objects", "refs", "config"):
        (opened / ".git" / name).symlink_to(secret / ".git" / name)


def link_of_objects(opened: Path, secret: Path) -> None:
    shutil.copytree(secret / ".git", opened / ".git")
    shutil.rmtree(opened / ".git" / "objects")
    (opened / ".git" / "objects").symlink_to(secret / ".git" / "objects")


def alternates(opened: Path, secret: Path) -> None:
    git(opened, "clone", "-q", "--shared", "--bare", str(secret), str(opened / ".git"))


def commondir(opened: Path, secret: Path) -> None:
    for name in ("objects", "refs"):
        (opened / ".git" / name).mkdir(parents=True)
    shutil.copy(secret / ".git" / "HEAD", opened / ".git")
    (opened / ".git" / "commondir").write_text(str(secret / ".git"))


def ref_of_another_place(opened: Path, secret: Path) -> None:
    make_repository(opened / "x", {"a.md": "a"})
    shutil.move(opened / "x" / ".git", opened / ".git")
    (opened / ".git" / "HEAD").write_text(f"ref: ../../{secret.name}/.git/refs/heads/main\n")


def pipes(opened: Path, _secret: Path) -> None:
    make_repository(opened / "x", {"a.md": "a"})
    shutil.move(opened / "x" / ".git", opened / ".git")
    (opened / ".git" / "HEAD").unlink()
    os.mkfifo(opened / ".git" / "HEAD")


WAYS = (
    git_file,
    git_link,
    worktree,
    links_inside,
    link_of_objects,
    alternates,
    commondir,
    ref_of_another_place,
    pipes,
)


@needs_git
@pytest.mark.parametrize("way", WAYS)
def test_a_repository_leads_to_none_that_is_not_opened(
    opened: Path, secret: Path, make_source: Make, folder: Folder, way: Callable[[Path, Path], None]
) -> None:
    way(opened, secret)
    source = make_source("git", url=str(opened))
    with pytest.raises(Unreadable):
        preview(source, secret="")
    run = read(source)
    assert run.state == RunState.FAILED
    assert "see the log" not in run.problem
    assert paths(folder) == {}


@needs_git
def test_a_configuration_with_includes_is_not_read(opened: Path, make_source: Make, folder: Folder) -> None:
    repository = make_repository(opened / "book", {"a.md": "a"})
    os.mkfifo(opened / "pipe")
    with (repository / ".git" / "config").open("a") as config:
        config.write(f"[include]\n\tpath = {opened / 'pipe'}\n")
    assert counts(read(make_source("git", url=str(repository)))) == {"added": 1}


@needs_git
def test_a_repository_is_followed_as_it_is_packed_and_grows(opened: Path, make_source: Make, folder: Folder) -> None:
    repository = make_repository(opened / "book", {"a.md": "a"})
    source = make_source("git", url=str(repository))
    assert counts(read(source)) == {"added": 1}
    commit(repository, {"b.md": "b"})
    git(repository, "gc", "-q")  # one pack, refs in one file
    assert counts(read(source)) == {"added": 1, "unchanged": 1}
    git(repository, "checkout", "-q", "--detach")
    commit(repository, {"a.md": "changed"})
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    assert paths(folder) == {"a.md": "changed", "b.md": "b"}


@needs_git
def test_bare_and_shallow_repositories_are_read(opened: Path, make_source: Make, folder: Folder) -> None:
    repository = make_repository(opened / "book", {"a.md": "a"})
    commit(repository, {"b.md": "b"})
    git(opened, "clone", "-q", "--bare", "--depth=1", f"file://{repository}", str(opened / "bare.git"))
    assert counts(read(make_source("git", url=str(opened / "bare.git")))) == {"added": 2}


@needs_git
def test_a_repository_of_this_machine_has_a_limit(
    opened: Path, make_source: Make, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repository(opened / "book", {"a.md": "a"})
    monkeypatch.setattr("knowledge.sources.local_git.MOST_BYTES", 100)
    with pytest.raises(Unreadable, match="The repository has more than"):
        preview(make_source("git", url=str(repository)), secret="")


def test_a_named_pipe_in_a_folder_costs_itself_alone(opened: Path, make_source: Make, folder: Folder) -> None:
    os.mkfifo(opened / "pipe.md")
    (opened / "page.md").write_text("text")
    run = read(make_source("folder", path=str(opened)))
    assert (run.state, counts(run)) == (RunState.PARTIAL, {"added": 1, "failed": 1})
    assert run.problems == [{"what": "pipe.md", "why": "pipe.md cannot be read: it is no regular file."}]


def test_a_pipe_in_place_of_the_rules_brings_nothing(opened: Path, make_source: Make, folder: Folder) -> None:
    (opened / "page.md").write_text("text")
    os.mkfifo(opened / ".rights.yaml")
    source = make_source("folder", path=str(opened))
    Source.unscoped.update(takes_rights=True)
    run = read(source)
    assert (run.state, paths(folder)) == (RunState.FAILED, {})
    assert "it is no regular file" in run.problem


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
    with pytest.raises(InvalidInput, match="no regular file"):
        package_in(skill)
