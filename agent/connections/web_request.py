"""Web requests through `copilot_site.lib.outgoing.addresses`, one at a time, limited in time and size."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import requests
from urllib3.exceptions import HTTPError, LocationParseError, ReadTimeoutError, SSLError

from copilot_site.lib.outgoing.addresses import AddressPolicy, AddressRefused
from copilot_site.lib.outgoing.http import HttpSession, find_refusal
from copilot_site.lib.version import AGENT

CONNECT_S, SILENCE_S, WHOLE_S = 5, 10, 20  # a connection, a pause within an answer, an answer
PART = 65_536


class Code(StrEnum):
    OK = "ok"
    INVALID_ADDRESS = "invalid_address"
    NOT_OFFERED = "not_offered"  # neither the person nor a search named it
    REFUSED = "refused_by_rule"  # an address inside, or a host that the company does not allow
    DNS = "dns"
    TIMEOUT = "timeout"
    TLS = "tls"
    CONNECTION = "connection"
    HTTP_STATUS = "http_status"
    REDIRECTS = "too_many_redirects"
    TOO_BIG = "too_big"
    WRONG_TYPE = "wrong_type"
    EMPTY = "empty"
    UNREADABLE = "unreadable"  # a file that is damaged, locked, or costs too much to read


class RequestFailed(Exception):
    """The request failed; the code says why. status: of HTTP, where there was a response."""

    def __init__(self, code: Code, status: int | None = None) -> None:
        super().__init__(f"{code.value} ({status})" if status else code.value)
        self.code, self.status = code, status


@dataclass(frozen=True)
class WebResponse:
    """location: of a redirect, whose body is not read."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def type(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def location(self) -> str:
        """Return the target of a redirect; "" for other responses. Many servers send unescaped UTF-8."""
        if self.status not in {301, 302, 303, 307, 308}:
            return ""
        value = self.headers.get("Location", "")
        try:
            return value.encode("latin-1").decode()
        except ValueError:
            return value


class _OneHopSession(HttpSession):
    """Follows no redirects: the caller checks the next address first."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def send_web_request(
    method: str,
    url: str,
    policy: AddressPolicy,
    *,
    most_bytes: int,
    of_types: Mapping[str, int] | None = None,
    **more: Any,
) -> WebResponse:
    """Send one request with a session of its own, so that no cookie is reused.

    of_types: a different limit for responses of these types. more: as in `requests`. Raises NotRead.
    """
    with _OneHopSession(policy) as session, session.within(WHOLE_S):
        session.headers["User-Agent"] = AGENT
        try:
            with session.request(
                method, url, stream=True, allow_redirects=False, timeout=(CONNECT_S, SILENCE_S), **more
            ) as response:
                head = WebResponse(response.status_code, response.headers)
                most = (of_types or {}).get(head.type, most_bytes)
                answer = head if head.location else WebResponse(head.status, head.headers, _read_body(response, most))
        except RequestFailed:
            raise
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise RequestFailed(Code.TIMEOUT if session.is_late else _find_error_code(error)) from error
        if session.is_late:  # a response without a length ends with its connection
            raise RequestFailed(Code.TIMEOUT, answer.status)
        return answer


def find_refusal_code(refusal: AddressRefused) -> Code:
    """Distinguish a name that does not resolve from a refused address."""
    return Code.DNS if isinstance(refusal.__cause__, OSError | UnicodeError) else Code.REFUSED


def _read_body(response: requests.Response, most_bytes: int) -> bytes:
    parts, size = [], 0
    while part := response.raw.read1(PART, decode_content=True):
        parts.append(part)
        size += len(part)
        if size > most_bytes:
            raise RequestFailed(Code.TOO_BIG, response.status_code)
    return b"".join(parts)


def _find_error_code(error: BaseException) -> Code:
    refusal = find_refusal(error)
    if refusal is not None:
        return find_refusal_code(refusal)
    if isinstance(error, requests.exceptions.InvalidURL | LocationParseError | requests.exceptions.InvalidSchema):
        return Code.INVALID_ADDRESS
    behind = list(_iterate_causes(error))
    if any(isinstance(one, requests.Timeout | ReadTimeoutError | socket.timeout) for one in behind):
        return Code.TIMEOUT
    if any(isinstance(one, requests.exceptions.SSLError | SSLError) for one in behind):
        return Code.TLS
    return Code.CONNECTION


def _iterate_causes(error: BaseException | None) -> Any:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
