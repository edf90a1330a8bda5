"""Handing out files, stored ones and ones that are made on the way."""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import cast

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from whitenoise.middleware import WhiteNoiseFileResponse, WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class DownloadResponse(HttpResponse):
    """A small file of no type, which a browser stores and never shows."""

    def __init__(self, content: bytes, filename: str) -> None:
        disposition = content_disposition_header(as_attachment=True, filename=filename) or "attachment"
        headers = {"Content-Disposition": disposition}
        super().__init__(content, content_type="application/octet-stream", headers=headers)


class SentInParts(StreamingHttpResponse):
    """A response that also streams under ASGI, where Django would first read all of it into memory.

    Each part is made in the request's thread; while it is sent, however slowly, no thread works for it.
    """

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = cast("Iterator[bytes]", self.streaming_content)
        while part := await sync_to_async(lambda: next(parts, b""))():
            yield part


class StreamedFile(SentInParts, FileResponse):
    """A stored file. Sending needs no database: the connection is returned first, or a few slow readers would hold them all."""

    block_size = 65_536  # bytes; a hop between threads for each

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await sync_to_async(close_old_connections)()
        async for part in super().__aiter__():
            yield part


class StreamedPieces(SentInParts):
    """A download that is made while it is sent. pieces: of any size; they are sent in blocks."""

    reads_while_sent = True  # and so keeps its connection
    block_size = 65_536  # bytes; a hop between threads for each

    def __init__(self, pieces: Iterable[bytes], *, media_type: str, filename: str) -> None:
        disposition = f'attachment; filename="{filename}"'
        super().__init__(
            self._join_into_blocks(pieces), content_type=media_type, headers={"Content-Disposition": disposition}
        )

    def _join_into_blocks(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        block = bytearray()
        for piece in pieces:
            block += piece
            if len(block) >= self.block_size:
                yield bytes(block)
                block.clear()
        if block:
            yield bytes(block)


class SentStaticFile(SentInParts, WhiteNoiseFileResponse):  # type: ignore[misc]
    """A static file, a part at a time."""


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves static files; WhiteNoise's own responses would be read whole under ASGI, with a warning."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> SentStaticFile:
        """Return the file, or 304 if the browser has it already."""
        found = static_file.get_response(request.method, request.META)
        answer = SentStaticFile(found.file or (), status=int(found.status))
        del answer["Content-Type"]  # Django's default; the file's own is among its headers
        for name, value in found.headers:
            answer[name] = value
        return answer
