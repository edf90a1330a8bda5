"""A bucket, against an S3 that checks signatures, and a WebDAV folder, against wsgidav, as sources."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cheroot import wsgi
from wsgidav.fs_dav_provider import FilesystemProvider  # type: ignore[import-untyped]
from wsgidav.wsgidav_app import WsgiDAVApp  # type: ignore[import-untyped]

from knowledge.models import Folder, Source, SourceRunState
from knowledge.sources.base import Unreadable
from knowledge.sources.connectors import s3
from knowledge.sources.connectors.s3 import sign_s3_request
from knowledge.sources.http import SourceClient, SourceResponse
from knowledge.sources.reading import preview_source
from knowledge.sources.services import save_source
from tests.factories import make_user
from tests.integration.sources.shelf import counts, item_of, paths, read, who_sees
from tests.s3_store import BUCKET, REGION, Store, serving_s3
from tests.site_server import Reply

Make = Callable[..., Source]

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(settings: Any) -> Iterator[Store]:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    with serving_s3() as store:
        store.put("Hand book/a b.md", "first")
        store.put("Hand book/重要/规则 +(1).md", "规则")
        store.put("Hand book/made.exe", "no document")
        store.put("beside.md", "beside")
        yield store


@pytest.fixture
def source(store: Store, make_source: Make) -> Source:
    where = {"url": store.url, "bucket": BUCKET, "prefix": "Hand book", "region": REGION, "access_key": store.key}
    return make_source("s3", secret=store.secret, **where)


def test_a_prefix_is_listed_and_then_only_what_changed_is_read(
    source: Source, store: Store, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "PAGE", 1)
    assert counts(read(source)) == {"added": 2}
    assert paths(folder) == {"a b.md": "first", "重要/规则 +(1).md": "规则"}
    before = item_of(source, "a b.md").read_at
    assert counts(read(source)) == {"unchanged": 2}
    assert item_of(source, "a b.md").read_at == before
    store.put("Hand book/a b.md", "second text")
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}


def test_a_wrong_key_or_bucket_is_named_and_takes_nothing_away(source: Source, store: Store, folder: Folder) -> None:
    read(source)
    save_source(None, source, secret="coffee")
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "needs another sign-in (403)" in run.problem
    assert len(paths(folder)) == 2
    source.settings = {**source.settings, "bucket": "no-such-bucket"}
    with pytest.raises(Unreadable, match="There is no bucket “no-such-bucket”"):
        preview_source(source, secret=store.secret)


def test_rights_come_along_by_a_file_of_rules(source: Source, store: Store, folder: Folder) -> None:
    source.takes_rights = True
    save_source(None, source)
    assert "There is no .rights.yaml" in read(source).problem
    lin, wei = make_user("lin"), make_user("wei")
    store.put("Hand book/.rights.yaml", 'rights:\n- below: ""\n  people: [lin, wei]\n- below: 重要\n  people: [lin]\n')
    assert counts(read(source)) == {"added": 2}
    people = [lin, wei, make_user("zhao")]
    assert who_sees(source, "a b.md", people) == {"lin", "wei"}
    assert who_sees(source, "重要/规则 +(1).md", people) == {"lin"}


def test_the_signature_of_the_example_in_amazons_manual() -> None:
    """docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, “Example: GET Bucket Lifecycle”."""
    signed = sign_s3_request(
        "GET",
        "https://examplebucket.s3.amazonaws.com/?lifecycle",
        key="AKIAIOSFODNN7EXAMPLE",
        secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region="us-east-1",
        at=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert signed["Authorization"].endswith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")


# --- a WebDAV folder, against wsgidav ---


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    (folder / "Hand book" / "重要").mkdir(parents=True)
    (folder / "Hand book" / "a b.md").write_text("first")
    (folder / "Hand book" / "重要" / "规则.md").write_text("规则")
    (folder / "beside.md").write_text("beside")
    return folder


@pytest.fixture
def url(share: Path, settings: Any) -> Iterator[str]:
    """The share for robot, whose password is tea."""
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    users = {"*": {"robot": {"password": "tea"}}}
    app = WsgiDAVApp(
        {
            "provider_mapping": {"/dav": FilesystemProvider(str(share))},
            "simple_dc": {"user_mapping": users},
            "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
            "verbose": 0,
            "logging": {"enable": False},
        }
    )
    server = wsgi.Server(("127.0.0.1", 0), app, numthreads=2)
    server.prepare()
    threading.Thread(target=server.serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.bind_addr[1]}/dav"
    finally:
        server.stop()


@pytest.fixture
def webdav_source(url: str, make_source: Make) -> Source:
    return make_source("webdav", secret="tea", url=f"{url}/Hand%20book", username="robot")


def test_only_what_changed_is_read_again_and_a_wrong_password_takes_nothing_away(
    webdav_source: Source, share: Path, folder: Folder
) -> None:
    assert counts(read(webdav_source)) == {"added": 2}
    assert paths(folder) == {"a b.md": "first", "重要/规则.md": "规则"}
    before = item_of(webdav_source, "a b.md").read_at
    assert counts(read(webdav_source)) == {"unchanged": 2}
    assert item_of(webdav_source, "a b.md").read_at == before
    (share / "Hand book" / "a b.md").write_text("second text")
    assert counts(read(webdav_source)) == {"changed": 1, "unchanged": 1}
    save_source(None, webdav_source, secret="coffee")
    run = read(webdav_source)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "needs another sign-in (401)" in run.problem
    assert len(paths(folder)) == 2


def test_rights_come_along_by_a_file_of_rules_of_a_webdav_folder(webdav_source: Source, share: Path) -> None:
    webdav_source.takes_rights = True
    save_source(None, webdav_source)
    assert "There is no .rights.yaml" in read(webdav_source).problem
    (share / "Hand book" / ".rights.yaml").write_text('rights:\n- below: ""\n  people: [nobody]\n')
    assert counts(read(webdav_source)) == {"added": 2, "failed": 1}


def test_a_server_that_names_what_lies_elsewhere_is_not_followed(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    names = ("/dav/inside.md", "/etc/passwd.md", "/dav/../up.md", "http://127.0.0.2/dav/other.md")
    body = "".join(f"<response><href>{name}</href><propstat><prop/></propstat></response>" for name in names)
    reply = Reply(f"<multistatus xmlns='DAV:'>{body}</multistatus>".encode(), 207)
    monkeypatch.setattr(
        SourceClient, "request", lambda self, method, url, **more: SourceResponse(url, reply.status, {}, reply.body)
    )
    shown = preview_source(Source(kind="webdav", settings={"url": "http://127.0.0.1:1/dav/"}), secret="")
    assert "inside.md" in shown.titles
    assert not {"passwd.md", "up.md"} & set(shown.titles)


def test_an_answer_that_is_odd_costs_itself_alone(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    size = "<propstat><prop><getcontentlength>a lot</getcontentlength></prop></propstat>"
    body = f"<response><href>http://[x</href></response><response><href>/dav/inside.md</href>{size}</response>"
    reply = f"<multistatus xmlns='DAV:'>{body}</multistatus>".encode()
    monkeypatch.setattr(SourceClient, "request", lambda self, method, url, **more: SourceResponse(url, 207, {}, reply))
    shown = preview_source(Source(kind="webdav", settings={"url": "http://127.0.0.1:1/dav/"}), secret="")
    assert (shown.titles, shown.problems) == (("inside.md",), ())
