"""WhiteNoise below an asynchronous server."""

from django.http import HttpRequest
from whitenoise.middleware import WhiteNoiseFileResponse, WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from copilot_site.lib.files import SentInParts


class SentStaticFile(SentInParts, WhiteNoiseFileResponse):  # type: ignore[misc]
    """A static file, a part at a time."""


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves static files; WhiteNoise's own responses would be read whole under ASGI, with a warning."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> SentStaticFile:
        """The file, or the answer that the browser has it already."""
        found = static_file.get_response(request.method, request.META)
        answer = SentStaticFile(found.file or (), status=int(found.status))
        del answer["Content-Type"]  # Django's default; the file's own is among its headers
        for name, value in found.headers:
            answer[name] = value
        return answer
