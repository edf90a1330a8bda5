"""A hundred texts that would run as scripts, wherever somebody's words are shown: titles, names, answers, results, reasons, the
administration. None runs, none becomes part of a page, and the policy that would stop it has nothing to report.
"""

from collections import defaultdict
from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Dialog, Error, Page
from playwright.sync_api import TimeoutError as TooSlow

from tests.e2e.hostile_world import PAYLOADS, HostileWorld
from tests.integration.load.server import web_process
from tests.integration.routes.addresses import Route, routes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What is in a page that no page of ours has: handlers, addresses that are programs, frames, styles, scripts of others.
FOREIGN = """() => {
  const found = window.xss ? ["it ran"] : [];
  const bad = /^(javascript|vbscript|data):/;
  for (const element of document.querySelectorAll("*")) {
    if (/^(iframe|object|embed|base|style|frame|marquee|isindex|xmp)$/.test(element.localName)) found.push(element.outerHTML);
    if (element.localName === "meta" && element.httpEquiv === "refresh") found.push(element.outerHTML);
    if (element.localName === "script" && !element.src && !/json/.test(element.type)) found.push(element.outerHTML);
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name) || name === "srcdoc") found.push(element.outerHTML);
      if (!/^(href|src|xlink:href|action|formaction|data|poster|srcset)$/.test(name)) continue;
      let address;
      try { address = new URL(value, "https://ours.example/"); } catch { continue; }
      const isLoaded = /^(script|link|img|source|video|audio|image)$/.test(element.localName);
      if (element.localName === "img" && address.protocol === "data:") continue; // a picture runs nothing
      if (bad.test(address.protocol) || (isLoaded && new URL(value, document.baseURI).origin !== location.origin)) {
        found.push(element.outerHTML);
      }
    }
  }
  return found.map(text => text.slice(0, 200));
}"""
SHOWN = """texts => {
  const fields = [...document.querySelectorAll("input, textarea, option, [title], [aria-label], [placeholder], [alt]")];
  const said = document.documentElement.textContent + " " + fields.map(
    field => [field.value, ...field.getAttributeNames().map(name => field.getAttribute(name))].join(" ")).join(" ");
  const flat = text => text.replace(/\\s+/g, " ");
  return texts.filter(text => flat(said).includes(flat(text)));
}"""
# Where the whole hundred is seen: as names of folders, as questions and answers, as those who have rights.
EVERYWHERE = ("library/folders/<folder_id>/", "chat/<session_id>/", "admin/rights/<kind>/<place_id>/")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(locale="en")
    yield context.new_page()
    context.close()


def watched(page: Page) -> list[str]:
    """What a page says that it must not say, as it comes: dialogs, faults, reports of the policy, requests to others."""
    said: list[str] = []

    def close(dialog: Dialog) -> None:
        said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", close)
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on(
        "console",
        lambda line: said.append(line.text) if line.type == "error" and "Failed to load" not in line.text else None,
    )
    page.on("request", lambda request: said.append(request.url) if "evil.example" in request.url else None)
    return said


def test_each_payload_is_caught_where_nothing_escapes_it(page: Page) -> None:
    """The control of the test below: in a page that writes these texts as they are, each one is seen."""
    page.route(
        "**/*",
        lambda route: route.fulfill(body=f"<!doctype html>{route.request.post_data or ''}", content_type="text/html"),
    )
    unseen = []
    for text in PAYLOADS:
        page.goto("https://ours.example/")
        html = f'<p>{text}</p><a title="{text}" href="{text}">a</a><a title=\'{text}\'>b</a>'
        page.evaluate("html => { document.open(); document.write('<!doctype html>' + html); document.close(); }", html)
        if not page.evaluate(FOREIGN):
            unseen.append(text)
    assert unseen == []


def test_no_payload_runs_or_becomes_part_of_a_page(page: Page) -> None:
    world = HostileWorld()
    said = watched(page)
    page.set_default_navigation_timeout(120_000)  # ms; other tests run beside this one
    foreign: dict[str, list[str]] = {}
    shown: defaultdict[str, set[str]] = defaultdict(set)
    with web_process() as (url, _process):
        cookie = world.clients["view"].cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": url}])
        for route, address in addresses(world):
            try:
                answer = page.goto(url + address, wait_until="domcontentloaded")
            except TooSlow:
                raise
            except Error:  # a file, which the browser would keep, or an answer without a page
                continue
            if answer is None or not answer.ok:
                continue
            if found := page.evaluate(FOREIGN):
                foreign[address] = found
            shown[route.path] |= set(page.evaluate(SHOWN, PAYLOADS))
    assert foreign == {}
    assert said == []
    assert {path: len(shown[path]) for path in EVERYWHERE} == dict.fromkeys(EVERYWHERE, len(PAYLOADS))


def addresses(world: HostileWorld) -> Iterator[tuple[Route, str]]:
    """Every address that is read; of conversations two: one of many answers, one with everything under one answer."""
    for route in routes():
        is_another = route.path.endswith(
            ("/history/", "<object_id>/")
        )  # leads to a page that is here, or shows what was done alone
        if route.method == "get" and not is_another and not route.path.startswith(("api/", "sign-")):
            yield route, world.address(route)
            if route.path == "chat/<session_id>/":
                yield route, world.address(route, {"session_id": world.talk.pk})
