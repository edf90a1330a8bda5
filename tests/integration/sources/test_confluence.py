"""A space of Confluence as a source, against a server that follows the published schemas of Cloud and of Data Center."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from knowledge.models import Folder, Source, SourceRunState
from knowledge.sources.base import Unreadable
from knowledge.sources.reading import preview_source
from tests.confluence import EMAIL, TOKEN, Page, Wiki, serving_confluence
from tests.factories import make_group, make_user
from tests.integration.sources.shelf import counts, item_of, paths, read, who
from tests.site_server import Reply, serving_pages

Make = Callable[..., Source]

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["cloud", "data center"])
def wiki(request: pytest.FixtureRequest, settings: Any) -> Iterator[Wiki]:
    """Home ▸ Guide ▸ Deploy, Home ▸ Pay / bonus."""
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    with serving_confluence(is_cloud=request.param == "cloud") as wiki:
        wiki.put(Page(1, "Home", parent=None))
        wiki.put(Page(2, "Guide"))
        wiki.put(Page(3, "Deploy", "<h1 id='Deploy-Rules'>Rules</h1><p>Nothing on a Friday.</p>", parent=2))
        wiki.put(Page(4, "Pay / bonus"))
        yield wiki


@pytest.fixture
def people() -> list[User]:
    """chen and lin are engineers, mia is none."""
    found = [make_user(name, email=f"{name}@example.com") for name in ("chen", "lin", "mia")]
    make_group("Engineering", members=found[:2])
    return found


@pytest.fixture
def source(wiki: Wiki, make_source: Make, people: list[User]) -> Source:
    account = {"username": EMAIL} if wiki.is_cloud else {}
    return make_source("confluence", secret=TOKEN, url=wiki.url, space="ENG", **account)


def test_a_space_is_read_then_only_what_changed_and_a_moved_page_keeps_its_document(
    source: Source, wiki: Wiki, folder: Folder
) -> None:
    assert counts(read(source)) == {"added": 4}
    assert set(paths(folder)) == {"Home.html", "Guide.html", "Guide/Deploy.html", "Pay - bonus.html"}
    deploy = item_of(source, "Guide/Deploy.html")
    assert (deploy.url, deploy.author) == (f"{wiki.url}spaces/ENG/pages/3/Deploy", "Mia")
    assert deploy.sections == [["Rules", "Deploy-Rules"]]
    wiki.asked.clear()
    assert counts(read(source)) == {"unchanged": 4}
    assert not [path for path in wiki.asked if "export_view" in path]
    wiki.pages[3].body, wiki.pages[3].version = "<p>Nothing at night.</p>", 2
    assert counts(read(source)) == {"changed": 1, "unchanged": 3}
    wiki.pages[3].title, wiki.pages[3].parent = "Release", 4
    assert counts(read(source)) == {"moved": 1, "unchanged": 3}
    assert item_of(source, "Pay - bonus/Release.html").document == deploy.document
    del wiki.pages[3]
    assert counts(read(source)) == {"unchanged": 3, "withdrawn": 1}


def test_rights_come_along_from_the_space_and_its_pages(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    wiki.space_users = ("mia",)
    wiki.pages[2].users = ("lin", "mia")
    wiki.pages[3].groups = ("Engineering",)
    assert counts(read(ruled)) == {"added": 4}
    assert who(ruled, people, "Home.html", "Guide/Guide.html", "Guide/Deploy/Deploy.html") == {
        "Home.html": {"chen", "lin", "mia"},
        "Guide/Guide.html": {"lin", "mia"},
        "Guide/Deploy/Deploy.html": {"lin"},  # both restrictions hold
    }


def test_a_right_that_ends_there_ends_here_with_the_next_run(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    read(ruled)
    assert who(ruled, people, "Guide/Deploy.html") == {"Guide/Deploy.html": {"chen", "lin"}}
    wiki.pages[2].users = ("chen",)
    assert counts(read(ruled)) == {"moved": 1, "unchanged": 3}
    assert who(ruled, people, "Guide/Deploy.html", "Home.html") == {
        "Guide/Deploy.html": {"chen"},
        "Home.html": {"chen", "lin"},
    }
    wiki.space_groups = ()
    read(ruled)
    assert who(ruled, people, "Guide/Deploy.html", "Home.html") == {"Guide/Deploy.html": set(), "Home.html": set()}


def test_nobody_is_let_in_who_is_not_told_apart(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    wiki.pages[4].users = ("nobody-here",)
    make_user("twin", email="lin@example.com")
    wiki.pages[2].users = ("lin",)
    read(ruled)
    seen = who(ruled, people, "Pay - bonus/Pay - bonus.html", "Guide/Guide.html")
    assert seen["Pay - bonus/Pay - bonus.html"] == set()
    assert seen["Guide/Guide.html"] == (set() if wiki.is_cloud else {"lin"})


def test_without_rights_a_restricted_page_and_what_is_below_it_is_named_and_not_brought(
    source: Source, wiki: Wiki, folder: Folder
) -> None:
    wiki.pages[2].groups = ("Engineering",)
    run = read(source)
    assert counts(run) == {"added": 2, "failed": 2}
    assert set(paths(folder)) == {"Home.html", "Pay - bonus.html"}
    assert {problem["why"] for problem in run.problems} == {
        "“Guide” is restricted there: copy rights from the source.",
        "“Deploy” is restricted there: copy rights from the source.",
    }


def test_what_lies_below_something_unlisted_is_not_brought(ruled: Source, wiki: Wiki, folder: Folder) -> None:
    wiki.put(Page(9, "Folder", is_folder=True, users=("chen",)))
    wiki.pages[3].parent = 9
    run = read(ruled)
    assert counts(run) == {"added": 3, "failed": 1}
    assert set(paths(folder)) == {"Home.html", "Guide.html", "Pay - bonus.html"}


def test_more_people_than_the_wiki_tells_stop_the_run(ruled: Source, wiki: Wiki, folder: Folder) -> None:
    read(ruled)
    wiki.pages[4].users = tuple(f"person{number}" for number in range(200))
    run = read(ruled)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "restrict it to a group" in run.problem
    assert len(paths(folder)) == 4


def test_what_another_server_answers_says_nothing_of_who_may_see(source: Source, wiki: Wiki) -> None:
    top = "/wiki" if wiki.is_cloud else ""
    path = "rest/api/space/ENG?expand=homepage"
    moved = {f"{top}/{path}": Reply(status=302, headers={"Location": f"{wiki.url}{path}"})}
    with serving_pages(moved) as site:
        source.settings, source.takes_rights = {**source.settings, "url": f"{site.url}{top}/"}, True
        with pytest.raises(Unreadable, match="redirects elsewhere"):
            preview_source(source, secret=TOKEN)
