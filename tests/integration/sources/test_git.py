"""A git repository as a source, by git's own server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks as OnCommit

from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, Source
from knowledge.sources.base import Unreadable
from knowledge.sources.connectors import git as connector
from knowledge.sources.reading import preview_source
from knowledge.sources.services import delete_source, save_source
from tests.factories import make_user
from tests.git_server import commit, git, make_repository, serving
from tests.integration.sources.shelf import counts, item_of, paths, read

Make = Callable[..., Source]

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.needs("git"),
]

START = "# Rolling back\n\nKeep the last release.\n\n## When it fails\n\nCall the platform team.\n"


@pytest.fixture
def repository(opened: Path) -> Path:
    return make_repository(
        opened / "handbook", {"docs/rollback.md": START, "docs/deep/page.md": "# Page", "code.py": "x"}
    )


@pytest.fixture
def here(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)


@pytest.fixture
def served(here: None, opened: Path) -> Iterator[str]:
    """The address below which the repositories of `opened` are."""
    with serving(opened) as (url, _asked):
        yield url


@pytest.mark.usefixtures("here")
def test_a_repository_is_fetched_and_then_only_what_changed(
    repository: Path, make_source: Make, folder: Folder
) -> None:
    with serving(repository.parent) as (url, asked):
        source = make_source("git", url=f"{url}/handbook/.git")
        assert counts(read(source)) == {"added": 2}
        assert paths(folder) == {"docs/rollback.md": START, "docs/deep/page.md": "# Page"}
        source.refresh_from_db()
        assert source.state["head"] == git(repository, "rev-parse", "HEAD")
        asked.clear()
        assert counts(read(source)) == {"unchanged": 2}
        assert asked
        assert "objects" not in asked
        commit(repository, {"docs/rollback.md": "# Rolling back\n\nKeep two.\n"}, author="Emma de Vries")
        assert counts(read(source)) == {"changed": 1, "unchanged": 1}
        assert "objects" in asked
        row = item_of(source, "docs/rollback.md")
        assert (row.author, row.modified_at is not None) == ("Emma de Vries", True)
        assert item_of(source, "docs/deep/page.md").author == "Chen Wei"


def test_the_wiki_of_a_forge_has_its_pages_by_their_names_and_no_navigation(
    served: str, opened: Path, make_source: Make, folder: Folder
) -> None:
    pages = {
        "Home.md": "Welcome.",
        "Deploy-Rules.md": "## Fridays\n\nNothing.",
        "guides/on%2Dcall-rota.md": "Who.",
        "a-b c%21.-.md": "As Gitea escapes it.",
        "_Sidebar.md": "[[Home]]",
        "guides/_footer.md": "Imprint",
    }
    make_repository(opened / "handbook.wiki.git", pages)
    source = make_source(
        "git", url=f"{served}/handbook.wiki.git", page_url="https://git.example.com/team/handbook/wiki/{page}"
    )
    assert counts(read(source)) == {"added": 4}
    assert set(paths(folder)) == pages.keys() - {"_Sidebar.md", "guides/_footer.md"}
    titles = {path: item_of(source, path).title for path in paths(folder)}
    assert titles == {
        "Home.md": "Home",
        "Deploy-Rules.md": "Deploy Rules",
        "guides/on%2Dcall-rota.md": "on-call rota",
        "a-b c%21.-.md": "a-b c!",
    }
    assert item_of(source, "Deploy-Rules.md").url == "https://git.example.com/team/handbook/wiki/Deploy-Rules"


def test_a_repository_that_is_no_wiki_keeps_its_names(
    served: str, opened: Path, make_source: Make, folder: Folder
) -> None:
    make_repository(opened / "wiki", {"_draft-page.md": "# Rolling back\n\nAs it is."})
    source = make_source("git", url=f"{served}/wiki/.git", page_url="https://git.example.com/{path}")
    assert counts(read(source)) == {"added": 1}
    row = item_of(source, "_draft-page.md")
    assert (row.title, row.url) == ("", "https://git.example.com/_draft-page.md")
    assert row.sections == [["Rolling back", "rolling-back"]]


@pytest.mark.usefixtures("here")
def test_a_file_that_is_renamed_and_changed_keeps_its_document(
    repository: Path, make_source: Make, folder: Folder
) -> None:
    with serving(repository.parent) as (url, _asked):
        source = make_source("git", url=f"{url}/handbook/.git", below="docs")
        read(source)
        before = item_of(source, "rollback.md").document
        git(repository, "mv", "docs/rollback.md", "docs/undo.md")
        commit(repository, {"docs/undo.md": START + "\nOne more line.\n"})
        assert counts(read(source)) == {"changed": 1, "unchanged": 1}
        assert item_of(source, "undo.md").document == before
        assert set(paths(folder)) == {"undo.md", "deep/page.md"}


@pytest.mark.usefixtures("here")
def test_an_account_is_asked_for_and_sent_to_nobody_else(repository: Path, make_source: Make, folder: Folder) -> None:
    with serving(repository.parent, account="robot", password="tea") as (url, asked):
        with pytest.raises(Unreadable, match="another account"):
            preview_source(make_source("git", url=f"{url}/handbook/.git", username="robot"), secret="coffee")
        assert (
            preview_source(
                Source(kind="git", settings={"url": f"{url}/handbook/.git", "username": "robot"}), secret="tea"
            ).count
            == 2
        )
        assert any("Basic" in line for line in asked)
        with serving(repository.parent, moved_to=url) as (elsewhere, _asked_first):
            asked.clear()
            moved = Source(kind="git", settings={"url": f"{elsewhere}/handbook/.git", "username": "robot"})
            with pytest.raises(InvalidInput):
                preview_source(moved, secret="tea")
            assert asked
            assert not [line for line in asked if "Basic" in line]


def test_a_redirect_to_an_address_inside_is_refused(repository: Path, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    refused = pytest.raises(InvalidInput, match=r"may not connect to 127\.0\.0\.2")
    with serving(repository.parent, moved_to="http://127.0.0.2:1") as (url, _asked), refused:
        preview_source(Source(kind="git", settings={"url": f"{url}/handbook/.git"}), secret="")


def test_what_is_no_repository_says_so(served: str, opened: Path) -> None:
    with pytest.raises(Unreadable, match="is not a git repository"):
        preview_source(Source(kind="git", settings={"url": f"{served}/nothing.git"}), secret="")
    with pytest.raises(InvalidInput):
        preview_source(Source(kind="git", settings={"url": str(opened)}), secret="")


def test_a_branch_is_chosen_and_one_that_is_missing_is_named(
    served: str, repository: Path, make_source: Make, folder: Folder
) -> None:
    git(repository, "checkout", "-q", "-b", "next")
    commit(repository, {"docs/next.md": "# Next"})
    git(repository, "checkout", "-q", "main")
    with pytest.raises(Unreadable, match="no branch “gone”"):
        preview_source(Source(kind="git", settings={"url": f"{served}/handbook/.git", "branch": "gone"}), secret="")
    read(make_source("git", url=f"{served}/handbook/.git", branch="next"))
    assert "docs/next.md" in paths(folder)


@pytest.mark.usefixtures("here")
def test_a_repository_without_end_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(connector, "MAX_BYTES", 100)
    with serving(repository.parent) as (url, _asked), pytest.raises(Unreadable, match="has more than"):
        preview_source(Source(kind="git", settings={"url": f"{url}/handbook/.git"}), secret="")


@pytest.mark.usefixtures("here")
def test_a_secret_is_forgotten_with_its_address(repository: Path, make_source: Make) -> None:
    source = make_source("git", secret="tea", url="https://git.example/a.git")
    assert "tea" not in source.encrypted_secret
    source.settings = {**source.settings, "branch": "next"}
    assert save_source(None, source) is False
    assert source.encrypted_secret
    source.settings = {**source.settings, "url": "https://git.example/b.git"}
    assert save_source(None, source) is True
    assert source.encrypted_secret == ""


@pytest.mark.usefixtures("here")
def test_a_try_leaves_no_copy_behind_and_a_source_that_is_deleted_neither(
    repository: Path, make_source: Make, settings: Any, django_capture_on_commit_callbacks: OnCommit
) -> None:
    cache = Path(settings.SOURCE_CACHE)
    with serving(repository.parent) as (url, _asked):
        assert preview_source(Source(kind="git", settings={"url": f"{url}/handbook/.git"}), secret="").count == 2
        with pytest.raises(Unreadable, match="no branch"):
            preview_source(Source(kind="git", settings={"url": f"{url}/handbook/.git", "branch": "x"}), secret="")
        assert list(cache.iterdir()) == []
        source = make_source("git", url=f"{url}/handbook/.git")
        read(source)
    assert [item.name for item in cache.iterdir()] == [str(source.pk)]
    with django_capture_on_commit_callbacks(execute=True):
        delete_source(make_user(is_superuser=True), source, withdraw=False)
    assert list(cache.iterdir()) == []
