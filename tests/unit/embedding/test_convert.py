import logging
import multiprocessing
import shutil
from pathlib import Path

import pytest

from knowledge.embedding.base import ModelMissing
from knowledge.embedding.bundled import BundledEmbedder
from knowledge.embedding.convert import prepare_model
from knowledge.embedding.model_files import FILES, MANIFEST, MODEL, SPACE, find_intact_model
from tests.embedders import bundled_model


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    """A cache folder of the test's own with an intact model."""
    shutil.copytree(bundled_model() / SPACE, tmp_path / SPACE)
    return tmp_path


def flip_a_bit(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def test_intact_model_is_left_alone(cache_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = (cache_dir / SPACE / MODEL).stat()
    assert prepare_model(cache_dir) == find_intact_model(cache_dir) == cache_dir / SPACE
    assert (cache_dir / SPACE / MODEL).stat().st_mtime_ns == before.st_mtime_ns
    assert not caplog.records


def test_lost_and_changed_files_are_named(cache_dir: Path) -> None:
    folder = cache_dir / SPACE
    for name in (*FILES, MANIFEST):
        (folder / name).rename(cache_dir / name)
        with pytest.raises(ModelMissing, match=f"lacks {name}"):
            find_intact_model(cache_dir)
        (cache_dir / name).rename(folder / name)
    for name in FILES:
        flip_a_bit(folder / name)
        with pytest.raises(ModelMissing, match=f"is damaged: {name} has changed"):
            find_intact_model(cache_dir)
        flip_a_bit(folder / name)
    assert find_intact_model(cache_dir)


def test_unreadable_manifest_is_found(cache_dir: Path) -> None:
    for content in ("", "[]", "{}", '{"sha256": {}}', "\x00"):
        (cache_dir / SPACE / MANIFEST).write_text(content)
        with pytest.raises(ModelMissing, match="unreadable manifest"):
            find_intact_model(cache_dir)


def test_processes_that_start_together_replace_a_damaged_model_by_the_same_bytes(cache_dir: Path) -> None:
    flip_a_bit(cache_dir / SPACE / MODEL)
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=prepare_model, args=(cache_dir,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert (find_intact_model(cache_dir) / MANIFEST).read_bytes() == (bundled_model() / SPACE / MANIFEST).read_bytes()
    assert [path.name for path in cache_dir.iterdir()] == [SPACE]


def test_weights_that_cannot_be_read_leave_the_folder_as_it_was(
    cache_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    flip_a_bit(cache_dir / SPACE / MODEL)
    broken = cache_dir / "weights.bin"
    broken.write_bytes(b"not weights")
    with caplog.at_level(logging.WARNING), pytest.raises(ModelMissing, match="not a readable weight file"):
        prepare_model(cache_dir, weight_file=broken)
    assert [record.getMessage() for record in caplog.records] == [
        f"The bundled embedding model in {cache_dir / SPACE} is damaged: {MODEL} has changed. It is built again now."
    ]
    assert {path.name for path in cache_dir.iterdir()} == {SPACE, "weights.bin"}


def test_embedder_never_converts_by_itself(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="has not been prepared yet"):
        BundledEmbedder(tmp_path).embed_query("年假")
    assert list(tmp_path.iterdir()) == []
