"""Pages outside: nothing leads inside, nothing goes on for long or for much, and each page says what became of it."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from agent.connections import web_request
from agent.connections.web_request import Code
from agent.egress import Border
from agent.models import WebHost
from agent.tools.base import ToolContext
from agent.web import fetching
from agent.web.fetching import WebPage, fetch_web_page, select_page_passages
from agent.web.hosts import HostRules, load_host_rules
from agent.web.web_fetch import WebFetch, WebFetchArgs
from authz.principal import Principal
from copilot_site.lib.outgoing import addresses as outgoing
from copilot_site.lib.outgoing import http as outgoing_http
from knowledge.retrieval.search import Scope
from tests.evaluation_data import data_folder
from tests.factories import make_user
from tests.hidden_in_pdf import pdfs
from tests.hidden_in_word import word
from tests.site_server import Reply, Site, page, serving_pages

PUBLIC = "93.184.216.34"
HERE = HostRules(allowed=("127.0.0.1",), inside=("127.0.0.1",))
TEXT = "Leave is granted in whole days, and the platform team keeps this page for everybody who works here."
Case = dict[str, Any]


@contextmanager
def answering(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that says what it likes to whoever connects."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _address = listening.accept()
            except OSError:
                return
            with client:
                client.recv(4_096)
                try:
                    talk(client)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def drip(client: socket.socket) -> None:
    """A body that never comes to its end, a byte at a time."""
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
    for _n in range(100):
        client.sendall(b"a")
        time.sleep(0.02)  # the server's own pace


def drip_a_header(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    for _n in range(500):
        client.sendall(b"a")
        time.sleep(0.02)  # the server's own pace


class Net:
    """Names as a case has them; every connection leads to one server here, and where it would have led is kept."""

    def __init__(self, case: Case, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.case, self.port, self.connected, self.asked = case, port, list[str](), list[str]()
        self.real = socket.create_connection
        monkeypatch.setattr(outgoing, "look_up_host", self.look_up)
        monkeypatch.setattr(outgoing_http, "create_connection", self.connect)

    def look_up(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answers = self.case.get("dns_sequence") or [self.case.get("dns") or [PUBLIC]]
        if host == "localhost" or host.endswith(".localhost"):
            return ["127.0.0.1", "::1"]
        if host.endswith("example"):
            return list(answers[min(len(self.asked), len(answers)) - 1])
        if ":" in host or host.replace(".", "").isdigit():
            return [host]
        raise OSError(f"no such name: {host}")

    def connect(self, address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
        self.connected.append(address[0])
        if address[1] == 443:
            raise ConnectionRefusedError("nobody serves https here")
        return self.real(("127.0.0.1", self.port), timeout=5)


def reply_of(case: Case) -> Reply:
    if case.get("redirect_to"):
        return Reply(b"", 302, headers={"Location": case["redirect_to"]})
    head = f'<meta http-equiv=refresh content="0; url={case["html_refresh"]}">' if case.get("html_refresh") else ""
    body = page("Page", text=TEXT, head=head).encode()
    if case.get("subresource"):
        body = body.replace(b"</main>", f'<iframe src="{case["subresource"]}"></iframe></main>'.encode())
    if "500MB" in case.get("response", ""):
        return Reply(b"a" * 5_000_000)
    if "gzip" in case.get("response", ""):
        return Reply(gzip.compress(b"a" * 20_000_000), headers={"Content-Encoding": "gzip"})
    return Reply(body)


def test_no_way_to_write_an_address_leads_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [json.loads(line) for line in (data_folder("cases") / "ssrf_cases.dev.jsonl").read_text().splitlines()]
    monkeypatch.setattr(web_request, "WHOLE_S", 0.3)
    wrong = {case["id"]: case["url"][:80] for case in found if not is_right(case, monkeypatch)}
    assert wrong == {}
    assert len(found) >= 90


def is_right(case: Case, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a page of the case is asked for at addresses outside alone, and read only where it may be."""
    named = tuple(case.get("settings", {}).get("CRAWLER_ALLOWED_HOSTS", ()))
    may = {PUBLIC, *(case["dns"] if named and case["expect"] == "allow" else ())}
    try:
        path = urlsplit(case["url"]).path or "/"
    except ValueError:
        path = "/"  # of an address that nobody reads
    slow = "byte" in case.get("response", "")
    with answering(drip) if slow else serving_pages({path: reply_of(case)}) as served:
        url = served if isinstance(served, str) else served.url
        with monkeypatch.context() as patched:
            net = Net(case, int(url.rpartition(":")[2]), patched)
            came = fetch_web_page(case["url"], HostRules(inside=named))
    is_inside = not set(net.connected) <= may
    further = case.get("html_refresh") or case.get("subresource") or case.get("sitemap") or case.get("dns_sequence")
    if case["expect"] == "allow":
        return bool(net.connected) and not is_inside
    return not is_inside and (came.code is not Code.OK or bool(further))


