from pathlib import Path

import pytest

from knowledge.embedding.base import ModelMissing
from knowledge.embedding.weights import WeightFile, find_weight_file


@pytest.fixture(scope="module")
def weights() -> WeightFile:
    return WeightFile(find_weight_file())


@pytest.mark.parametrize("content", [b"", b"E5S1" + bytes(200)])
def test_other_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(ModelMissing, match="is not a readable weight file"):
        WeightFile(path)


@pytest.mark.parametrize("kept", [60, 20_000_000])
def test_file_cut_short_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "weights.bin"
    with find_weight_file().open("rb") as whole:
        path.write_bytes(whole.read(kept))
    with pytest.raises(ModelMissing, match="is not a readable weight file"):
        WeightFile(path)
