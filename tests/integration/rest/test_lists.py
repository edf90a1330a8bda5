"""Lists: exactly the visible rows, filters that never widen, pages with a cap."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from authz.permissions import Right
from tests.factories import allow, make_base, make_document, make_folder, make_group, make_user
from tests.integration.rest.world import World, signed_in

pytestmark = pytest.mark.django_db


def listed(user: User, path: str, field: str = "name", **query: Any) -> set[str]:
    """The values of one field over all rows of a list."""
    answer = signed_in(user).get(f"/api/v1/{path}", query)
    assert answer.status_code == 200, answer.content
    rows = answer.json()["results"]
    found = {row[field] for row in rows}
    assert len(found) == len(rows), "a row came twice"
    return found


class Tree:
    """
    Staff: root ─ HR ─ Pay       rules.md in HR, pay.md in Pay
    Sales: root ─ Prices         list.md in Prices
    """

    def __init__(self) -> None:
        self.staff, self.sales = make_base("Staff"), make_base("Sales")
        self.hr, self.prices = make_folder(self.staff, "HR"), make_folder(self.sales, "Prices")
        self.pay = make_folder(self.hr, "Pay")
        for folder, name in ((self.hr, "rules.md"), (self.pay, "pay.md"), (self.prices, "list.md")):
            make_document(folder, name)


@pytest.fixture
def tree() -> Tree:
    return Tree()


VISIBLE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "": (set(), set(), set()),
    "pay": ({"Staff"}, {"Pay"}, {"pay.md"}),
    "hr": ({"Staff"}, {"HR", "Pay"}, {"rules.md", "pay.md"}),
    "staff": ({"Staff"}, {"Staff", "HR", "Pay"}, {"rules.md", "pay.md"}),
    "pay prices": ({"Staff", "Sales"}, {"Pay", "Prices"}, {"pay.md", "list.md"}),
}


@pytest.mark.parametrize("through_group", [False, True], ids=["person", "group"])
def test_lists_hold_exactly_what_is_visible(tree: Tree, *, through_group: bool) -> None:
    for granted_on, (bases, folders, documents) in VISIBLE.items():
        user = make_user()
        holder = make_group(members=[user]) if through_group else user
        for place in granted_on.split():
            allow(holder, getattr(tree, place))
        assert listed(user, "knowledge-bases") == bases, granted_on
        assert listed(user, "folders") == folders, granted_on
        assert listed(user, "documents", "filename") == documents, granted_on


def test_a_right_that_is_not_view_lists_nothing(tree: Tree) -> None:
    user = make_user()
    allow(user, tree.staff, *(right for right in Right if right is not Right.VIEW))
    assert listed(user, "knowledge-bases") | listed(user, "folders") | listed(user, "documents") == set()


def test_filters_narrow_to_base_parent_folder_and_status(tree: Tree) -> None:
    user = make_user()
    allow(user, tree.staff)
    allow(user, tree.prices)
    assert listed(user, "folders", knowledge_base=tree.staff.pk) == {"Staff", "HR", "Pay"}
    assert listed(user, "folders", parent=tree.hr.pk) == {"Pay"}
    assert listed(user, "documents", "filename", knowledge_base=tree.sales.pk) == {"list.md"}
    assert listed(user, "documents", "filename", folder=tree.hr.pk) == {"rules.md"}
    assert listed(user, "documents", "filename", parse_status="pending") == {"rules.md", "pay.md", "list.md"}
    assert listed(user, "documents", "filename", parse_status="failed") == set()


def test_the_status_filter_looks_at_the_newest_version(world: World) -> None:
    user = world.people["view"]
    assert listed(user, "documents", "filename", parse_status="failed") == {"rules.md"}
    make_document(world.folder, "rules.md", "# Rules\n\nNew.")
    assert listed(user, "documents", "filename", parse_status="failed") == set()


def test_a_filter_by_something_invisible_finds_what_a_missing_one_finds(tree: Tree) -> None:
    user = make_user()
    allow(user, tree.staff)
    assert listed(user, "folders", parent=tree.prices.pk) == listed(user, "folders", parent=uuid4()) == set()
    assert listed(user, "documents", folder=tree.prices.pk) == listed(user, "documents", folder=uuid4()) == set()


def test_own_sessions_and_tokens_only(world: World) -> None:
    assert listed(world.people["all"], "sessions", "id") == {str(world.session.pk)}
    assert listed(world.people["view"], "sessions", "id") == set()
    assert listed(world.people["all"], "tokens") == {"script"}
    assert listed(world.people["view"], "tokens") == set()


def test_pages_follow_each_other_without_gap_or_repeat(tree: Tree) -> None:
    user = make_user()
    allow(user, tree.staff)
    for number in range(5):
        make_folder(tree.pay, f"Year {number}")
    client = signed_in(user)
    path, names = "/api/v1/folders?page_size=3", []
    while path:
        page = client.get(path).json()
        assert page["count"] == 8
        names += [row["name"] for row in page["results"]]
        path = page["next"]
    assert names == sorted(names)
    assert len(set(names)) == 8


# Some of them: a list is read by its own names of pages, for another list's would be the first page, for ever.
WRONG = {
    "folders?page_size=101": "page_size: ",
    "folders?page=2": "page: ",
    "folders?parent=1": "parent: ",
    "folders?cursor=x": "cursor: ",
    "documents?offset=50": "offset: ",
    "documents?search=x": "search: ",
    "documents?parse_status=lost": (
        "parse_status: “lost” is not one of the choices: pending, processing, completed, failed."
    ),
    "documents/{document}/chunks?limit=101": "limit: ",
    "documents/{document}/chunks?offset=-1": "offset: ",
    "documents/{document}/chunks?page=2": "page: ",
    "documents/{document}/versions?version=1": "version: ",
    "sessions/{session}/messages?page_size=101": "page_size: ",
    "sessions/{session}/messages?cursor=made-up": "cursor: ",
    "tokens?name=x": "name: ",
}


def test_a_wrong_query_string_is_refused_naming_the_field(world: World) -> None:
    for path, said in WRONG.items():
        answer = world.client("all").get(f"/api/v1/{path.format(document=world.document.pk, session=world.session.pk)}")
        problem = answer.json()
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json"), path
        assert [error["field"] for error in problem["errors"]] == [said.partition(":")[0]], path
        assert problem["detail"].startswith(said), path
