"""The open API of Feishu and Lark as a custom application calls it: with a token of the tenant, page by page.

Errors are told by a `code` in the body, whatever the HTTP status. open.feishu.cn/document: tenant_access_token_internal, frequency limits.
"""

import json
from collections.abc import Callable, Iterator
from time import sleep
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from knowledge.sources.answers import Token, listed, paged, read_object, strange
from knowledge.sources.base import Passing, Unreadable
from knowledge.sources.http import MAX_WAIT_S, Client, SourceResponse

TRIES = 4  # of a call that comes too often
TOO_OFTEN = 99991400
PAGE = 50  # objects of one answer: the most that it gives
_EXPLAINED = {400, 401, 403, 404, 429, 500}


class Refused(Unreadable):
    """The API answers with an error of its own."""


class Feishu:
    """url: the root of the API, without a slash at the end."""

    def __init__(self, *, url: str, app_id: str, secret: str, pace: Callable[[], None]) -> None:
        self._url, self._app_id, self._secret = f"{url}/open-apis", app_id, secret
        self._client = Client(
            url, sign=Token(self._take_token).signed, pace=pace, follows_elsewhere=False, answers=_EXPLAINED
        )
        self._sign_in = Client(url, pace=pace, follows_elsewhere=False, answers=_EXPLAINED)

    def ask(self, path: str, **query: Any) -> dict[str, Any]:
        """Return the `data` of an answer. Raises Refused, Passing, Unreadable."""
        url = f"{self._url}/{path}?{urlencode(query, doseq=True)}"
        reply = self._answered(lambda: self._client.get(url))
        data = reply.get("data")
        return data if isinstance(data, dict) else {}

    def pages(self, path: str, name: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list called `name`. An empty page may be followed by others. Raises as `ask`."""
        first = {"page_size": PAGE, **query}

        def following(reply: dict[str, Any]) -> dict[str, Any] | None:
            token = reply.get("page_token")
            return {**first, "page_token": token} if token and reply.get("has_more") else None

        for page in paged(lambda place: self.ask(path, **place), first, following):
            yield from listed(page, name)

    def download(self, path: str) -> SourceResponse:
        return self._client.get(f"{self._url}/{path}")

    def close(self) -> None:
        self._client.close()
        self._sign_in.close()

    def _answered(self, call: Callable[[], SourceResponse]) -> dict[str, Any]:
        """Return the answer. Raises Refused for an error, Passing where the rate limit persists."""
        for _attempt in range(TRIES):
            answer = call()
            reply = read_object(answer, "Feishu")
            code = reply.get("code")
            if not isinstance(code, int):
                raise strange(self._url, "Feishu")
            if code == 0:
                return reply
            if code != TOO_OFTEN:
                why = _("Feishu refuses: %(why)s (%(code)s).")
                raise Refused(why % {"why": str(reply.get("msg") or "")[:200], "code": code})
            _wait(answer)
        raise Passing(_("Feishu is called too often: set fewer requests a minute."))

    def _take_token(self) -> tuple[str, Any]:
        url = f"{self._url}/auth/v3/tenant_access_token/internal"
        body = json.dumps({"app_id": self._app_id, "app_secret": self._secret}).encode()
        headers = {"Content-Type": "application/json; charset=utf-8"}
        reply = self._answered(lambda: self._sign_in.request("POST", url, headers=headers, body=body))
        return str(reply.get("tenant_access_token") or ""), reply.get("expire")


def _wait(answer: SourceResponse) -> None:
    """Wait as long as the answer says. Raises Passing if that is too long."""
    text = answer.headers.get("x-ogw-ratelimit-reset", "1")
    seconds = int(text) if text.isdecimal() else MAX_WAIT_S + 1
    if seconds > MAX_WAIT_S:
        raise Passing(_("Feishu is called too often: set fewer requests a minute."))
    sleep(seconds)
