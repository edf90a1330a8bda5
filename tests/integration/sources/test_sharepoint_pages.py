"""The modern pages of a SharePoint site as a source, against a server that follows Microsoft Graph's published documentation."""

# ruff: noqa: F811 - fixtures of another file are used by their names
from typing import Any

import pytest
from django.contrib.auth.models import User

from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, Source, SourceRunState
from knowledge.sources.base import Unreadable
from knowledge.sources.reading import preview_source, validate_settings
from tests.integration.sources.shelf import counts, item_of, paths, read, who
from tests.integration.sources.test_sharepoint import SITE, Make, people, tenant, where  # noqa: F401 - fixtures
from tests.microsoft_graph import SECRET, Entry, SitePage, Tenant, granted, standard_part, text_part, user

pytestmark = pytest.mark.django_db
HOME, NIGHT = "df69e386-6c58-4df2-afc0-ab6327d5b202", "65e59907-59d5-44ff-a038-7c0bf3098c01"


@pytest.fixture
def source(tenant: Tenant, where: dict[str, Any], make_source: Make, people: list[User]) -> Source:
    """start.md and tool.exe lie in the library, too; Home.aspx says something, Rules ▸ Night shift.aspx another thing."""
    tenant.put(Entry("01HOME", "Home.aspx", "01ROOT", "<%@ Page %>"))
    tenant.put(Entry("01NIGHT", "Night shift.aspx", "01RULES", "<%@ Page %>"))
    tenant.put(Entry("01NEW", "New.aspx", "01ROOT", "<%@ Page %>"))
    tenant.site_pages = {
        "01HOME": SitePage(
            HOME,
            "Home & more",
            [
                [
                    [text_part('<h2 id="leave">Leave</h2><p>30 days.</p>')],
                    [standard_part("Forms & lists", a="<b>HR</b>")],
                ],
                [[text_part("<p>Below.</p>")]],
            ],
            aside=[text_part("<p>Beside.</p>")],
        ),
        "01NIGHT": SitePage(NIGHT, "Night shift", [[[text_part("<p>Two people.</p>")]]]),
        "01NEW": SitePage("0c1d", "New", [[[text_part("<p>Not yet.</p>")]]], level="draft", version="0.4"),
    }
    return make_source("sharepoint", secret=SECRET, site=SITE, reads="pages", **where)


def pages_asked(tenant: Tenant) -> list[str]:
    return [path for path in tenant.asked if "expand=canvasLayout" in path]


def test_published_pages_are_read_and_then_only_what_changed(source: Source, tenant: Tenant, folder: Folder) -> None:
    assert counts(read(source)) == {"added": 2}
    assert set(paths(folder)) == {"Home.html", "Rules/Night shift.html"}
    assert paths(folder)["Home.html"] == (
        '<html><head><meta charset="utf-8"><title>Home &amp; more</title></head><body><h1>Home &amp; more</h1>'
        '<div><h2 id="leave">Leave</h2><p>30 days.</p></div><p>Forms &amp; lists</p><div><b>HR</b></div>'
        "<div><p>Below.</p></div><div><p>Beside.</p></div></body></html>"
    )
    night = item_of(source, "Rules/Night shift.html")
    assert (night.title, night.url) == ("Night shift", f"{SITE}/Documents/Rules/Night%20shift.aspx")
    tenant.asked.clear()
    assert counts(read(source)) == {"unchanged": 2}
    assert pages_asked(tenant) == []
    tenant.site_pages["01NIGHT"] = SitePage(NIGHT, "Night shift", [[[text_part("<p>Three.</p>")]]], version="2.0")
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    assert "Three." in paths(folder)["Rules/Night shift.html"]


def test_what_is_edited_after_it_was_published_stays_until_it_is_published_again(
    source: Source, tenant: Tenant, folder: Folder
) -> None:
    read(source)
    page = tenant.site_pages["01HOME"]
    page.sections, page.level, page.version = [[[text_part("<p>Half a thought</p>")]]], "draft", "1.1"
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.PARTIAL, {"unchanged": 1, "failed": 1})
    assert [problem["why"] for problem in run.problems] == [
        "“Home & more” is being edited there: it is read again when it is published."
    ]
    assert "30 days." in paths(folder)["Home.html"]
    page.level, page.version = "published", "2.0"
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    assert "Half a thought" in paths(folder)["Home.html"]
    del tenant.site_pages["01NIGHT"]
    tenant.delete("01NIGHT")
    assert counts(read(source)) == {"unchanged": 1, "withdrawn": 1}


def test_rights_come_along_with_pages_as_with_files(ruled: Source, tenant: Tenant, people: list[User]) -> None:
    tenant.change("01NIGHT", permissions=[granted(user("mia"))])
    read(ruled)
    assert who(ruled, people, "Home.html", "Rules/Night shift (aspx)/Night shift.html") == {
        "Home.html": {"chen", "lin"},
        "Rules/Night shift (aspx)/Night shift.html": {"mia"},
    }


def test_a_page_of_which_nobody_says_who_may_read_it_is_named_and_not_brought(source: Source, tenant: Tenant) -> None:
    tenant.site_pages["01HOME"].address = "https://example.sharepoint.com/sites/Other/Home.aspx"
    run = read(source)
    assert counts(run) == {"added": 1, "failed": 1}
    assert [problem["why"] for problem in run.problems] == [
        "“Home & more” is not in the library of the site's pages, which says who can read it."
    ]


def test_a_site_without_pages_says_so(source: Source, tenant: Tenant) -> None:
    tenant.site_pages.clear()
    with pytest.raises(Unreadable, match="has no pages"):
        preview_source(Source(kind="sharepoint", settings=source.settings), secret=SECRET)


@pytest.mark.parametrize("given", [{"user": "lin@example.com", "site": ""}, {"library": "Documents"}])
def test_pages_are_those_of_a_site(where: dict[str, Any], given: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="Pages are those of a site"):
        validate_settings("sharepoint", {**where, "site": SITE, "reads": "pages", **given})
