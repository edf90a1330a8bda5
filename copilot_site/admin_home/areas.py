"""The areas of the administration in the rail, and the pages in each. A new page is one more line of AREAS."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from authz.principal import Principal
from authz.rights.governing import may_oversee
from business.sources.connection_rights import list_seen_sources as seen_data
from business.sources.connection_rights import may_connect as may_connect_data
from knowledge.sources.services import list_managed_sources, may_connect_sources


@dataclass(frozen=True)
class AreaPage:
    """A page. route: its name, or a table of the admin by its app and model; people who may see that table are led there.

    may: who is led to a page of ours. also: names of the pages below it, which it is current for.
    """

    name: Promise
    route: str
    may: Callable[[User], bool] = lambda _user: True
    also: str = ""

    def holds(self, url_name: str) -> bool:
        """Return whether a page is this one or below it."""
        table = self.route.partition(":")[2].removesuffix("changelist")
        return url_name in {self.route, *self.also.split()} or bool(table and url_name.startswith(table))


@dataclass(frozen=True)
class Area:
    """Pages that belong together, under the name of the first that is open to a person."""

    icon: str
    doors: tuple[AreaPage, ...]


@dataclass(frozen=True)
class RailLink:
    """A line of the rail. more: the further pages of the area that a person is in. is_expert: leads to all tables."""

    name: str
    url: str
    is_current: bool
    icon: str = ""
    more: tuple["RailLink", ...] = ()
    is_expert: bool = False


def _may_edit_or_review_skills(user: User) -> bool:
    return user.has_perm("agent.add_skill") or user.has_perm("agent.review_skill")


def _has_sources(user: User) -> bool:
    return may_connect_sources(user) or list_managed_sources(Principal.of(user), user).exists()


def _has_data_sources(user: User) -> bool:
    return may_connect_data(user) or seen_data(Principal.of(user), user).exists()


def _may_view_models(user: User) -> bool:
    return user.has_perm("agent.view_languagemodel")


def _may_read_log(user: User) -> bool:
    return user.has_perm("audit.view_entry")


def _is_superuser(user: User) -> bool:
    return user.is_superuser


def _build_table_route(name: str) -> str:
    return f"admin:{name}_changelist"


PEOPLE = "person membership auth_user_add auth_user_change authz_orgunit_add authz_orgunit_change"
RIGHTS = "rights-several rights-place rights-change rights-why rights-matrix"
DATA = "check-sql source-connection source-layer source-draft source-table business_datasource_add business_datasource_change"
BASES = "graph-of-base fields-of-base passages-of-base"

AREAS: tuple[Area, ...] = (
    Area("home", (AreaPage(_("Overview"), "admin:index", also="index"),)),
    Area(
        "people",
        (
            AreaPage(_("People and units"), "people", also=PEOPLE),
            AreaPage(_("Company sign-in"), _build_table_route("socialaccount_socialapp")),
            AreaPage(_("Company directory"), _build_table_route("authz_directoryaccount")),
            AreaPage(_("Groups of the company"), _build_table_route("authz_claimmapping")),
            AreaPage(_("Accounts of programs"), _build_table_route("authz_serviceaccount")),
        ),
    ),
    Area("badge", (AreaPage(_("Roles"), "roles", _is_superuser, "authz_role_add authz_role_change"),)),
    Area(
        "lock",
        (
            AreaPage(_("Folders and rights"), "rights-tree", also=RIGHTS),
            AreaPage(_("Access requests"), "access-requests"),
            AreaPage(_("View as"), "see-as-choose", may_oversee, "see-as"),
        ),
    ),
    Area(
        "model",
        (
            AreaPage(_("Language models"), "language-models", _may_view_models, "language-model language-model-add"),
            AreaPage(_("Use of models"), _build_table_route("agent_dayofuse")),
            AreaPage(_("Budgets of units"), _build_table_route("agent_unitbudget")),
        ),
    ),
    Area(
        "assistant",
        (
            AreaPage(_("Assistants"), _build_table_route("agent_agentprofile")),
            AreaPage(_("Skills"), "skills", _may_edit_or_review_skills, "skill"),
            AreaPage(_("Services with tools"), _build_table_route("agent_mcpservice")),
            AreaPage(_("Search of the web"), _build_table_route("agent_websearchprovider")),
            AreaPage(_("Bots in chat platforms"), _build_table_route("agent_chatbot")),
        ),
    ),
    Area("database", (AreaPage(_("Data sources"), "data-sources", _has_data_sources, DATA),)),
    Area(
        "source",
        (
            AreaPage(_("Sources"), "sources-of-documents", _has_sources, "source-of-documents source-of-documents-new"),
            AreaPage(_("Knowledge bases"), _build_table_route("knowledge_knowledgebase")),
            AreaPage(_("Ingestion"), "ingestion"),
            AreaPage(_("Trash"), "trash"),
            AreaPage(_("Webhooks"), _build_table_route("knowledge_webhook")),
        ),
    ),
    Area(
        "search",
        (
            AreaPage(_("Search settings"), "search-settings", also=BASES),
            AreaPage(_("Connections of the server"), "server-connections", _is_superuser),
            AreaPage(_("What takes long"), "slow-work", _is_superuser),
        ),
    ),
    Area(
        "quality",
        (
            AreaPage(_("Answers"), "answers", may_oversee, "replay"),
            AreaPage(_("Ratings"), "ratings", may_oversee),
            AreaPage(_("Questions without a good answer"), "gaps", may_oversee),
            AreaPage(_("Evaluation"), "evaluations", may_oversee, "evaluation evaluation-runs"),
        ),
    ),
    Area(
        "log",
        (
            AreaPage(_("Audit log"), _build_table_route("audit_entry")),
            AreaPage(_("Who was shown this"), "shown", _may_read_log),
            AreaPage(_("Privacy"), "privacy", _is_superuser),
            AreaPage(_("Legal holds"), _build_table_route("audit_hold")),
        ),
    ),
    Area("tools", (AreaPage(_("Expert"), "expert"),)),
)


def add_areas(each_context: Callable[[HttpRequest], dict[str, Any]]) -> Callable[[HttpRequest], dict[str, Any]]:
    """Add the rail's areas, and the link to the page that this one belongs to, to the context of every page."""

    @wraps(each_context)
    def context(request: HttpRequest) -> dict[str, Any]:
        found = each_context(request)
        if found["has_permission"]:
            found["areas"], found["here"] = _build_areas(request, _collect_table_addresses(found["available_apps"]))
        return found

    return context


