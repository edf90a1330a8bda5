"""Microsoft Graph that answers as the published documentation of v1.0 says: sign-in by client credentials, sites and their libraries,
a drive's changes, permissions, downloads at another host. The directory knows people by `name@example.com`.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

TENANT, CLIENT, SECRET = "example.onmicrosoft.com", "535fb089-9ff3", "tea"
DRIVE, ROOT = "b!drive", "01ROOT"
SITE_ID, PAGES_LIST = "example.sharepoint.com,1,2", "468fc883-e278-4773-ba09-91351a1e42ed"
PAGE = 2  # pages, or changes of one answer


def user(name: str, *, has_mail: bool = True) -> dict[str, Any]:
    """The identity set of a person."""
    mail = {"email": f"{name}@example.com"} if has_mail else {}
    return {
        "user": {"id": f"aad-{name}", "displayName": name.title(), **mail},
        "siteUser": {"id": "11", "displayName": name.title(), "loginName": f"i:0#.f|membership|{name}@example.com"},
    }


def group(name: str) -> dict[str, Any]:
    """Of a group of the directory."""
    return {"group": {"id": f"aad-{name}", "displayName": name, "email": f"{name.lower()}@example.com"}}


def site_group(name: str) -> dict[str, Any]:
    """Of a group of SharePoint, which Graph gives a user's display name, too."""
    return {"siteGroup": {"id": "5", "displayName": name, "loginName": name}, "user": {"displayName": name}}


def granted(identity: dict[str, Any], role: str = "read", **more: Any) -> dict[str, Any]:
    return {"id": "1", "roles": [role], "grantedToV2": identity, **more}


def linked(scope: str, *identities: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "2",
        "roles": ["read"],
        "link": {"type": "view", "scope": scope},
        "grantedToIdentitiesV2": list(identities),
    }


@dataclass
class SitePage:
    """What is said in an entry of the same id, whose name ends in .aspx. level: `published`, `draft` or `checkout`."""

    id: str
    title: str
    sections: list[list[list[dict[str, Any]]]] = field(default_factory=list)  # web parts of columns of sections
    aside: list[dict[str, Any]] = field(default_factory=list)
    level: str = "published"
    version: str = "1.0"
    address: str = ""  # another than that of the entry


def text_part(inner_html: str) -> dict[str, Any]:
    return {"@odata.type": "#microsoft.graph.textWebPart", "id": "f6d0ef70", "innerHtml": inner_html}


def standard_part(*texts: str, **html: str) -> dict[str, Any]:
    """As quick links are, or a list of people."""
    plain = [{"key": f"items[{number}].title", "value": text} for number, text in enumerate(texts)]
    made = {"searchablePlainTexts": plain, "htmlStrings": [{"key": key, "value": text} for key, text in html.items()]}
    data = {"dataVersion": "2.2", "title": "Quick links", "properties": {}, "serverProcessedContent": made}
    return {"@odata.type": "#microsoft.graph.standardWebPart", "id": "c0f2", "webPartType": "c70391ea", "data": data}


@dataclass
class Entry:
    """permissions: its own, in place of those of what it lies in; None where it inherits."""

    id: str
    name: str
    parent: str
    text: str | None = None
    version: int = 1
    permissions: list[dict[str, Any]] | None = None


