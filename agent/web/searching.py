"""Search the web through the company's service."""

import html
import re
from dataclasses import dataclass

from django.utils import timezone

from agent.connections.service_keys import KeyLost, open_service_key
from agent.connections.web_request import RequestFailed, send_web_request
from agent.models import WebSearchProvider
from agent.run_state.outside import TITLE_CHARACTERS, WebPassage, parse_url_host
from agent.web.fetching import clean_web_text
from agent.web.hosts import HostRules
from agent.web.search_kinds import KINDS, SearchKind, WebHit
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.outgoing.addresses import (
    AddressPolicy,
    AddressRefused,
    build_http_service_policy,
    normalise_host,
    parse_url,
)
from copilot_site.lib.text.json_input import load_answer_json
from knowledge.text.language import detect_language

MAX_BYTES = 2_000_000
MAX_EXCERPT = 1_000  # characters
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class SearchFailed(CopilotError):
    """The service did not answer as expected. The text is for the model and for testers, in English."""


@dataclass(frozen=True)
class Service:
    """A usable service. key: in the clear, hidden when printed. asks_first: the person must allow each query."""

    name: str
    kind: SearchKind
    base_url: str
    count: int
    policy: AddressPolicy
    key: str = ""
    asks_first: bool = False

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.base_url!r})"

    @property
    def host(self) -> str:
        return parse_url_host(self.base_url)


def find_service_in_use() -> Service | None:
    """Return the service in use, or None. Raises SearchFailed where its key cannot be read."""
    row = WebSearchProvider.objects.filter(is_used=True).first()
    return build_search_service(row) if row is not None else None


def build_search_service(row: WebSearchProvider) -> Service:
    """Make a service from a row, stored or not. Raises SearchFailed where its key cannot be read."""
    try:
        key = open_service_key(row.encrypted_key, row.base_url)
    except KeyLost as error:
        raise SearchFailed(f"{row.name}: {error}") from error
    base_url = row.base_url.rstrip("/")
    return Service(
        row.name, KINDS[row.kind], base_url, row.most_results, build_http_service_policy(base_url), key, row.asks_first
    )


def search_web(service: Service, query: str, rules: HostRules) -> list[WebPassage]:
    """Return hits on pages that may be read, best first, each once. Blocks: call it in a thread. Raises SearchFailed."""
    found: dict[str, WebPassage] = {}
    for hit in _fetch_hits(service, query):
        excerpt = clean_web_text(_remove_markup(hit.excerpt))[:MAX_EXCERPT]
        if excerpt and hit.url not in found and _may_read_page(hit.url, rules):
            title = clean_web_text(_remove_markup(hit.title))[:TITLE_CHARACTERS] or parse_url_host(hit.url)
            found[hit.url] = WebPassage(hit.url, title, excerpt, 0, len(excerpt), timezone.now())
    return list(found.values())[: service.count]


def _fetch_hits(service: Service, query: str) -> list[WebHit]:
    language = "zh" if detect_language(query) == "zh" else "en"
    asking = service.kind.asking(service.base_url, service.key, query, count=service.count, language=language)
    try:
        answer = send_web_request(
            "GET" if asking.body is None else "POST",
            asking.url,
            service.policy,
            most_bytes=MAX_BYTES,
            params=dict(asking.params),
            headers=dict(asking.headers),
            json=asking.body,
        )
    except RequestFailed as problem:
        raise SearchFailed(f"{service.name} does not answer: {problem.code.value}.") from problem
    if answer.status in {401, 403}:
        raise SearchFailed(f"{service.name} refuses ({answer.status}): check the key, and whether it allows JSON.")
    if answer.status != 200:
        raise SearchFailed(f"{service.name} answers {answer.status}.")
    try:
        return service.kind.hits(load_answer_json(answer.body))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SearchFailed(f"{service.name} answers in another format than {service.kind.label}.") from error


def _may_read_page(url: str, rules: HostRules) -> bool:
    try:
        return rules.permits(normalise_host(parse_url(url)[0]))
    except AddressRefused:
        return False


def _remove_markup(marked: str) -> str:
    return html.unescape(_TAG.sub("", marked))
