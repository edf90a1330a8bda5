from pathlib import Path

import numpy as np
import pytest

from knowledge.embedding.base import ModelMissing
from knowledge.embedding.weights import FourBit, WeightFile, installed_weight_file


@pytest.fixture(scope="module")
def weights() -> WeightFile:
    return WeightFile(installed_weight_file())


def test_header_describes_multilingual_e5_small(weights: WeightFile) -> None:
    shape = weights.shape
    assert (shape.hidden, shape.layers, shape.heads, shape.feed_forward) == (384, 12, 12, 1536)
    assert (shape.positions, shape.head, shape.vocabulary) == (512, 32, 250_037)


def test_vocabulary_has_its_special_tokens_where_it_says(weights: WeightFile) -> None:
    vocabulary = weights.vocabulary
    special = [vocabulary.pieces[n] for n in (vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unk)]
    assert special == ["<s>", "</s>", "<pad>", "<unk>"]
    assert vocabulary.pieces[vocabulary.mask] == "<mask>"
    assert len(vocabulary.scores) == len(vocabulary.pieces)
    assert vocabulary.characters["Ａ"] == "A"


def test_four_bit_blocks_hold_low_halves_first() -> None:
    nibbles = [low | high << 4 for low, high in zip(range(16), range(15, -1, -1), strict=True)]
    block = FourBit(np.array([[nibbles]], np.uint8), np.array([[0.5]], np.float16))
    expected = [(value - 8) * 0.5 for value in [*range(16), *range(15, -1, -1)]]
    assert block.dequantised().tolist() == [expected]


def test_matrix_has_the_asked_shape(weights: WeightFile) -> None:
    assert weights.four_bit("l0.fo.w", 1536).dequantised().shape == (384, 1536)
    with pytest.raises(ValueError, match="not float32"):
        weights.floats("l0.fo.w")
    with pytest.raises(ValueError, match="not 4-bit"):
        weights.four_bit("l0.fo.b", 384)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"E5S1" + bytes(200),
    ],
)
def test_other_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(ModelMissing, match="is not a readable weight file"):
        WeightFile(path)


@pytest.mark.parametrize(
    "kept",
    [
        60,
        20_000_000,
    ],
)
def test_file_cut_short_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "weights.bin"
    with installed_weight_file().open("rb") as whole:
        path.write_bytes(whole.read(kept))
    with pytest.raises(ModelMissing, match="is not a readable weight file"):
        WeightFile(path)
