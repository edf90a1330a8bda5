"""A search of the web is tried before it is saved; its key is for its own address, and one service at most is used."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.connections.service_keys import open_service_key, save_web_search
from agent.models import WebHost, WebSearchProvider
from agent.web.hosts import HostRules
from agent.web.search_kinds import KINDS
from agent.web.searching import build_search_service, search_web
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.site_server import Reply, Site, serving_pages
from tests.web_search import KEY, Engine, hit

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


@pytest.fixture
def site() -> Iterator[Site]:
    engine = Engine([hit("https://www.postgresql.org/docs/", "PostgreSQL", "The documentation of PostgreSQL.")])
    with serving_pages({}) as served:
        served.answers = engine.reply
        yield served


@pytest.fixture(autouse=True)
def here(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)


def form(address: str, **fields: Any) -> dict[str, Any]:
    return {"name": "ours", "kind": "searxng", "base_url": address, "most_results": "5", "is_used": "on", **fields}


def tried(user: User, address: str, **fields: Any) -> Any:
    return client_of(user).post(reverse("web-search-try"), form(address, **fields))


def test_one_that_answers_is_said_to_and_nothing_is_saved(root: User, site: Site) -> None:
    assert "It works: 1 page" in text_of(tried(root, site.url))
    assert not WebSearchProvider.objects.exists()
    assert Entry.objects.get(action=Action.WEB_SEARCH_TESTED).detail == {"address": site.url}


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(b"", 403), "check the key, and whether it allows JSON"),
        (Reply(b"<html>"), "in another format than SearXNG"),
        (Reply(b'{"results": []}'), "finds nothing"),
    ],
)
def test_one_that_does_not_says_what_to_check(reply: Reply, says: str, root: User, site: Site) -> None:
    site.answers = lambda _path: reply
    assert says in text_of(tried(root, site.url))


def test_only_administrators_of_the_system_try_one() -> None:
    for person, status in ((staff("sam"), 403), (make_user("clara"), 302)):
        assert tried(person, "http://127.0.0.1:9").status_code == status
    assert not Entry.objects.filter(action=Action.WEB_SEARCH_TESTED).exists()


def test_the_admin_takes_a_key_for_one_address_and_never_shows_it_again(root: User, site: Site) -> None:
    client: Any = client_of(root)
    add = reverse("admin:agent_websearchprovider_add")
    assert client.post(add, form(site.url, api_key=KEY)).status_code == 302
    row = WebSearchProvider.objects.get()
    assert KEY not in row.encrypted_key
    assert open_service_key(row.encrypted_key, row.base_url) == KEY
    change = reverse("admin:agent_websearchprovider_change", args=[row.pk])
    assert KEY not in client.get(change).content.decode()
    tried(root, site.url, id=str(row.pk))
    assert site.headers[-1]["Authorization"] == f"Bearer {KEY}"
    with serving_pages({}) as other:
        tried(root, other.url, id=str(row.pk))
        assert KEY not in str(other.headers)
    client.post(change, form("https://elsewhere.example"))
    row.refresh_from_db()
    assert row.encrypted_key == "", "it was for the old address"
    assert Entry.objects.filter(action=Action.WEB_SETTING_CHANGED).count() == 2


def test_one_is_used_and_using_another_ends_that(root: User) -> None:
    for name in ("first", "second"):
        save_web_search(None, WebSearchProvider(name=name, kind="searxng", base_url="http://127.0.0.1:9", is_used=True))
    assert list(WebSearchProvider.objects.filter(is_used=True).values_list("name", flat=True)) == ["second"]


def test_hosts_are_kept_in_the_admin_and_every_change_is_recorded(root: User) -> None:
    client: Any = client_of(root)
    add = reverse("admin:agent_webhost_add")
    assert client.post(add, {"entry": "*.Example.COM", "is_allowed": "on"}).status_code == 302
    assert client.post(add, {"entry": "http://x.example/"}).status_code == 200
    assert WebHost.objects.get().entry == "*.example.com"
    assert Entry.objects.get(action=Action.WEB_SETTING_CHANGED).target_name == "*.example.com"


ANSWERS: dict[str, Any] = {
    "searxng": {"results": [{"url": "https://x.example/1", "title": "One", "content": "First of them."}]},
    "brave": {
        "web": {
            "results": [
                {"url": "https://x.example/1", "title": "One", "description": "<strong>First</strong> of them."}
            ]
        }
    },
    "bing": {"webPages": {"value": [{"url": "https://x.example/1", "name": "One", "snippet": "First of them."}]}},
    "tavily": {"results": [{"url": "https://x.example/1", "title": "One", "content": "First of them.", "score": 0.9}]},
}


def test_each_kind_of_service_is_spoken_to_in_its_own_way() -> None:
    assert set(ANSWERS) == set(KINDS)
    for kind, answer in ANSWERS.items():
        asking = KINDS[kind].asking("https://s.example", KEY, "annual leave", count=3, language="en")
        assert "annual leave" in (*asking.params.values(), *(asking.body or {}).values()), kind
        assert KEY in str(asking.headers), kind
        assert KEY not in asking.url + str(asking.params) + str(asking.body), kind
        (found,) = KINDS[kind].hits(json.loads(json.dumps(answer)))
        assert (found.url, found.title) == ("https://x.example/1", "One"), kind


def test_what_a_service_says_is_told_as_plain_text_each_page_once(site: Site) -> None:
    rows = [
        hit("https://x.example/1", "<b>One</b> &amp; all", "<em>First</em> of\u200b them."),
        hit("https://x.example/1", "Again", "The same page."),
        hit("ftp://x.example/2", "No page", "Not to be read."),
        hit("https://x.example/3", "Empty", ""),
    ]
    site.answers = Engine(rows).reply
    service = build_search_service(WebSearchProvider(name="ours", kind="searxng", base_url=site.url))
    (found,) = search_web(service, "leave", HostRules())
    assert (found.title, found.text) == ("One & all", "First of them.")
