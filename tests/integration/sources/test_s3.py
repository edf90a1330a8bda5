"""A bucket as a source, against an S3 that checks signatures."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from knowledge.models import Folder, RunState, Source
from knowledge.sources.base import Unreadable
from knowledge.sources.connectors import s3
from knowledge.sources.connectors.s3 import signature
from knowledge.sources.reading import preview
from knowledge.sources.services import save_source
from tests.factories import make_user
from tests.integration.sources.shelf import counts, item_of, paths, read, who_sees
from tests.s3_store import BUCKET, REGION, Store, serving_s3

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
    assert (run.state, counts(run)) == (RunState.FAILED, {})
    assert "needs another sign-in (403)" in run.problem
    assert len(paths(folder)) == 2
    source.settings = {**source.settings, "bucket": "no-such-bucket"}
    with pytest.raises(Unreadable, match="There is no bucket “no-such-bucket”"):
        preview(source, secret=store.secret)


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
    signed = signature(
        "GET",
        "https://examplebucket.s3.amazonaws.com/?lifecycle",
        key="AKIAIOSFODNN7EXAMPLE",
        secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region="us-east-1",
        at=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert signed["Authorization"].endswith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
