"""The open API of Feishu and Lark as a custom application calls it: with a token of the tenant, page by page.

Errors are told by a `code` in the body, whatever the HTTP status. open.feishu.cn/document: tenant_access_token_internal, frequency limits.
"""

import json
from collections.abc import Callable, Iterator
from html import escape
from time import sleep
from typing import Any
from urllib.parse import quote, urlencode

from django.utils.translation import gettext as _

from knowledge.sources.answers import (
    ExpiringToken,
    build_answer_error,
    find_nested_value,
    iterate_pages,
    list_nested_objects,
    read_json_object,
)
from knowledge.sources.base import Passing, Unreadable
from knowledge.sources.http import MAX_WAIT_S, SourceClient, SourceResponse

TRIES = 4  # of a call that comes too often
TOO_OFTEN = 99991400
PAGE = 50  # objects of one answer: the most that it gives
_EXPLAINED = {400, 401, 403, 404, 429, 500}


class FeishuRefused(Unreadable):
    """The API answers with an error of its own."""


class Feishu:
    """url: the root of the API, without a slash at the end."""

    def __init__(self, *, url: str, app_id: str, secret: str, pace: Callable[[], None]) -> None:
        self._url, self._app_id, self._secret = f"{url}/open-apis", app_id, secret
        self._client = SourceClient(
            url, sign=ExpiringToken(self._fetch_token).signed, pace=pace, follows_elsewhere=False, answers=_EXPLAINED
        )
        self._sign_in = SourceClient(url, pace=pace, follows_elsewhere=False, answers=_EXPLAINED)

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

        for page in iterate_pages(lambda place: self.ask(path, **place), first, following):
            yield from list_nested_objects(page, name)

    def download(self, path: str) -> SourceResponse:
        return self._client.get(f"{self._url}/{path}")

    def close(self) -> None:
        self._client.close()
        self._sign_in.close()

    def _answered(self, call: Callable[[], SourceResponse]) -> dict[str, Any]:
        """Return the answer. Raises Refused for an error, Passing where the rate limit persists."""
        for _attempt in range(TRIES):
            answer = call()
            reply = read_json_object(answer, "Feishu")
            code = reply.get("code")
            if not isinstance(code, int):
                raise build_answer_error(self._url, "Feishu")
            if code == 0:
                return reply
            if code != TOO_OFTEN:
                why = _("Feishu refuses: %(why)s (%(code)s).")
                raise FeishuRefused(why % {"why": str(reply.get("msg") or "")[:200], "code": code})
            _wait_for_rate_limit(answer)
        raise Passing(_("Feishu is called too often: set fewer requests a minute."))

    def _fetch_token(self) -> tuple[str, Any]:
        url = f"{self._url}/auth/v3/tenant_access_token/internal"
        body = json.dumps({"app_id": self._app_id, "app_secret": self._secret}).encode()
        headers = {"Content-Type": "application/json; charset=utf-8"}
        reply = self._answered(lambda: self._sign_in.request("POST", url, headers=headers, body=body))
        return str(reply.get("tenant_access_token") or ""), reply.get("expire")


def _wait_for_rate_limit(answer: SourceResponse) -> None:
    """Wait as long as the answer says. Raises Passing if that is too long."""
    text = answer.headers.get("x-ogw-ratelimit-reset", "1")
    seconds = int(text) if text.isdecimal() else MAX_WAIT_S + 1
    if seconds > MAX_WAIT_S:
        raise Passing(_("Feishu is called too often: set fewer requests a minute."))
    sleep(seconds)


ROWS = 2_000  # of one answer
MAX_CELLS = 1_000_000  # of a spreadsheet, empty ones included


def read_spreadsheet(api: Feishu, token: str, *, title: str) -> str:
    """Return the body of an HTML document. Raises Refused, Passing, Unreadable."""
    path = f"spreadsheets/{quote(token, safe='')}"
    sheets = [
        item
        for item in list_nested_objects(api.ask(f"sheets/v3/{path}/sheets/query"), "sheets")
        if _is_visible_sheet(item)
    ]
    if sum(_find_sheet_size(item)[0] * _find_sheet_size(item)[1] for item in sheets) > MAX_CELLS:
        raise Unreadable(_("“%(name)s” has more than %(most)d cells.") % {"name": title, "most": MAX_CELLS})
    parts = [f"<h1>{escape(title)}</h1>"]
    for sheet in sorted(sheets, key=lambda item: int(item.get("index") or 0)):
        parts.append(f"<h2>{escape(str(sheet.get('title') or ''))}</h2>")
        parts.append(_render_table([[_format_cell(value) for value in row] for row in _iterate_rows(api, path, sheet)]))
    return "".join(parts)


def _is_visible_sheet(sheet: dict[str, Any]) -> bool:
    """Tell whether it is a visible sheet of cells (others hold a Base)."""
    return sheet.get("resource_type", "sheet") == "sheet" and not sheet.get("hidden")


def _find_sheet_size(sheet: dict[str, Any]) -> tuple[int, int]:
    rows, columns = (find_nested_value(sheet, "grid_properties", name) for name in ("row_count", "column_count"))
    return (rows if isinstance(rows, int) else 0), (columns if isinstance(columns, int) else 0)


def _iterate_rows(api: Feishu, path: str, sheet: dict[str, Any]) -> Iterator[list[Any]]:
    rows, columns = _find_sheet_size(sheet)
    options = {"valueRenderOption": "ToString", "dateTimeRenderOption": "FormattedString"}
    for start in range(1, rows + 1 if columns else 1, ROWS):
        cells = f"{sheet.get('sheet_id')}!A{start}:{_format_column_name(columns)}{min(start + ROWS - 1, rows)}"
        reply = api.ask(f"sheets/v2/{path}/values/{quote(cells, safe='')}", **options)
        values = find_nested_value(reply, "valueRange", "values")
        yield from (row for row in values if isinstance(row, list)) if isinstance(values, list) else ()


def _format_column_name(column: int) -> str:
    """Return the name of a column: 1 is A, 27 is AA."""
    before, last = divmod(column - 1, 26)
    return (_format_column_name(before) if before else "") + chr(ord("A") + last)


def _format_cell(value: Any) -> str:
    """Return the text of a cell, which may hold parts: links, mentions, choices."""
    if isinstance(value, list):
        return "".join(map(_format_cell, value))
    if isinstance(value, dict):
        chosen = value.get("values")
        return (
            ", ".join(map(_format_cell, chosen))
            if isinstance(chosen, list)
            else _format_cell(value.get("text") or value.get("link"))
        )
    return "" if value is None else str(value).strip()


def _render_table(rows: list[list[str]]) -> str:
    """Return a table whose first row is the header, without empty rows and columns at its end."""
    width = max(
        (len(row) - next((at for at, text in enumerate(reversed(row)) if text), len(row)) for row in rows), default=0
    )
    seen = [row[:width] for row in rows if any(row)]
    lines = (
        "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row)
        for row, tag in zip(seen, ["th", *["td"] * len(seen)], strict=False)
    )
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if seen else ""
