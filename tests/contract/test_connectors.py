"""Every kind of source keeps to the same rules: whom it sends a secret to, what it connects to, and what it takes from another server."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from copilot_site.lib.errors import InvalidInput
from knowledge.models import Source
from knowledge.sources.answers import iterate_pages
from knowledge.sources.base import Connector, ConnectorContext, ListedItem, Unreadable, connectors, load_connectors
from knowledge.sources.reading import SourcePreview, find_connector_type, preview_source, validate_settings
from tests.site_server import Page, Reply, Site, serving_pages

load_connectors()
ON_THIS_MACHINE = {"folder"}
WHERE: dict[str, dict[str, Any]] = {  # what a kind needs beside the address of its server
    "confluence": {"space": "ENG"},
    "dokuwiki": {},
    "feishu": {"app_id": "cli_1", "space": "1"},
    "git": {},
    "mediawiki": {},
    "s3": {"bucket": "handbook", "access_key": "key"},
    "sharepoint": {"tenant": "t", "client_id": "c", "user": "lin@example.com"},
    "web": {},
    "webdav": {},
}
SAYING_RIGHTS = sorted(name for name in WHERE if find_connector_type(name).takes_rights and name != "git")

pytestmark = pytest.mark.django_db


def settings_of(kind: str, url: str) -> dict[str, Any]:
    addresses: dict[str, Any] = {"addresses": [url]} if kind == "web" else {"url": url}
    return {**WHERE[kind], **addresses, **({"login": url} if kind == "sharepoint" else {})}


def source_of(kind: str, url: str) -> Source:
    return Source(kind=kind, settings=settings_of(kind, url))


def opened(kind: str, url: str, secret: str = "") -> Connector:
    return find_connector_type(kind)(
        validate_settings(kind, settings_of(kind, url)), ConnectorContext(secret, cache="contract")
    )


class Everywhere(dict[str, Page]):
    """One answer at every path."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply

    def get(self, _path: str, _default: Any = None) -> Any:
        return self.reply


@pytest.fixture
def other(settings: Any) -> Iterator[Site]:
    """A server that says yes to everything."""
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    with serving_pages({}) as site:
        site.pages = Everywhere(Reply(b'{"code": 0, "data": {}}', type="application/json"))
        yield site


def test_every_kind_is_held_to_this_contract() -> None:
    assert set(connectors.names()) == WHERE.keys() | ON_THIS_MACHINE


@pytest.mark.parametrize("kind", sorted(WHERE))
def test_a_secret_is_never_sent_in_the_clear_to_the_internet(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("copilot_site.lib.outgoing.addresses.look_up_host", lambda host, port: ["93.184.216.34"])
    with pytest.raises(InvalidInput, match="only sent over https"):
        opened(kind, "http://source.example/a/", "tea")


@pytest.mark.parametrize("kind", sorted(WHERE))
def test_addresses_inside_are_refused_unless_they_are_named(kind: str, other: Site, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private", "public")
    with pytest.raises(InvalidInput, match="may not connect to"):
        opened(kind, f"{other.url}/")
    assert other.asked == []


@pytest.mark.parametrize("kind", sorted(WHERE))
def test_a_server_of_another_kind_brings_nothing(kind: str, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    replies = [Reply(b"not here", 404), Reply(b"{}", type="application/json"), Reply(b"hello")]
    with serving_pages({}) as site:
        for reply in replies[:2] if kind == "web" else replies:
            site.pages = Everywhere(reply)
            found = SourcePreview(0, False, (), ("refused",))
            with suppress(Unreadable):
                found = preview_source(source_of(kind, f"{site.url}/"), secret="")
            assert (found.count, found.titles) == (0, ()), reply


@pytest.mark.parametrize("kind", SAYING_RIGHTS)
def test_what_another_server_answers_is_neither_a_list_nor_a_file_nor_rights(kind: str, other: Site) -> None:
    moved = Reply(status=302, headers={"Location": f"{other.url}/"})
    with serving_pages({}) as site:
        site.pages = Everywhere(moved)
        connector = opened(kind, f"{site.url}/", "tea")
        item = ListedItem("a.md", "a.md", "1")
        for read in (lambda: list(connector.listing()), lambda: connector.fetch(item), connector.rights):
            with pytest.raises(Unreadable):
                read()
        connector.close()
        assert site.asked
    assert other.asked == []


def test_a_list_that_names_the_same_page_again_ends() -> None:
    assert list(iterate_pages(lambda place: place, "a", lambda _answer: "b")) == ["a", "b"]
    assert list(iterate_pages(lambda place: place, "a", lambda _answer: None)) == ["a"]


def test_every_kind_has_words_for_people() -> None:
    for name in connectors.names():
        kind = find_connector_type(name)
        assert all(str(words) for words in (kind.label, kind.about, kind.noun)), name
