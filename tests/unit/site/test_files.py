"""Stored files go out in parts, whether the server is synchronous or not."""

import io

from copilot_site.lib.storage.files import StreamedFile

DATA = bytes(range(256)) * 1024


class Watched(io.BytesIO):
    """A file that knows how much of it was read at once."""

    largest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        self.largest = max(self.largest, len(part))
        return part


async def test_under_asgi_no_more_than_a_part_is_in_memory() -> None:
    file = Watched(DATA)
    answer = StreamedFile(file)
    parts = [part async for part in answer]
    assert b"".join(parts) == DATA
    assert file.largest <= StreamedFile.block_size
    assert len(parts) == len(DATA) // StreamedFile.block_size
