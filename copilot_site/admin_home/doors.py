"""Links of the administration's first page, in groups. A new link is one more line of GROUPS."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from authz.governing import may_oversee
from authz.principal import Principal
from knowledge.sources.services import may_connect, seen_sources


@dataclass(frozen=True)
class Door:
    """route: of the page; for a table of the admin, whoever may see that table is shown the link. may: who else is."""

    name: Promise
    about: Promise
    route: str
    may: Callable[[User], bool] = lambda _user: True


def _skilled(user: User) -> bool:
    return user.has_perm("agent.add_skill") or user.has_perm("agent.review_skill")


def _has_sources(user: User) -> bool:
    return may_connect(user) or seen_sources(Principal.of(user), user).exists()


def _reads_the_log(user: User) -> bool:
    return user.has_perm("audit.view_entry")


def _table(name: str) -> str:
    return f"admin:{name}_changelist"


GROUPS: tuple[tuple[Promise, tuple[Door, ...]], ...] = (
    (
        _("Knowledge"),
        (
            Door(
                _("Knowledge bases"),
                _("Their names, whose they are, and whether hidden text answers."),
                _table("knowledge_knowledgebase"),
            ),
            Door(
                _("Sources of documents"),
                _("Wikis, shared folders, repositories and web sites that fill folders here."),
                "sources-of-documents",
                _has_sources,
            ),
            Door(_("Ingestion"), _("Queues, failures and another try."), "ingestion"),
            Door(
                _("Data sources"),
                _("Business databases: who may ask what, what words mean, and what a statement may do."),
                _table("business_datasource"),
            ),
            Door(
                _("Questions without a good answer"),
                _("What is not written, and what is written but was not shown first."),
                "gaps",
                may_oversee,
            ),
            Door(
                _("Trash"),
                _("Deleted documents that you could change: bring them back, or delete them for good."),
                "trash",
            ),
        ),
    ),
    (
        _("People and rights"),
        (
            Door(_("Folders and rights"), _("Who may do what where; give, deny, end and check rights."), "rights-tree"),
            Door(_("People and units"), _("Who belongs where, and what that lets them see."), "people"),
            Door(_("Access requests"), _("Who asks to be let in."), "access-requests"),
            Door(
                _("Company sign-in"), _("Sign in with the accounts of your company."), _table("socialaccount_socialapp")
            ),
            Door(
                _("Company directory"),
                _("Accounts that LDAP or SCIM keeps, and when they last changed."),
                _table("authz_directoryaccount"),
            ),
            Door(
                _("Groups of the company"),
                _("Which groups of the sign-in or directory lead to which groups here."),
                _table("authz_claimmapping"),
            ),
            Door(
                _("Accounts of programs"),
                _("Programs that sign in with a token, and what they may do."),
                _table("authz_serviceaccount"),
            ),
        ),
    ),
    (
        _("Assistants"),
        (
            Door(
                _("Assistants"),
                _("What an assistant may use, where it looks and how far it goes."),
                _table("agent_agentprofile"),
            ),
            Door(
                _("Language models"),
                _("Which models write answers, with their address, key and prices."),
                "language-models",
                lambda user: user.has_perm("agent.view_languagemodel"),
            ),
            Door(
                _("Skills"),
                _("Instructions and scripts for assistants: add, review, switch on, give to assistants."),
                "skills",
                _skilled,
            ),
            Door(
                _("Services with tools"),
                _("Programs outside whose tools assistants may use (MCP)."),
                _table("agent_mcpservice"),
            ),
            Door(
                _("Search of the web"),
                _("Which service is asked, and which hosts may be read."),
                _table("agent_websearchprovider"),
            ),
            Door(
                _("Bots in chat platforms"),
                _("Questions asked in Feishu or Lark, answered there."),
                _table("agent_chatbot"),
            ),
        ),
    ),
    (
        _("Answers and their quality"),
        (
            Door(
                _("Answers"), _("Replay an answer: rights, evidence and models as they were."), "answers", may_oversee
            ),
            Door(_("Ratings"), _("What people say about their answers."), "ratings", may_oversee),
            Door(
                _("Evaluation"),
                _("Questions asked again after a change, and what became of them."),
                "evaluations",
                may_oversee,
            ),
            Door(
                _("See as"),
                _("Folders, search and one question through another person's eyes."),
                "see-as-choose",
                may_oversee,
            ),
            Door(_("Use of models"), _("What each person and model cost, day by day."), _table("agent_dayofuse")),
        ),
    ),
    (
        _("Audit and system"),
        (
            Door(_("Who was shown this"), _("Who saw a document, and what a person saw."), "shown", _reads_the_log),
            Door(
                _("Audit log"),
                _("What was done, by whom, when and with which outcome; search, timelines and exports."),
                _table("audit_entry"),
            ),
            Door(_("Legal holds"), _("What may not be deleted for the time being, and why."), _table("audit_hold")),
            Door(
                _("Connections of the server"),
                _("Embedding service, mail and file storage, tried before they are set."),
                "server-connections",
                lambda user: user.is_superuser,
            ),
            Door(_("What takes long"), _("The slowest answers and statements."), "slow-work", _is_superuser),
            Door(
                _("Webhooks"),
                _("Which programs are told when something happens, and what became of it."),
                _table("knowledge_webhook"),
            ),
        ),
    ),
)


def doors(request: HttpRequest) -> list[tuple[Promise, list[tuple[Door, str]]]]:
    """Return the groups of links open to this person, with addresses, without empty groups."""
    tables = {model["admin_url"] for app in admin.site.get_app_list(request) for model in app["models"]}
    found = ((name, list(_open(request, ways, tables))) for name, ways in GROUPS)
    return [(name, ways) for name, ways in found if ways]


def open_pages(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Return (name, address) of every link open to this person."""
    yield from ((str(door.name), url) for _name, ways in doors(request) for door, url in ways)


def _open(request: HttpRequest, ways: tuple[Door, ...], tables: set[str]) -> Iterator[tuple[Door, str]]:
    for door in ways:
        try:
            url = reverse(door.route)
        except NoReverseMatch:  # of a part of the agent that was removed
            continue
        is_open = url in tables if door.route.startswith("admin:") else door.may(request.user)  # type: ignore[arg-type]
        if is_open:
            yield door, url
