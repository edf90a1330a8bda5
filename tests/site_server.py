"""A web site of a test's own: pages by path, each as it is at the moment, and what was asked for."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILLER = "It is written for everybody who deploys software here, and it is kept by the platform team every week."


@dataclass
class Reply:
    body: bytes = b""
    status: int = 200
    type: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)


Page = str | Reply | Callable[[Mapping[str, str]], Reply]


@dataclass
class Site:
    """pages: by path with its query; text is HTML. answers: for paths under `/search`. asked: each request's path, with ` (304)` where
    nothing was sent.
    """

    url: str
    pages: dict[str, Page]
    asked: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    answers: Callable[[str], Reply] | None = None


def page(title: str, *links: str, text: str = FILLER, head: str = "") -> str:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return (
        f"<html lang=en><head><title>{title} · Site</title>{head}</head><body><nav><a href='/'>Home</a></nav>"
        f"<main><h1 id=top>{title}</h1><p>{text}</p><p>{anchors}</p></main><footer>Imprint</footer></body></html>"
    )


@contextmanager
def serving_pages(pages: Mapping[str, Page]) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.headers.append(dict(self.headers))
            found = site.pages.get(self.path, Reply(b"not here", 404, "text/plain"))
            if site.answers is not None and self.path.startswith("/search?"):
                found = site.answers(self.path)
            reply = (
                found(dict(self.headers))
                if callable(found)
                else Reply(found.encode())
                if isinstance(found, str)
                else found
            )
            tag = f'"{hashlib.sha256(reply.body).hexdigest()[:12]}"'
            is_known = reply.status == 200 and self.headers.get("If-None-Match") == tag
            site.asked.append(f"{self.path} (304)" if is_known else self.path)
            self.send_response(304 if is_known else reply.status)
            self.send_header("Content-Type", reply.type)
            self.send_header("ETag", tag)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0" if is_known else str(len(reply.body)))
            self.end_headers()
            if not is_known:
                self.wfile.write(reply.body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.do_GET()

        def log_message(self, *_args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}", dict(pages))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
