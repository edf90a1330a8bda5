"""Every file of every shared corpus is read and cut as an upload is, in the real child process: none fails, none has no text."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from evals.corpus import load_dataset
from knowledge.ingestion.stages import split_into_passages
from knowledge.models import KnowledgeBase
from knowledge.parsers.base import UnreadableFile, list_accepted_extensions, load_parsers
from knowledge.parsers.sandbox import parse_in_child, servers
from tests.evaluation_data import data_folder
from tests.factories import prepare_embedder

pytestmark = pytest.mark.data

TREES = {"k8s_docs": "raw", "hb_sourcegraph": "raw", "docparse": "", "cases": "documents"}
"""Corpora of files, and where in the folder they are."""
ROWS = ("cmrc2018", "squad2_dev", "xquad_en_zh")
"""Corpora of rows: each becomes a file, as `evaluate_retrieval` makes them."""
OTHERS = {
    "odd_docs": "damaged on purpose: tests/integration/parsers/test_odd_docs.py",
    "nl2sql_defog": "databases",
    "sample_dbs": "databases",
}


@pytest.fixture(scope="module", autouse=True)
def ended_servers() -> Iterator[None]:
    load_parsers()
    prepare_embedder()
    yield
    servers.stop()


def failures(files: Iterable[Path]) -> dict[str, str]:
    """Those that would end as failed, with the reason."""
    found: dict[str, str] = {}
    for path in files:
        try:
            parsed = parse_in_child(path, filename=path.name)
        except UnreadableFile as problem:
            found[str(path)] = f"{problem.code}: {problem}"
            continue
        if not split_into_passages(parsed, KnowledgeBase()):
            found[str(path)] = "no_text"
    return found


def test_every_folder_of_the_data_is_known() -> None:
    assert {path.name for path in data_folder("").iterdir() if path.is_dir()} == {*TREES, *ROWS, *OTHERS}


@pytest.mark.parametrize("name", TREES)
def test_every_file_of_a_tree_is_read(name: str) -> None:
    tree = data_folder(name) / TREES[name]
    files = sorted(path for path in tree.rglob("*") if path.suffix.lower() in list_accepted_extensions())
    assert files
    assert failures(files) == {}


@pytest.mark.parametrize("name", ROWS)
def test_every_row_of_a_corpus_is_read(name: str, tmp_path: Path) -> None:
    rows = [row for row in load_dataset(data_folder(name)).corpus if row.text.strip()]
    assert rows
    for number, row in enumerate(rows):
        (tmp_path / f"{number:06d}.md").write_text(row.text)
    assert failures(sorted(tmp_path.iterdir())) == {}
