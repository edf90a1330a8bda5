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
from urllib.parse import parse_qs, unquote, urlsplit

TENANT, CLIENT, SECRET = "example.onmicrosoft.com", "535fb089-9ff3", "tea"
DRIVE, ROOT = "b!drive", "01ROOT"
PAGE = 2  # changes of one answer


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
    given. people: members of groups. vanished: what is gone since the changes were told.
    """

    url: str
    entries: dict[str, Entry] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    oldest: int = 0
    is_hierarchical: bool = True
    throttled: int = 0
    people: dict[str, list[str]] = field(default_factory=dict)
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
        found = self._directory().get(path)
        return (
            (200, found) if found else (404, {"error": {"code": "itemNotFound", "message": "It could not be found."}})
        )

    def _directory(self) -> dict[str, Any]:
        site = {"id": "example.sharepoint.com,1,2", "webUrl": "https://example.sharepoint.com/sites/Handbook"}
        drive = {"id": DRIVE, "name": "Documents", "driveType": "documentLibrary"}
        members = {
            f"groups/aad-{name}/transitiveMembers/microsoft.graph.user": {
                "value": [{"id": f"aad-{each}", "mail": f"{each}@example.com"} for each in people]
            }
            for name, people in self.people.items()
        }
        return {
            "sites/example.sharepoint.com:/sites/Handbook": site,
            "sites/example.sharepoint.com,1,2/drive": drive,
            "sites/example.sharepoint.com,1,2/drives": {"value": [{"id": "b!other", "name": "Site Assets"}, drive]},
            "users/lin@example.com/drive": drive,
            "users/aad-mia": {"mail": "mia@example.com"},
            **members,
        }

    def _in_drive(self, path: str, query: dict[str, str], prefer: str) -> tuple[int, Any]:
        if path == "root/delta":
            return self._delta(query, prefer)
        if path.startswith("root:/"):
            found = next(
                (each for each in self.entries.values() if self._path(each) == path.removeprefix("root:/")), None
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
        is_shared = is_own if is_hierarchical else any("link" in each for each in self._effective(entry))
        said: dict[str, Any] = {
            "id": entry.id,
            "name": entry.name,
            "eTag": f'"{{{entry.id}}},{entry.version}"',
            "webUrl": f"https://example.sharepoint.com/sites/Handbook/Documents/{self._path(entry)}",
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
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield tenant
    finally:
        server.shutdown()
        server.server_close()