def test_the_cases_lead_inside_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a policy that is open connects to what the cases name."""
    everything = outgoing.AddressPolicy(("0.0.0.0/0", "::/0", "localhost", "169.254.0.0/16", "127.0.0.0/8"))
    monkeypatch.setattr(HostRules, "policy", lambda self, host: everything)
    case = {
        "id": "x",
        "url": "http://public.example/r",
        "expect": "deny",
        "dns": [PUBLIC],
        "redirect_to": "http://169.254.169.254/",
    }
    assert not is_right(case, monkeypatch)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving_pages({"/": page("Leave", text=TEXT)}) as served:
        yield served


def test_a_page_is_read_without_its_navigation_and_what_nobody_sees(site: Site) -> None:
    site.pages["/"] = page(
        "Leave", text=f"{TEXT} <span style='display:none'>Hidden words.</span> {' '.join([TEXT] * 4)}"
    )
    came = fetch_web_page(f"{site.url}/", HERE)
    assert (came.code, came.status) == (Code.OK, 200)
    assert came.page is not None
    assert came.page.title == "Leave"
    assert TEXT in came.page.text
    for gone in ("Home", "Imprint", "Hidden words"):
        assert gone not in came.page.text


CODES: dict[Code, Reply] = {
    Code.HTTP_STATUS: Reply(b"gone", 410),
    Code.TOO_BIG: Reply(b"a" * 3_000_000),
    Code.WRONG_TYPE: Reply(b"PK", type="application/zip"),
    Code.UNREADABLE: Reply(b"%PDF-1.7", type="application/pdf"),
    Code.EMPTY: Reply(b"<html><body><script>render()</script><div id=app></div></body></html>"),
    Code.REDIRECTS: Reply(b"", 302, headers={"Location": "/"}),
    Code.INVALID_ADDRESS: Reply(b"", 302, headers={"Location": "gopher://127.0.0.1:6379/_x"}),
    Code.REFUSED: Reply(b"", 302, headers={"Location": "http://10.0.0.5/"}),
}


@pytest.mark.parametrize("code", CODES)
def test_each_way_to_fail_has_its_code(code: Code, site: Site) -> None:
    site.pages["/"] = CODES[code]
    came = fetch_web_page(f"{site.url}/", HERE)
    assert (came.code, came.page) == (code, None)
    assert (came.status == 410) is (code is Code.HTTP_STATUS)


@pytest.mark.parametrize("kind", ["pdf", "docx"])
def test_a_file_is_read_as_uploaded_ones_are_without_what_nobody_sees(kind: str, site: Site) -> None:
    samples = {"pdf": pdfs, "docx": word}[kind]
    sample = next(iter(samples("en", "Leave is granted in whole days here.", "Hidden words that nobody sees.")))
    (of_kind,) = (item for item, name in fetching.FILES.items() if name.endswith(kind))
    site.pages["/"] = Reply(sample.content, type=of_kind)
    came = fetch_web_page(f"{site.url}/", HERE)
    assert came.code is Code.OK
    assert came.page is not None
    assert "Leave is granted in whole days here." in came.page.text
    assert "Hidden words" not in came.page.text


def test_a_file_may_be_larger_than_a_page_and_not_without_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.pages["/"] = Reply(b"a" * 3_000_000, type="application/pdf")
    assert fetch_web_page(f"{site.url}/", HERE).code is Code.UNREADABLE
    monkeypatch.setattr(fetching, "FILE_BYTES", 2_500_000)
    assert fetch_web_page(f"{site.url}/", HERE).code is Code.TOO_BIG


def test_a_page_that_cannot_be_reached_says_why(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_request, "SILENCE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent_url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert fetch_web_page(silent_url, HERE).code is Code.TIMEOUT
    assert fetch_web_page(silent_url, HERE).code is Code.CONNECTION  # closed now
    assert fetch_web_page(site.url.replace("http:", "https:"), HERE).code is Code.TLS
    assert fetch_web_page("http://no-such-name.invalid/", HostRules()).code is Code.DNS
    assert fetch_web_page("nowhere", HostRules()).code is Code.INVALID_ADDRESS
    assert fetch_web_page(f"{site.url}/", HostRules()).code is Code.REFUSED, "loopback, that nobody named"
    assert fetch_web_page("http://other.example/", HERE).code is Code.REFUSED, "others are allowed, this one is not"


def test_a_page_of_nothing_but_tags_is_too_big() -> None:
    """Within its two megabytes it would keep a processor busy for minutes, for whoever asks beside it."""
    with serving_pages({"/": f"<html><body>{'<b>x</b>' * 25_000}{TEXT}</body></html>"}) as site:
        assert fetch_web_page(f"{site.url}/", HERE).code is Code.TOO_BIG


@pytest.mark.parametrize("talk", [drip, drip_a_header])
def test_who_sends_a_byte_now_and_then_is_left(
    talk: Callable[[socket.socket], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte is in time: without an end of the whole, six such servers would hold all threads of the process."""
    monkeypatch.setattr(web_request, "WHOLE_S", 0.2)
    with answering(talk) as url:
        assert fetch_web_page(url, HERE).code is Code.TIMEOUT  # and not what comes of the server's end


