"""A DokuWiki as a source, against the real one of Debian's packages."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knowledge.models import Folder, Source, SourceRunState
from knowledge.sources.base import Unreadable
from knowledge.sources.reading import preview_source
from tests.doku_wiki import PASSWORD, USER, DokuWiki, running_dokuwiki
from tests.integration.sources.shelf import counts, item_of, paths, read
from tests.site_server import Reply, serving_pages

Make = Callable[..., Source]

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.needs("DokuWiki and PHP"),
]


@pytest.fixture(autouse=True)
def here(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[DokuWiki]:
    with running_dokuwiki(tmp_path) as found:
        found.edit(
            "handbook:rolling_back",
            "====== Rolling back ======\nKeep the //last// release.\n===== When it fails =====\nCall.",
        )
        found.edit("rules", "====== 规则 ======\n每人每天一百元。")
        yield found


def test_pages_come_with_author_time_and_sections_and_change_by_revision(
    wiki: DokuWiki, make_source: Make, folder: Folder
) -> None:
    source = make_source("dokuwiki", url=wiki.url)
    assert counts(read(source)) == {"added": 2}
    assert set(paths(folder)) == {"handbook/rolling_back.html", "rules.html"}
    row = item_of(source, "handbook/rolling_back.html")
    assert (row.title, row.author, row.modified_at is not None) == ("Rolling back", USER, True)
    assert row.url == f"{wiki.url}doku.php?id=handbook:rolling_back"
    assert row.sections == [["Rolling back", "rolling_back"], ["When it fails", "when_it_fails"]]
    assert "<em>last</em>" in paths(folder)["handbook/rolling_back.html"]
    assert counts(read(source)) == {"unchanged": 2}
    wiki.edit("rules", "====== 规则 ======\n每人每天两百元。")
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    assert "两百元" in paths(folder)["rules.html"]
    wiki.edit("rules", "")
    assert counts(read(source)) == {"unchanged": 1, "withdrawn": 1}


def test_one_namespace_alone_comes(wiki: DokuWiki, make_source: Make, folder: Folder) -> None:
    source = make_source("dokuwiki", url=wiki.url, namespace="handbook")
    assert counts(read(source)) == {"added": 1}
    assert set(paths(folder)) == {"handbook/rolling_back.html"}


def test_a_closed_wiki_is_read_with_an_account(tmp_path: Path, make_source: Make) -> None:
    with running_dokuwiki(tmp_path, is_private=True) as wiki:
        wiki.edit("rules", "====== Rules ======\nOne.")
        assert preview_source(Source(kind="dokuwiki", settings={"url": wiki.url}), secret="").count == 0
        account = {"url": wiki.url, "username": USER}
        with pytest.raises(Unreadable, match="another account or password"):
            preview_source(Source(kind="dokuwiki", settings=account), secret="wrong")
        run = read(make_source("dokuwiki", secret=PASSWORD, **account))
        assert (run.state, counts(run)) == (SourceRunState.DONE, {"added": 1})


@pytest.mark.parametrize(
    "body", [b"<html>", b"<!DOCTYPE x [<!ENTITY a 'b'>]><methodResponse/>", b"<methodResponse/>", b""]
)
def test_what_is_no_wiki_says_so(body: bytes) -> None:
    with (
        serving_pages({"/lib/exe/xmlrpc.php": Reply(body)}) as site,
        pytest.raises(Unreadable, match="as DokuWiki does"),
    ):
        preview_source(Source(kind="dokuwiki", settings={"url": site.url}), secret="")
