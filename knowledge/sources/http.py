"""The HTTP client of sources: addresses that `outgoing.build_page_policy` allows, at the source's pace, with limits of time and size."""

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from time import sleep
from typing import Annotated, Any
from urllib.parse import urljoin, urlsplit

import requests
from django.utils.translation import gettext as _
from pydantic import AfterValidator
from urllib3.exceptions import HTTPError

from copilot_site.lib.outgoing.addresses import (
    PUBLIC,
    AddressPolicy,
    AddressRefused,
    build_page_policy,
    check_url,
    parse_url,
)
from copilot_site.lib.outgoing.http import HttpSession, find_refusal
from copilot_site.lib.version import AGENT
from knowledge.sources.base import Connector, ConnectorContext, Passing, Unreadable

CONNECT_S, SILENCE_S, WHOLE_S = 10, 30, 120  # a connection, a pause within an answer, an answer
MAX_BYTES = 50_000_000  # of one answer, unpacked
MAX_REDIRECTS = 5
REDIRECTS = {301, 302, 303, 307, 308}
PASSING = {408, 425, 429, 500, 502, 503, 504}
MAX_WAIT_S = 60  # that a Retry-After is followed within a run
PART = 65_536


@dataclass(frozen=True)
class SourceResponse:
    """url: where it came from in the end."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def type(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()


class _PlainSession(HttpSession):
    """Follows nothing by itself, and so reads nothing of a redirect: `requests` would read it whole to find the next request."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