@pytest.mark.django_db
def test_the_company_s_hosts_open_what_is_inside_only_where_the_operator_names_it_too(settings: Any) -> None:
    WebHost.objects.create(entry="wiki.corp.example")
    WebHost.objects.create(entry="*.bad.example", is_allowed=False)
    settings.OUTGOING_ALLOW = ("private", "public")
    assert load_host_rules().inside == ()
    settings.OUTGOING_ALLOW = ("private", "wiki.corp.example")
    rules = load_host_rules()
    assert rules.inside == ("wiki.corp.example",)
    permitted = ["wiki.corp.example", "x.bad.example", "bad.example", "public.example"]
    assert [host for host in permitted if rules.permits(host)] == ["wiki.corp.example"]
    WebHost.objects.filter(is_allowed=True).delete()
    assert [host for host in permitted if load_host_rules().permits(host)] == [
        "wiki.corp.example",
        "bad.example",
        "public.example",
    ]


@pytest.mark.django_db
def test_what_is_no_host_is_refused() -> None:
    from django.core.exceptions import ValidationError

    for entry in ("http://x.example", "a,b", "a b", "", "127.1"):
        with pytest.raises(ValidationError):
            WebHost(entry=entry).full_clean()


@pytest.mark.django_db(transaction=True)
def test_pages_are_read_at_the_same_time_each_with_its_own_outcome(site: Site, settings: Any) -> None:
    """Three pages that wait for one another: one after the other none would come."""
    from asgiref.sync import async_to_sync

    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    WebHost.objects.create(entry="127.0.0.1")
    together = threading.Barrier(3, timeout=10)

    def wait(_headers: Any) -> Reply:
        together.wait()
        return Reply(page("Leave", text=TEXT).encode())

    for path in ("/a", "/b", "/c"):
        site.pages[path] = wait
    site.pages["/d"] = Reply(b"", 404)
    urls = [f"{site.url}/{name}" for name in "abcd"] + ["ftp://x.example/"]
    border = Border(own=(" ".join(urls),), has_looked=True)
    ctx = ToolContext(Principal.of(make_user()), Scope(), "en", border=border)
    args = WebFetchArgs.model_validate({"items": [{"url": url} for url in urls]})
    came = async_to_sync(WebFetch().run)(ctx, args)
    assert [item["code"] for item in came.data["results"]] == ["ok", "ok", "ok", "http_status", "not_offered"]
    assert [item["status"] for item in came.data["results"]] == ["ok", "ok", "ok", "failed", "failed"]
    first = came.data["results"][0]
    assert came.findings[0].outside is not None
    assert [(one["start"], one["end"]) for one in first["spans"]] == [(0, len(came.findings[0].outside.text))]
    assert "http_status 404: it answers with an error" in came.output
    assert not set(WebFetchArgs.model_fields) - {"items"}


def test_of_a_long_page_the_parts_that_answer_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import UTC, datetime

    filler = "\n".join(
        f"Paragraph {n} says that the office has plants and chairs, and nothing else at all." for n in range(200)
    )
    text = f"{filler}\nEmployees over sixty have one extra week of leave.\n{filler}"
    read_at = datetime(2026, 11, 25, tzinfo=UTC)
    found = select_page_passages(WebPage("https://x.example/", "Leave", text, read_at), "extra week of leave")
    assert len(found) == fetching.MAX_SPANS
    assert any("one extra week" in one.text for one in found)
    for one in found:
        assert text[one.start : one.end] == one.text
        assert len(one.text) <= fetching.SPAN_CHARACTERS