def list_open_pages(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Return (name, address) of every page open to this person."""
    tables = _collect_table_addresses(admin.site.get_app_list(request))
    yield from ((str(door.name), url) for area in AREAS for door, url in _iterate_open_doors(request, area, tables))


def _build_areas(request: HttpRequest, tables: set[str]) -> tuple[list[RailLink], RailLink]:
    """Return the areas with a page open to this person, and the current page; a table without a page is the experts'."""
    match = request.resolver_match
    name = (match.url_name if match else "") or ""
    found, here = [], None
    for area in AREAS:
        links = [
            RailLink(str(door.name), url, door.holds(name)) for door, url in _iterate_open_doors(request, area, tables)
        ]
        if links:
            inside = next((link for link in links if link.is_current), None)
            here = here or inside
            found.append(replace(links[0], icon=area.icon, more=tuple(links[1:]) if inside else ()))
    if here is None:
        here = found[-1] = replace(found[-1], is_current=True, is_expert=True)
    return found, here


def _collect_table_addresses(apps: Iterable[Mapping[str, Any]]) -> set[str]:
    return {model["admin_url"] for app in apps for model in app["models"]}


def _iterate_open_doors(request: HttpRequest, area: Area, tables: set[str]) -> Iterator[tuple[AreaPage, str]]:
    for door in area.doors:
        try:
            url = reverse(door.route)
        except NoReverseMatch:  # of a part of the agent that was removed
            continue
        is_table = door.route.endswith("_changelist")
        if url in tables if is_table else door.may(request.user):  # type: ignore[arg-type]
            yield door, url