class SourceClient:
    """One run's way out. headers: sent to the origin of `base` alone, such as what signs in; sign: likewise, for each request's
    method and address. follows_elsewhere: whether a redirect may lead to another origin; where files, rules or rights are read,
    what another server answers is none of them. answers: statuses that are answers here, too, such as errors that the body explains.
    """

    def __init__(
        self,
        base: str,
        *,
        headers: Mapping[str, str] | None = None,
        sign: Callable[[str, str], Mapping[str, str]] | None = None,
        pace: Callable[[], None] = lambda: None,
        follows_elsewhere: bool = True,
        answers: Collection[int] = (),
    ) -> None:
        self._session = _PlainSession(build_page_policy())
        self._session.headers["User-Agent"] = AGENT
        self._origin, self._own, self._pace = parse_origin(base), dict(headers or {}), pace
        self._sign = sign or (lambda _method, _url: {})
        self._follows_elsewhere, self._answers = follows_elsewhere, answers

    def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> SourceResponse:
        return self.request("GET", url, headers=headers)

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> SourceResponse:
        """Return the answer, after redirects of a GET; 304 and 404 are answers. Raises Unreadable, Passing for a temporary failure."""
        for attempt in (1, 2):
            answer = self._follow_redirects(method, url, headers or {}, body)
            wait = _parse_retry_after(answer) if answer.status in {429, 503} and attempt == 1 else None
            if wait is None:
                return answer if answer.status in self._answers else _check_status(answer)
            sleep(wait)
        raise AssertionError  # the second answer is judged

    def close(self) -> None:
        self._session.close()

    def _follow_redirects(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> SourceResponse:
        for _hop in range(MAX_REDIRECTS + 1):
            answer = self._send_once(method, url, headers, body)
            target = _find_redirect_target(answer)
            if not target:
                return answer
            if method not in {"GET", "HEAD"} or not (
                self._follows_elsewhere or parse_origin(url) == parse_origin(target)
            ):
                raise Unreadable(
                    _("%(url)s redirects elsewhere. Enter the final address.") % {"url": strip_url_query(url)}
                )
            headers = {name: value for name, value in headers.items() if not name.startswith("If-")}  # of another page
            url = target
        raise Unreadable(_("%(url)s redirects endlessly.") % {"url": strip_url_query(url)})

    def _send_once(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> SourceResponse:
        parse_url(url)  # before anything of it is sent
        self._pace()
        own = {**self._own, **self._sign(method, url)} if parse_origin(url) == self._origin else {}
        sent = {**headers, **own}
        try:
            with (
                self._session.within(WHOLE_S),
                self._session.request(
                    method,
                    url,
                    headers=sent,
                    data=body,
                    stream=True,
                    allow_redirects=False,
                    timeout=(CONNECT_S, SILENCE_S),
                ) as response,
            ):
                answer = SourceResponse(url, response.status_code, response.headers)
                answer = answer if _find_redirect_target(answer) else replace(answer, body=_read_body(response, url))
        except AddressRefused:
            raise
        except (requests.RequestException, HTTPError, OSError) as error:
            refusal = find_refusal(error)
            if refusal is not None:
                raise refusal from error
            if isinstance(error, requests.exceptions.SSLError):
                raise Unreadable(_("%(url)s has no trusted certificate.") % {"url": strip_url_query(url)}) from error
            if not self._session.is_late:
                raise Passing(_("%(url)s does not answer.") % {"url": strip_url_query(url)}) from error
        if self._session.is_late:  # its connection was closed, like after an answer without a length
            raise Passing(_("%(url)s does not stop sending.") % {"url": strip_url_query(url)})
        return answer


class HttpConnector(Connector):
    """A connector with one client, which `connect` opens."""

    def connect(self, url: str, reading: ConnectorContext, **options: Any) -> None:
        """Open the client for a server. options: as Client takes them. Raises AddressRefused."""
        check_safe_address(url, has_secret=bool(reading.secret))
        self._client = SourceClient(url, pace=reading.pace, **options)

    def close(self) -> None:
        self._client.close()


def parse_origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port. Raises AddressRefused."""
    host, port = parse_url(url)
    return urlsplit(url).scheme, host, port


def format_site(url: str) -> str:
    """Return the server of an address, for which a secret is stored: https://wiki.example.com:443."""
    scheme, host, port = parse_origin(url)
    return f"{scheme}://{host}:{port}"


def build_basic_auth(username: str, secret: str) -> dict[str, str]:
    """Return the header of basic authentication; none without a secret."""
    pair = b64encode(f"{username}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {pair}"} if secret else {}


def validate_url(url: str) -> str:
    """Return the address again, for a field of a source's settings. Raises ValueError for an invalid one."""
    try:
        parse_origin(url)
    except AddressRefused as error:
        raise ValueError(str(error)) from error
    return url


Address = Annotated[str, AfterValidator(validate_url)]
"""An address of settings, as it is written."""
FolderAddress = Annotated[str, AfterValidator(lambda url: f"{validate_url(url).rstrip('/')}/")]
"""An address of settings, with a slash at its end."""
Root = Annotated[str, AfterValidator(lambda url: validate_url(url).rstrip("/"))]
"""An address of settings, without a slash at its end."""
RootOrNone = Annotated[str, AfterValidator(lambda url: validate_url(url).rstrip("/") if url else "")]
"""Likewise, which may be left empty."""


def check_safe_address(url: str, *, has_secret: bool) -> None:
    """Raise AddressRefused where an address resolves to a forbidden one, or a secret would be sent in the clear."""
    target = check_url(url, build_page_policy())
    inside = AddressPolicy(tuple(entry for entry in build_page_policy().entries if entry != PUBLIC))
    is_named = all(inside.allows(target.host, ip_address(address)) for address in target.addresses)
    if has_secret and not url.startswith("https://") and not is_named:
        raise AddressRefused(_("A secret is only sent over https: write the address with https://."))


def strip_url_query(url: str) -> str:
    """Return an address for a sentence: without its query, which may hold a key."""
    return url.partition("?")[0][:300]


def parse_http_date(text: str | None) -> Any:
    """Return an HTTP date as an aware time; None for an invalid one."""
    try:
        found = parsedate_to_datetime(text or "")
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else None


def _find_redirect_target(answer: SourceResponse) -> str:
    """Return where a redirect leads; "" without one. Raises Unreadable."""
    location = answer.headers.get("Location", "") if answer.status in REDIRECTS else ""
    try:
        # many servers send UTF-8 as it is
        return urljoin(answer.url, location.encode("latin-1").decode()) if location else ""
    except ValueError as error:
        raise Unreadable(_("%(url)s leads to no address.") % {"url": strip_url_query(answer.url)}) from error


def _read_body(response: requests.Response, url: str) -> bytes:
    """Read an answer's body. Raises Unreadable for one too large."""
    parts, size = [], 0
    while part := response.raw.read1(PART, decode_content=True):
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise Unreadable(
                _("%(url)s has more than %(most)s MB.") % {"url": strip_url_query(url), "most": MAX_BYTES // 1_000_000}
            )
    return b"".join(parts)


def _check_status(answer: SourceResponse) -> SourceResponse:
    status, url = answer.status, strip_url_query(answer.url)
    if status in {200, 206, 207, 304, 404, 410}:
        return answer
    if status in {401, 403}:
        raise Unreadable(_("%(url)s needs another sign-in (%(status)s).") % {"url": url, "status": status})
    if status in PASSING:
        raise Passing(_("%(url)s cannot answer now (%(status)s).") % {"url": url, "status": status})
    raise Unreadable(_("%(url)s returns %(status)s.") % {"url": url, "status": status})


def _parse_retry_after(answer: SourceResponse) -> float | None:
    """Return the seconds that the server asks to wait; None for too many."""
    text = answer.headers.get("Retry-After", "1")
    seconds = int(text) if text.isdigit() else MAX_WAIT_S + 1
    return seconds if seconds <= MAX_WAIT_S else None
