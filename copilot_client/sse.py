"""Server-Sent Events out of bytes, however they are cut. Only line feeds end a line: JSON may hold U+2028 and its like."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    id: str
    data: str


class Frames:
    """Takes bytes, gives frames; comments, which only keep a connection open, give nothing."""

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._data: list[str] = []

    def take(self, piece: bytes) -> Iterator[Frame]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if frame := self._parse_line(line.removesuffix(b"\r").decode()):
                yield frame

    def _parse_line(self, line: str) -> Frame | None:
        name, _colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        elif not line and self._data:
            frame = Frame(self._id, "\n".join(self._data))
            self._data = []
            return frame
        return None
