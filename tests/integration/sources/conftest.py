"""A folder that the operator opened to sources, and sources that fill a folder of a base."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from knowledge.models import Folder, KnowledgeBase, Source


@pytest.fixture
def opened(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "opened"
    folder.mkdir()
    settings.SOURCE_FOLDERS = (str(folder),)
    settings.SOURCE_CACHE = tmp_path / "cache"
    return folder


@pytest.fixture
def base(db: None) -> "KnowledgeBase":
    from tests.factories import make_base

    return make_base()


@pytest.fixture
def folder(base: "KnowledgeBase") -> "Folder":
    from tests.factories import make_folder

    return make_folder(base, "Handbook")


@pytest.fixture
def make_source(folder: "Folder") -> "Callable[..., Source]":
    from knowledge.models import Source
    from knowledge.sources.services import save_source

    def make(kind: str, secret: str = "", **settings: Any) -> Source:
        source = Source(
            name=f"{kind} source", folder=folder, kind=kind, settings=settings, every_minutes=0, grace_hours=0
        )
        save_source(None, source, secret=secret)
        return source

    return make


@pytest.fixture
def ruled(source: "Source") -> "Source":
    """The source of a test's file, whose rights come along."""
    from knowledge.sources.services import save_source

    source.takes_rights = True
    save_source(None, source)
    return source
