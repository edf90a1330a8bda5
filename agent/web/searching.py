"""Search the web through the company's service."""

import html
import re
from dataclasses import dataclass

from django.utils import timezone

from agent.connections.service_keys import KeyLost, opened
from agent.connections.web_request import NotRead, request
from agent.models import WebSearchProvider
from agent.run_state.outside import TITLE_CHARACTERS, WebPassage, host_of
from agent.web.fetching import plain
from agent.web.hosts import HostRules
from agent.web.search_kinds import KINDS, SearchKind, WebHit
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.outgoing.addresses import AddressRefused, Policy, parsed_host, parsed_url, services_at
from copilot_site.lib.text.json_input import loads_answer
from knowledge.text.language import language_of

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
    policy: Policy
    key: str = ""
    asks_first: bool = False

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.base_url!r})"

    @property
    def host(self) -> str:
        return host_of(self.base_url)


def used_service() -> Service | None:
    """Return the service in use, or None. Raises SearchFailed where its key cannot be read."""
    row = WebSearchProvider.objects.filter(is_used=True).first()
    return service_of(row) if row is not None else None


def service_of(row: WebSearchProvider) -> Service:
    """Make a service from a row, stored or not. Raises SearchFailed where its key cannot be read."""
    try:
        key = opened(row.encrypted_key, row.base_url)
    except KeyLost as error:
        raise SearchFailed(f"{row.name}: {error}") from error
    base_url = row.base_url.rstrip("/")
    return Service(row.name, KINDS[row.kind], base_url, row.most_results, services_at(base_url), key, row.asks_first)


def search(service: Service, query: str, rules: HostRules) -> list[WebPassage]:
    """Return hits on pages that may be read, best first, each once. Blocks: call it in a thread. Raises SearchFailed."""
    found: dict[str, WebPassage] = {}
    for hit in _hits(service, query):
        excerpt = plain(_text(hit.excerpt))[:MAX_EXCERPT]
        if excerpt and hit.url not in found and _may_read(hit.url, rules):
            title = plain(_text(hit.title))[:TITLE_CHARACTERS] or host_of(hit.url)
            found[hit.url] = WebPassage(hit.url, title, excerpt, 0, len(excerpt), timezone.now())
    return list(found.values())[: service.count]


def _hits(service: Service, query: str) -> list[WebHit]:
    language = "zh" if language_of(query) == "zh" else "en"
    asking = service.kind.asking(service.base_url, service.key, query, count=service.count, language=language)
    try:
        answer = request(
            "GET" if asking.body is None else "POST",
            asking.url,
            service.policy,
            most_bytes=MAX_BYTES,
            params=dict(asking.params),
            headers=dict(asking.headers),
            json=asking.body,
        )
    except NotRead as problem:
        raise SearchFailed(f"{service.name} does not answer: {problem.code.value}.") from problem
    if answer.status in {401, 403}:
        raise SearchFailed(f"{service.name} refuses ({answer.status}): check the key, and whether it allows JSON.")
    if answer.status != 200:
        raise SearchFailed(f"{service.name} answers {answer.status}.")
    try:
        return service.kind.hits(loads_answer(answer.body))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SearchFailed(f"{service.name} answers in another format than {service.kind.label}.") from error


def _may_read(url: str, rules: HostRules) -> bool:
    try:
        return rules.permits(parsed_host(parsed_url(url)[0]))
    except AddressRefused:
        return False


def _text(marked: str) -> str:
    return html.unescape(_TAG.sub("", marked))