@dataclass
class Tenant:
    """log: ids in the order in which they changed. oldest: tokens before it are forgotten. is_hierarchical: whether the application
    may see sharing as a hierarchy. links, content: the roots of its links and downloads. throttled: answers 429 that are still
    given. people: members of groups. site_pages: by the id of their entry. vanished: what is gone since the changes were told.
    """

    url: str
    entries: dict[str, Entry] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    oldest: int = 0
    is_hierarchical: bool = True
    throttled: int = 0
    people: dict[str, list[str]] = field(default_factory=dict)
    site_pages: dict[str, SitePage] = field(default_factory=dict)
    vanished: str = ""
    links: str = ""
    content: str = ""
    asked: list[str] = field(default_factory=list)
    downloads: list[dict[str, str]] = field(default_factory=list)

    def put(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        self.log.append(entry.id)

    def change(self, item: str, **values: Any) -> None:
        entry = self.entries[item]
        for key, value in values.items():
            setattr(entry, key, value)
        if "text" in values:
            entry.version += 1
        if "permissions" not in values or self.is_hierarchical:
            self.log.append(item)

    def delete(self, name: str) -> None:
        del self.entries[name]
        self.log.append(name)

    def answer(self, path: str, query: dict[str, str], prefer: str) -> tuple[int, Any]:
        if path.startswith(f"drives/{DRIVE}/"):
            return self._in_drive(path.removeprefix(f"drives/{DRIVE}/"), query, prefer)
        if path.startswith(f"sites/{SITE_ID}/pages/"):
            return self._in_pages(path.removeprefix(f"sites/{SITE_ID}/pages/"), query)
        found = self._directory().get(path)
        return (
            (200, found) if found else (404, {"error": {"code": "itemNotFound", "message": "It could not be found."}})
        )

    def _directory(self) -> dict[str, Any]:
        site = {"id": SITE_ID, "webUrl": "https://example.sharepoint.com/sites/Handbook"}
        drive = {"id": DRIVE, "name": "Documents", "driveType": "documentLibrary"}
        members = {
            f"groups/aad-{name}/transitiveMembers/microsoft.graph.user": {
                "value": [{"id": f"aad-{person}", "mail": f"{person}@example.com"} for person in people]
            }
            for name, people in self.people.items()
        }
        return {
            "sites/example.sharepoint.com:/sites/Handbook": site,
            f"sites/{SITE_ID}/drive": drive,
            f"sites/{SITE_ID}/lists/{PAGES_LIST}/drive": drive,
            f"sites/{SITE_ID}/drives": {"value": [{"id": "b!other", "name": "Site Assets"}, drive]},
            "users/lin@example.com/drive": drive,
            "users/aad-mia": {"mail": "mia@example.com"},
            **members,
        }

    def _in_pages(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        page_id, _, kind = path.rpartition("/")
        if kind != "microsoft.graph.sitePage":
            return 400, {"error": {"code": "invalidRequest"}}
        if not page_id:
            found = [self._page(entry, page) for entry, page in self.site_pages.items()]
            start = int(query.get("$skiptoken", 0))
            selected = [
                {key: element[key] for key in query["$select"].split(",")} for element in found[start : start + PAGE]
            ]
            link = (
                f"{self.links}/v1.0/sites/{SITE_ID}/pages/{kind}?$select={query['$select']}&$skiptoken={start + PAGE}"
            )
            return 200, {"value": selected, **({"@odata.nextLink": link} if start + PAGE < len(found) else {})}
        entry, page = next((item for item in self.site_pages.items() if item[1].id == page_id), ("", None))
        if page is None:
            return 404, {"error": {"code": "itemNotFound"}}
        canvas = {"canvasLayout": _canvas(page)} if query.get("$expand") == "canvasLayout" else {}
        return 200, {**self._page(entry, page), **canvas}

    def _page(self, entry: str, page: SitePage) -> dict[str, Any]:
        at = (
            page.address or f"https://example.sharepoint.com/sites/Handbook/Documents/{self._path(self.entries[entry])}"
        )
        return {
            "@odata.type": "#microsoft.graph.sitePage",
            "id": page.id,
            "eTag": f'"{{{page.id.upper()}}},{page.version}"',
            "name": self.entries[entry].name,
            "webUrl": at,
            "title": page.title,
            "pageLayout": "article",
            "promotionKind": "page",
            "publishingState": {"level": page.level, "versionId": page.version},
            "parentReference": {"listId": PAGES_LIST, "siteId": "45bb2a3b"},
        }

    def _in_drive(self, path: str, query: dict[str, str], prefer: str) -> tuple[int, Any]:
        if path == "root/delta":
            return self._delta(query, prefer)
        if path.startswith("root:/"):
            found = next(
                (element for element in self.entries.values() if self._path(element) == path.removeprefix("root:/")),
                None,
            )
        else:
            found = self.entries.get(ROOT if path == "root" else path.split("/")[1])
        if found is None or found.id == self.vanished:
            return 404, {"error": {"code": "itemNotFound"}}
        if path.endswith("/permissions"):
            return 200, {"value": self._effective(found)}
        return 200, self._said(found, is_hierarchical=False)

    def _delta(self, query: dict[str, str], prefer: str) -> tuple[int, Any]:
        kind, _, start = query.get("token", "all:0").partition(":")
        is_hierarchical = self.is_hierarchical and "hierarchicalsharing" in prefer
        if kind == "since" and int(start) < self.oldest:
            return 410, {"error": {"code": "resyncRequired"}}
        names = list(self.entries) if kind == "all" else self.log[int(query.get("from", start)) :]
        at = int(query.get("at", 0))
        value = [
            self._said(self.entries[name], is_hierarchical=is_hierarchical)
            if name in self.entries
            else {"id": name, "deleted": {"state": "deleted"}, "parentReference": {"driveId": DRIVE}}
            for name in names[at : at + PAGE]
        ]
        top = f"{self.links}/v1.0/drives/{DRIVE}/root/delta"
        if at + PAGE < len(names):
            return 200, {"value": value, "@odata.nextLink": f"{top}?token={kind}:{start}&at={at + PAGE}"}
        return 200, {"value": value, "@odata.deltaLink": f"{top}?token=since:{len(self.log)}"}

    def _said(self, entry: Entry, *, is_hierarchical: bool) -> dict[str, Any]:
        is_own = entry.id == ROOT or entry.permissions is not None
        is_shared = is_own if is_hierarchical else any("link" in element for element in self._effective(entry))
        said: dict[str, Any] = {
            "id": entry.id,
            "name": entry.name,
            "eTag": f'"{{{entry.id}}},{entry.version}"',
            "webUrl": f"https://example.sharepoint.com/sites/Handbook/Documents/{quote(self._path(entry))}",
            "lastModifiedDateTime": "2026-11-20T10:00:00Z",
            "lastModifiedBy": user("mia"),
            "parentReference": {"driveId": DRIVE, "id": entry.parent},
            **({"shared": {"scope": "users"} if entry.permissions else {}} if is_shared else {}),
            **({"root": {}} if entry.id == ROOT else {}),
        }
        if entry.text is None:
            return {**said, "folder": {"childCount": 1}}
        said["@microsoft.graph.downloadUrl"] = f"{self.content}/content/{entry.id}?tempauth=1"
        return {**said, "size": len(entry.text.encode()), "file": {"mimeType": "text/markdown"}}

    def _path(self, entry: Entry) -> str:
        above = self.entries.get(entry.parent)
        return f"{self._path(above)}/{entry.name}".lstrip("/") if above and entry.id != ROOT else ""

    def _effective(self, entry: Entry) -> list[dict[str, Any]]:
        if entry.permissions is None:
            return self._effective(self.entries[entry.parent])
        return entry.permissions


def _canvas(page: SitePage) -> dict[str, Any]:
    sections = [
        {
            "layout": "twoColumns",
            "id": str(place),
            "emphasis": "none",
            "columns": [{"id": str(at), "width": 6, "webparts": parts} for at, parts in enumerate(columns, 1)],
        }
        for place, columns in enumerate(page.sections, 1)
    ]
    aside = {"verticalSection": {"emphasis": "none", "webparts": page.aside}} if page.aside else {}
    return {"horizontalSections": sections, **aside}


@contextmanager
def serving_graph() -> Iterator[Tenant]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path, query = unquote(parts.path), {name: values[0] for name, values in parse_qs(parts.query).items()}
            if path.startswith("/content/"):
                tenant.downloads.append(dict(self.headers))
                entry = tenant.entries.get(path.removeprefix("/content/"))
                self._send(200 if entry else 404, (entry.text or "" if entry else "").encode())
                return
            tenant.asked.append(self.path)
            if self.headers.get("Authorization") != "Bearer token-of-the-app":
                self._send(401, b"{}")
            elif tenant.throttled:
                tenant.throttled -= 1
                self._send(429, b'{"error": {"code": "TooManyRequests"}}', {"Retry-After": "3"})
            else:
                prefer = self.headers.get("Prefer", "")
                status, said = tenant.answer(path.removeprefix("/v1.0/"), query, prefer)
                applied = {"Preference-Applied": prefer} if prefer and tenant.is_hierarchical else {}
                self._send(status, json.dumps(said).encode(), applied)

        def do_POST(self) -> None:
            given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            wanted = {
                "client_id": [CLIENT],
                "client_secret": [SECRET],
                "scope": [f"{tenant.url}/.default"],
                "grant_type": ["client_credentials"],
            }
            is_known = self.path == f"/{TENANT}/oauth2/v2.0/token" and given == wanted
            said = {"token_type": "Bearer", "expires_in": 3599, "access_token": "token-of-the-app"}
            self._send(200 if is_known else 401, json.dumps(said if is_known else {"error": "invalid_client"}).encode())

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tenant = Tenant(f"http://127.0.0.1:{server.server_port}")
    tenant.links, tenant.content = tenant.url, f"http://localhost:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield tenant
    finally:
        server.shutdown()
        server.server_close()
