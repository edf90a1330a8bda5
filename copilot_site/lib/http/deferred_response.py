"""A response whose status and body are known later: meanwhile it holds no thread, connection or seat."""

from collections.abc import Awaitable, Callable

from django.http import HttpResponse


class Later(HttpResponse):
    """The response of a view that waits for something. made: waits, then makes the answer; raises nothing.

    The middlewares see it with status 202; its headers, which they have set, stay. `SeatedHandler` awaits it.
    """

    def __init__(self, made: Callable[[], Awaitable[HttpResponse]]) -> None:
        super().__init__(status=202)
        self._made = made

    async def settled(self) -> HttpResponse:
        answer = await self._made()
        self.status_code, self.content = answer.status_code, answer.content
        for name in ("Content-Type", "Retry-After"):
            if name in answer:
                self[name] = answer[name]
        self["Content-Length"] = str(len(self.content))
        return self
