"""A Feishu that answers as the published documentation of its open API says: the token of a tenant, the nodes of a wiki space, documents
as Markdown, permissions of pages, people. Errors are a code in the body. People have `name@example.com` and the open ID `ou_name`.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

APP_ID, SECRET, SPACE = "cli_a1b2c3", "tea", "6946843325487912356"
RANGE = re.compile(r"(\w+)!A(\d+):(?=[A-Z]+(\d+))([A-Z]+)\d+")
PAGE = 2  # nodes and members of one answer, whatever is asked for


def person(name: str, kind: str = "openid") -> dict[str, str]:
    """A member as both lists name one."""
    return {"member_type": kind, "member_id": f"{kind[:2]}_{name}".replace("op_", "ou_"), "type": "user"}


@dataclass
class Sheet:
    """last_column: the letters of it. kind: what it holds; a `bitable` has no cells."""

    id: str
    title: str
    values: list[list[Any]]
    rows: int = 200
    columns: int = 20
    last_column: str = "T"
    is_hidden: bool = False
    kind: str = "sheet"

    def said(self, index: int) -> dict[str, Any]:
        grid = {"frozen_row_count": 0, "frozen_column_count": 0, "row_count": self.rows, "column_count": self.columns}
        cells = {"grid_properties": grid} if self.kind == "sheet" else {}
        return {
            "sheet_id": self.id,
            "title": self.title,
            "index": index,
            "hidden": self.is_hidden,
            "resource_type": self.kind,
            **cells,
        }


@dataclass
class Node:
    """readers: with whom it is shared when it is locked. sheets: of a spreadsheet."""

    token: str
    title: str
    text: str = "Something is said here."
    parent: str = ""
    kind: str = "docx"
    edited: int = 1764000000
    is_shortcut: bool = False
    is_locked: bool = False
    readers: tuple[dict[str, str], ...] = ()
    sheets: list[Sheet] = field(default_factory=list)


@dataclass
class Wiki:
    """too_often: calls that are still answered so, and with which HTTP status. may_look_up: whether the application sees people."""

    url: str
    nodes: dict[str, Node] = field(default_factory=dict)
    members: list[dict[str, str]] = field(default_factory=list)
    too_often: int = 0
    status: int = 400
    may_look_up: bool = True
    asked: list[str] = field(default_factory=list)
    signed_in: int = 0

    def put(self, node: Node) -> None:
        self.nodes[node.token] = node

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        first = {name: values[0] for name, values in query.items()}
        parts = path.split("/")
        lists = {
            "nodes": ("items", self._below(first.get("parent_node_token", ""))),
            "members": ("members", [{**member, "member_role": "member"} for member in self.members]),
        }
        if parts[:3] == ["wiki", "v2", "spaces"] and parts[3] == SPACE and parts[4] in lists:
            return _data(**self._page(*lists[parts[4]], first))
        if path == "contact/v3/users/batch":
            return self._people(query["user_ids"], first["user_id_type"])
        if path == "docs/v1/content" and (first["doc_type"], first["content_type"]) == ("docx", "markdown"):
            node = self.nodes[first["doc_token"].removeprefix("obj-")]
            return _data(content=f"# {node.title}\n\n{node.text}" if node.text else "")
        if parts[0] == "sheets":
            return self._spreadsheet(self.nodes[parts[3].removeprefix("obj-")], parts, first)
        if parts[:2] in (["drive", "v2"], ["drive", "v1"]) and first.get("type") == "wiki" and parts[3] in self.nodes:
            return self._permissions(self.nodes[parts[3]], parts[4])
        return 400, {"code": 131005, "msg": "not found"}

    def _spreadsheet(self, node: Node, parts: list[str], query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if parts[1] == "v3" and parts[4:] == ["sheets", "query"]:
            return _data(sheets=[sheet.said(index) for index, sheet in enumerate(node.sheets)])
        options = (query["valueRenderOption"], query["dateTimeRenderOption"])
        if parts[1] != "v2" or parts[4] != "values" or options != ("ToString", "FormattedString"):
            return 404, {"code": 90202, "msg": "wrong path"}
        sheet_id, first, last, width = RANGE.fullmatch(parts[5]).groups()  # type: ignore[union-attr]  # else a test fails
        sheet = next(item for item in node.sheets if item.id == sheet_id)
        if int(last) > sheet.rows or width != sheet.last_column:
            return 400, {"code": 90202, "msg": "wrong range"}
        values = sheet.values[int(first) - 1 : int(last)]
        blank = [[None] * len(sheet.values[0])] * (min(int(last), sheet.rows) - int(first) + 1 - len(values))
        return _data(
            revision=7,
            spreadsheetToken=f"obj-{node.token}",
            valueRange={"majorDimension": "ROWS", "range": parts[5], "revision": 7, "values": values + blank},
        )

    def _below(self, parent: str) -> list[dict[str, Any]]:
        return [self._said(node) for node in self.nodes.values() if node.parent == parent]

    def _said(self, node: Node) -> dict[str, Any]:
        return {
            "space_id": SPACE,
            "node_token": node.token,
            "obj_token": f"obj-{node.token}",
            "obj_type": node.kind,
            "parent_node_token": node.parent,
            "node_type": "shortcut" if node.is_shortcut else "origin",
            "has_child": any(item.parent == node.token for item in self.nodes.values()),
            "title": node.title,
            "obj_edit_time": str(node.edited),
            "owner": "ou_mia",
        }

    def _page(self, name: str, found: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
        """The first page is empty, as one may be that is filtered by permissions."""
        start = int(query.get("page_token", "-1"))
        shown = found[start : start + PAGE] if start >= 0 else []
        following = max(start, -PAGE) + PAGE if start >= 0 else 0
        more = {"page_token": str(following)} if following < len(found) else {}
        return {name: shown, "has_more": bool(more), **more}

    def _people(self, ids: list[str], kind: str) -> tuple[int, dict[str, Any]]:
        if not self.may_look_up:
            return 400, {"code": 99991672, "msg": "Access denied. One of the following scopes is required"}
        names = [identifier.partition("_")[2] for identifier in ids]
        return _data(
            items=[{kind: item, "email": f"{name}@example.com"} for item, name in zip(ids, names, strict=True)]
        )

    def _permissions(self, node: Node, what: str) -> tuple[int, dict[str, Any]]:
        if what == "public":
            return _data(permission_public={"link_share_entity": "tenant_readable", "lock_switch": node.is_locked})
        return _data(items=[{"perm": "view", "perm_type": "container", **reader} for reader in node.readers])


def _data(**data: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"code": 0, "msg": "success", "data": data}


@contextmanager
def serving_feishu() -> Iterator[Wiki]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = unquote(parts.path.removeprefix("/open-apis/"))
            wiki.asked.append(path)
            if self.headers.get("Authorization") != "Bearer t-of-the-tenant":
                self._send(400, {"code": 99991663, "msg": "Invalid access token"})
            elif wiki.too_often:
                wiki.too_often -= 1
                headers = {"x-ogw-ratelimit-limit": "100", "x-ogw-ratelimit-reset": "3"}
                self._send(wiki.status, {"code": 99991400, "msg": "request trigger frequency limit"}, headers)
            elif path.startswith("drive/v1/files/obj-") and path.endswith("/download"):
                self._write(200, wiki.nodes[path.split("/")[3].removeprefix("obj-")].text.encode(), {})
            else:
                self._send(*wiki.answer(path, parse_qs(parts.query)))

        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_path = self.path == "/open-apis/auth/v3/tenant_access_token/internal"
            if not is_path or given != {"app_id": APP_ID, "app_secret": SECRET}:
                self._send(200, {"code": 10014, "msg": "app secret invalid"})
                return
            wiki.signed_in += 1
            self._send(200, {"code": 0, "msg": "ok", "tenant_access_token": "t-of-the-tenant", "expire": 7200})

        def _send(self, status: int, said: dict[str, Any], headers: dict[str, str] | None = None) -> None:
            self._write(status, json.dumps(said).encode(), headers or {})

        def _write(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wiki = Wiki(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield wiki
    finally:
        server.shutdown()
        server.server_close()
