"""Errors between a program and the server, by who can act on them."""


class ClientError(Exception):
    """Root of what this package raises; the text is one sentence for people."""


class Refused(ClientError):
    """The server answers, and says no: the request must change. status: of HTTP. code: one word for programs."""

    def __init__(self, status: int, detail: str, code: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


class Unreachable(ClientError):
    """The server did not answer, or a stream broke and could not be taken up again. What came before it stands."""
