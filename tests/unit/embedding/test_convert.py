import json
import logging
import multiprocessing
import shutil
from pathlib import Path

import pytest

from knowledge.embedding.base import ModelMissing
from knowledge.embedding.bundled import BundledEmbedder
from knowledge.embedding.convert import prepare_model
from knowledge.embedding.model_files import FILES, MANIFEST, MODEL, SPACE, WEIGHTS, checked_model
from tests.embedders import bundled_model


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    """A cache folder of the test's own with an intact model."""
    shutil.copytree(bundled_model() / SPACE, tmp_path / SPACE)
    return tmp_path


def flip_a_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def test_intact_model_is_left_alone(cache_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = (cache_dir / SPACE / MODEL).stat()
    assert prepare_model(cache_dir) == checked_model(cache_dir) == cache_dir / SPACE
    assert (cache_dir / SPACE / MODEL).stat().st_mtime_ns == before.st_mtime_ns
    assert not caplog.records


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_bit_is_found_and_named(cache_dir: Path, name: str) -> None:
    flip_a_byte(cache_dir / SPACE / name)
    with pytest.raises(ModelMissing, match=f"is damaged: {name} has changed"):
        checked_model(cache_dir)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"sha256": {}}', "\x00"])
def test_unreadable_manifest_is_found(cache_dir: Path, content: str) -> None:
    (cache_dir / SPACE / MANIFEST).write_text(content)
    with pytest.raises(ModelMissing, match="unreadable manifest"):
        checked_model(cache_dir)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_lost_file_is_named(cache_dir: Path, name: str) -> None:
    (cache_dir / SPACE / name).unlink()
    with pytest.raises(ModelMissing, match=f"lacks {name}"):
        checked_model(cache_dir)


def test_damaged_model_is_repaired_with_one_sentence(cache_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    flip_a_byte(cache_dir / SPACE / MODEL)
    with caplog.at_level(logging.WARNING):
        prepare_model(cache_dir)
    assert [record.getMessage() for record in caplog.records] == [
        f"The bundled embedding model in {cache_dir / SPACE} is damaged: {MODEL} has changed. It is built again now."
    ]
    assert checked_model(cache_dir)
    assert [path.name for path in cache_dir.iterdir()] == [SPACE]


def test_model_in_one_file_as_older_releases_wrote_it_is_built_again(cache_dir: Path) -> None:
    folder = cache_dir / SPACE
    (folder / WEIGHTS).unlink()
    old = json.loads((folder / MANIFEST).read_text())
    old["sha256"] = {MODEL: old["sha256"][MODEL]}
    (folder / MANIFEST).write_text(json.dumps(old))
    with pytest.raises(ModelMissing, match=f"lacks {WEIGHTS}"):
        checked_model(cache_dir)
    assert prepare_model(cache_dir) == checked_model(cache_dir)


def test_conversion_repeats_to_the_byte(tmp_path: Path) -> None:
    prepare_model(tmp_path)
    old = json.loads((bundled_model() / SPACE / MANIFEST).read_text())
    assert json.loads((tmp_path / SPACE / MANIFEST).read_text()) == old


def test_processes_that_start_together_leave_one_intact_model(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=prepare_model, args=(tmp_path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert checked_model(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [SPACE]


def test_weights_that_cannot_be_read_leave_nothing_behind(tmp_path: Path) -> None:
    broken = tmp_path / "weights.bin"
    broken.write_bytes(b"not weights")
    with pytest.raises(ModelMissing, match="not a readable weight file"):
        prepare_model(tmp_path / "cache", weight_file=broken)
    assert list((tmp_path / "cache").iterdir()) == []


def test_embedder_never_converts_by_itself(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="has not been prepared yet"):
        BundledEmbedder(tmp_path).embed_query("年假")
    assert list(tmp_path.iterdir()) == []
