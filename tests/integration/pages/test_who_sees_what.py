"""What pages say, beyond the status that the table of addresses has for everybody: nothing of what is taken back or not theirs."""

import pytest
from django.urls import reverse

from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.models import Document, Folder
from tests.integration.pages.house import SENTENCE, client_of, plain
from tests.integration.routes.addresses import Route
from tests.integration.routes.table import actions, pages
from tests.integration.routes.world import World
from tests.sharing import share_world

MINE = "chat/"  # the person's own words stay; what they quoted is masked
OF_DATA = "data/"  # stands on the grant of a data source, not on a folder's
PAGES = [route for route in pages() if not route.path.startswith("tokens/")]
ACTIONS = actions()
each_page = pytest.mark.parametrize("page", PAGES, ids=str)
each_action = pytest.mark.parametrize("action", ACTIONS, ids=str)


shared_world, world = share_world("world", World)


def test_the_table_has_the_pages_and_actions() -> None:
    assert (len(PAGES), len(ACTIONS)) == (18, 15), (
        "a page that is new is tried here by itself: say how many there are now"
    )


def test_nobody_is_sent_to_sign_in_and_back(world: World) -> None:
    for page in PAGES:
        path = world.address(page)
        answer = client_of(None).get(path)
        assert answer.status_code == 302, path
        assert answer["Location"].startswith("/sign-in/?next="), path
    assert client_of(None).get(path, headers={"Accept": "application/json"}).status_code == 401


@each_page
def test_the_page_is_gone_with_the_grant(world: World, page: Route) -> None:
    path, client = world.address(page), client_of(world.reader)
    assert client.get(path, follow=True).status_code == 200
    revoke_rights(None, [Right.VIEW], world.folder, of=world.reader)
    answer = client.get(path)
    assert answer.status_code == (200 if page.path.startswith((MINE, OF_DATA)) else 404)
    assert SENTENCE not in plain(answer.content)


@each_action
def test_what_is_refused_changes_nothing_nor_does_a_link(world: World, action: Route) -> None:
    before = rows(world)
    for who in ("anon", "none", "else", "view"):
        assert world.send(world.clients[who], action).status_code in {302, 403, 404}, who
    if action.method == "post":
        assert world.clients["all"].get(world.address(action)).status_code == 405
    assert rows(world) == before


def test_lists_name_exactly_what_a_person_may_see(world: World) -> None:
    shown = [world.document.title, world.below.name]
    hidden = [world.hidden.title, world.sibling.name]
    for path in (reverse("base", args=[world.base.pk]), reverse("folder", args=[world.folder.pk])):
        body = plain(client_of(world.reader).get(path, follow=True).content)
        assert [name for name in shown if name not in body] == []
        assert [name for name in hidden if name in body] == []
    assert world.base.name not in plain(client_of(world.stranger).get("/library/").content)
    assert world.base.name not in plain(client_of(world.stranger).get("/").content)


def rows(world: World) -> tuple[set[object], set[object]]:
    """What an action could have added, changed or taken away; the rows that addresses speak of are made first."""
    assert world.document.pk
    folders = Folder.unscoped.values_list("pk", "name", "parent_id")
    return set(Document.unscoped.values_list("pk", flat=True)), set(folders)
