"""Every page of the demo by its name, and the way to it: for pictures of all of them, and for tests that look at all of them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from playwright.sync_api import Page

ID = "[0-9a-f-]{36}"


class PagePath(NamedTuple):
    """A page: the address where the way to it begins, and a pattern for each link that is followed from there."""

    name: str
    start: str
    links: tuple[str, ...] = ()


READERS = (
    PagePath("library", "/library/"),
    PagePath("folder", "/library/", (f"^/library/{ID}/$", f"^/library/folders/{ID}/$")),
    PagePath("find", "/library/find/"),
    PagePath("find-words", "/library/find/?q=rolling&state=ready"),
    PagePath("search-test", "/library/search-test/?q=rolling+update&left=product&right=lexical"),
    PagePath("trash", "/library/trash/"),
    PagePath("kept-questions", "/library/questions/"),
    PagePath("verified-answers", "/library/verified/"),
    PagePath("verified-answer-new", "/library/verified/new/"),
    PagePath("document", "/library/find/?q=rolling", (f"^/documents/{ID}/$",)),
    PagePath("document-pdf", "/library/find/?type=.pdf", (f"^/documents/{ID}/$",)),
    PagePath("document-slides", "/library/find/?type=.pptx", (f"^/documents/{ID}/$",)),
    PagePath("document-table", "/library/find/?type=.xlsx", (f"^/documents/{ID}/$",)),
    PagePath("graph", "/library/find/?q=rolling", (f"^/documents/{ID}/$", f"^/documents/{ID}/graph/$")),
    PagePath("graph-name", "/library/find/?q=rolling", (f"^/documents/{ID}/$", f"^/documents/{ID}/graph/$", f"^/graph/{ID}/$")),
    PagePath("requests", "/requests/"),
    PagePath("tokens", "/tokens/"),
    PagePath("password", "/password/"),
    PagePath("second-factor", "/second-factor/"),
    PagePath("data", "/data/"),
    PagePath("conversations", "/chat/all/"),
    PagePath("who-sees", "/chat/who-sees/"),
    PagePath("not-found", "/documents/00000000-0000-0000-0000-000000000000/"),
)  # fmt: skip
SOURCE = r"/admin/business/datasource/[^/]+/change/"
LAYER = r"/admin/data-sources/[^/]+/layer/$"
ADMINISTRATORS = (
    *(
        PagePath("-".join(address.strip("/").split("/")[1:]) or "home", address)
        for address in (
            "/admin/", "/admin/rights/", "/admin/people/", "/requests/waiting/", "/admin/ingestion/", "/admin/see-as/",
             "/admin/answers/", "/admin/ratings/", "/admin/shown/", "/admin/gaps/", "/admin/privacy/", "/admin/connections/",
             "/admin/roles/", "/admin/search/", "/admin/data-sources/", "/admin/expert/", "/admin/evaluations/", "/admin/skills/",
            "/admin/sources/", "/admin/sources/new/web/", "/admin/sources/new/git/", "/admin/data-sources/check/",
            "/admin/audit/entry/", "/admin/audit/entry/export/", "/admin/audit/checkpoint/", "/admin/audit/hold/add/",
            "/admin/auth/user/", "/admin/auth/user/add/", "/admin/authz/orgunit/", "/admin/authz/orgunit/add/",
            "/admin/authz/role/", "/admin/authz/serviceaccount/add/", "/admin/authz/claimmapping/", "/admin/mfa/authenticator/",
            "/admin/language-models/", "/admin/language-models/add/", "/admin/agent/agentprofile/",
            "/admin/agent/agentprofile/add/", "/admin/agent/mcpservice/", "/admin/agent/mcpservice/add/",
            "/admin/agent/websearchprovider/", "/admin/agent/websearchprovider/add/", "/admin/agent/webhost/add/",
            "/admin/agent/dayofuse/", "/admin/agent/unitbudget/add/", "/admin/business/datasource/", "/admin/business/datasource/add/",
            "/admin/knowledge/knowledgebase/", "/admin/knowledge/document/", "/admin/knowledge/folder/",
        )
    ),
    PagePath("language-model-form", "/admin/language-models/add/?preset=ollama"),
    PagePath("second-factor-set-up", "/second-factor/set-up/"),
    PagePath("new-base", "/library/new/"),
    PagePath("rights-of-base", "/admin/rights/", (r"/admin/rights/base/[^/]+/$",)),
    PagePath("rights-of-folder", "/admin/rights/", (r"/admin/rights/folder/[^/]+/$",)),
    PagePath("rights-matrix", "/admin/rights/", (r"/admin/rights/matrix/[^/]+/$",)),
    PagePath("person", "/admin/people/", (r"/admin/people/\d+/$",)),
    PagePath("account", "/admin/auth/user/", (r"/admin/auth/user/\d+/change/",)),
    PagePath("unit", "/admin/authz/orgunit/", (r"/admin/authz/orgunit/\d+/change/",)),
    PagePath("audit-detail", "/admin/audit/entry/", (r"/admin/audit/entry/\d+/change/",)),
    PagePath("source-of-documents", "/admin/sources/", (f"/admin/sources/{ID}/$",)),
    PagePath("data-source", "/admin/business/datasource/", (SOURCE,)),
    PagePath("layer", "/admin/business/datasource/", (SOURCE, LAYER)),
    PagePath("layer-table", "/admin/business/datasource/", (SOURCE, LAYER, r"/layer/table/")),
    PagePath("connection", "/admin/business/datasource/", (SOURCE, r"/connection/$")),
    PagePath("base", "/admin/knowledge/knowledgebase/", (r"/admin/knowledge/knowledgebase/[^/]+/change/",)),
    PagePath("graph-of-base", "/admin/search/", (r"^/admin/graph/[^/]+/$",)),
    PagePath("passages-of-base", "/admin/search/", (r"^/admin/passages/[^/]+/$",)),
    PagePath("assistant", "/admin/agent/agentprofile/", (r"/admin/agent/agentprofile/[^/]+/change/",)),
)  # fmt: skip


def links_on(page: Page) -> list[str]:
    links: list[str] = page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href') || '')")
    return links


def address_of(page: Page, url: str, place: PagePath, links: dict[str, list[str]]) -> str:
    """Return the address of a page, found by following the last link of each kind on the way. Raises LookupError where there is none.

    links: those of the pages that were opened already, by address; what is opened now is added.
    """
    address = place.start
    for pattern in place.links:
        if address not in links:
            page.goto(url + address)
            links[address] = links_on(page)
        found = [link for link in links[address] if re.search(pattern, link)]
        if not found:
            raise LookupError(f"{address} leads to no {pattern}")
        address = found[-1]
    return address


def addresses_of(page: Page, url: str, places: tuple[PagePath, ...]) -> Iterator[tuple[str, str]]:
    """(name, address) of each. Where the caller opens each as it comes, no page is opened twice on the way to others."""
    links: dict[str, list[str]] = {}
    for place in places:
        address = address_of(page, url, place, links)
        yield place.name, address
        if page.url == url + address:
            links[address] = links_on(page)
