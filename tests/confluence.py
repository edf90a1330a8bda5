"""A Confluence of a test's own, which answers as Atlassian's published REST schemas say: Cloud's, or Data Center's of 9.1 and later."""

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

EMAIL, TOKEN = "robot@example.com", "tea"


@dataclass
class Page:
    """users, groups: who alone may read it, by sign-in names. is_folder: a folder of Cloud's, which its list of pages leaves out."""

    id: int
    title: str
    body: str = "<p>Something is said here.</p>"
    parent: int | None = 1
    version: int = 1
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    is_folder: bool = False


@dataclass
class Wiki:
    """space_users, space_groups: who may view the space ENG, whose home is page 1."""

    url: str
    is_cloud: bool
    pages: dict[int, Page] = field(default_factory=dict)
    space_users: tuple[str, ...] = ()
    space_groups: tuple[str, ...] = ("Engineering",)
    page_size: int = 2
    asked: list[str] = field(default_factory=list)

    def put(self, page: Page) -> None:
        self.pages[page.id] = page

    def person(self, name: str) -> dict[str, Any]:
        if self.is_cloud:
            return {
                "type": "known",
                "accountId": f"557058:{name}",
                "email": f"{name}@example.com",
                "displayName": name.title(),
            }
        return {"type": "known", "username": name, "userKey": f"key-{name}", "displayName": name.title()}

    def answer(self, path: str, query: dict[str, str]) -> Any:
        """None for 404."""
        if path == "space/ENG":
            permissions = {"permissions": self._cloud_permissions()} if self.is_cloud else {}
            return {"id": 7, "key": "ENG", "homepage": {"id": "1", "type": "page", "title": "Home"}, **permissions}
        if path == "space/ENG/permissions" and not self.is_cloud:
            return self._server_permissions()
        if path == "user" and not self.is_cloud:
            return self.person(query["key"].removeprefix("key-"))
        if path == "content":
            return self._list(query)
        if path.startswith("content/") and (page := self.pages.get(int(path.removeprefix("content/")))):
            return {**self._said(page), "body": {"export_view": {"value": page.body, "representation": "export_view"}}}
        return None

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        start, pages = int(query.get("start", 0)), [page for page in self.pages.values() if not page.is_folder]
        shown = sorted(pages, key=lambda page: -page.id)[start : start + self.page_size]  # what lies below comes first
        following = urlencode({**query, "start": start + self.page_size})
        links = {"next": f"/rest/api/content?{following}"} if start + self.page_size < len(pages) else {}
        return {"results": [self._said(page) for page in shown], "start": start, "size": len(shown), "_links": links}

    def _said(self, page: Page) -> dict[str, Any]:
        above, each = list[dict[str, Any]](), page
        while each.parent is not None and each.id != 1:
            each = self.pages[each.parent]
            above.insert(0, {"id": str(each.id), "type": "folder" if each.is_folder else "page", "title": each.title})
        restrictions = {
            "user": {"results": [self.person(name) for name in page.users], "size": len(page.users), "limit": 200},
            "group": {
                "results": [{"type": "group", "name": name} for name in page.groups],
                "size": len(page.groups),
                "limit": 200,
            },
        }
        return {
            "id": str(page.id),
            "type": "page",
            "title": page.title,
            "ancestors": above,
            "version": {"number": page.version, "when": "2026-11-20T10:00:00.000+01:00", "by": self.person("mia")},
            "restrictions": {"read": {"operation": "read", "restrictions": restrictions}},
            "_links": {"webui": f"/spaces/ENG/pages/{page.id}/{page.title}"},
        }

    def _cloud_permissions(self) -> list[dict[str, Any]]:
        def one(operation: str, kind: str, results: list[dict[str, Any]]) -> dict[str, Any]:
            subjects = {kind: {"results": results, "size": len(results)}}
            return {
                "operation": {"operation": operation, "targetType": "space"},
                "subjects": subjects,
                "anonymousAccess": False,
            }

        return [
            one("read", "user", [self.person(name) for name in self.space_users]),
            one("read", "group", [{"name": name} for name in self.space_groups]),
            one("administer", "group", [{"name": "confluence-administrators"}]),
        ]

    def _server_permissions(self) -> list[dict[str, Any]]:
        def one(operation: str, subject: dict[str, str]) -> dict[str, Any]:
            return {
                "operation": {"targetType": "space", "operationKey": operation},
                "subject": subject,
                "spaceKey": "ENG",
            }

        users = [one("read", {"type": "user", "userKey": f"key-{name}"}) for name in self.space_users]
        groups = [one("read", {"type": "group", "name": name}) for name in self.space_groups]
        return [*users, *groups, one("administer", {"type": "group", "name": "confluence-administrators"})]


@contextmanager
def serving_confluence(*, is_cloud: bool) -> Iterator[Wiki]:
    pair = b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
    signed = f"Basic {pair}" if is_cloud else f"Bearer {TOKEN}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            wiki.asked.append(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            found = wiki.answer(parts.path.removeprefix(top).removeprefix("/rest/api/"), query)
            is_known = self.headers.get("Authorization") == signed
            self.send_response(401 if not is_known else 404 if found is None else 200)
            body = json.dumps(found if is_known else {"message": "no"}).encode()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None: ...

    top = "/wiki" if is_cloud else ""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wiki = Wiki(f"http://127.0.0.1:{server.server_port}{top}/", is_cloud)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield wiki
    finally:
        server.shutdown()
        server.server_close()
