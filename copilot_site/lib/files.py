"""Handing out stored files."""

from collections.abc import AsyncIterator, Iterator
from typing import cast

from asgiref.sync import sync_to_async
from django.http import FileResponse


class StreamedFile(FileResponse):
    """A FileResponse that also streams under ASGI, where Django would first read the whole file into memory."""

    block_size = 65_536  # bytes; a hop between threads for each

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = cast("Iterator[bytes]", self.streaming_content)
        while part := await sync_to_async(lambda: next(parts, b""))():
            yield part
