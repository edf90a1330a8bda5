"""A MediaWiki as a source, against the real one of Debian's packages."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knowledge.models import Folder, Source, SourceRunState
from knowledge.sources.base import Unreadable
from knowledge.sources.connectors.mediawiki import MediaWikiConnector
from knowledge.sources.reading import preview_source
from tests.integration.sources.shelf import counts, item_of, paths, read
from tests.media_wiki import BOT_PASSWORD, MediaWiki, running_mediawiki

Make = Callable[..., Source]

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.needs("MediaWiki and PHP"),
]


@pytest.fixture(autouse=True)
def here(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[MediaWiki]:
    with running_mediawiki(tmp_path) as found:
        found.edit(
            "Handbook/Rolling back", "Keep the ''last'' release.\n\n== When it fails ==\nCall the platform team."
        )
        found.edit("规则", "每人每天一百元。")
        found.edit("Old name", "#REDIRECT [[规则]]")
        yield found


def test_pages_come_with_author_time_and_sections_and_change_by_revision(
    wiki: MediaWiki, make_source: Make, folder: Folder
) -> None:
    source = make_source("mediawiki", url=wiki.api)
    assert counts(read(source)) == {"added": 3}
    assert set(paths(folder)) == {"Main Page.html", "Handbook/Rolling back.html", "规则.html"}
    row = item_of(source, "Handbook/Rolling back.html")
    assert (row.title, row.author, row.modified_at is not None) == ("Handbook/Rolling back", "Keeper", True)
    assert row.url.endswith("/Handbook/Rolling_back")
    assert row.sections == [["When it fails", "When_it_fails"]]
    assert "<i>last</i>" in paths(folder)["Handbook/Rolling back.html"]
    assert counts(read(source)) == {"unchanged": 3}
    wiki.edit("规则", "每人每天两百元。")
    assert counts(read(source)) == {"changed": 1, "unchanged": 2}
    assert "两百元" in paths(folder)["规则.html"]


def test_a_moved_page_keeps_its_document_and_a_deleted_one_is_withdrawn(
    wiki: MediaWiki, make_source: Make, folder: Folder
) -> None:
    source = make_source("mediawiki", url=wiki.api)
    read(source)
    before = item_of(source, "规则.html").document
    wiki.move("规则", "Rules/Meals")
    run = read(source)
    assert (run.added, run.withdrawn, run.failed) == (0, 0, 0)
    row = item_of(source, "Rules/Meals.html")
    assert (row.document, row.title) == (before, "Rules/Meals")
    wiki.delete("Rules/Meals")
    assert counts(read(source)) == {"unchanged": 2, "withdrawn": 1}


def test_many_pages_come_in_several_answers(wiki: MediaWiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.sources.connectors.mediawiki.PAGES_A_REQUEST", 1)
    assert preview_source(Source(kind="mediawiki", settings={"url": wiki.api}), secret="").count == 3


def test_a_closed_wiki_is_read_with_a_bot_password(tmp_path: Path, make_source: Make) -> None:
    with running_mediawiki(tmp_path, is_private=True) as wiki:
        with pytest.raises(Unreadable, match="The wiki refuses"):
            preview_source(Source(kind="mediawiki", settings={"url": wiki.api}), secret="")
        account = {"url": wiki.api, "username": "Keeper@copilot"}
        with pytest.raises(Unreadable, match="another account or password"):
            preview_source(Source(kind="mediawiki", settings=account), secret="wrong")
        source = make_source("mediawiki", secret=BOT_PASSWORD, **account)
        run = read(source)
        assert (run.state, counts(run)) == (SourceRunState.DONE, {"added": 1})


def test_a_page_whose_revision_is_hidden_costs_itself_alone(wiki: MediaWiki, monkeypatch: pytest.MonkeyPatch) -> None:
    real = MediaWikiConnector._ask

    def ask(self: MediaWikiConnector, **given: Any) -> Any:
        said = real(self, **given)
        said["query"]["pages"][0].pop("revisions")
        return said

    monkeypatch.setattr(MediaWikiConnector, "_ask", ask)
    shown = preview_source(Source(kind="mediawiki", settings={"url": wiki.api}), secret="")
    assert (shown.count, shown.problems) == (2, ("The wiki does not say what this page is now.",))
