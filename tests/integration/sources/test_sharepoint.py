"""A library of SharePoint and a OneDrive as sources, against a server that follows Microsoft Graph's published documentation."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, Source, SourceItem, SourceRunState
from knowledge.sources.base import Unreadable
from knowledge.sources.reading import preview_source, validate_settings
from knowledge.sources.services import save_source
from tests import microsoft_graph
from tests.factories import make_group, make_user
from tests.integration.sources.shelf import counts, item_of, paths, read, who, who_sees
from tests.microsoft_graph import CLIENT, ROOT, SECRET, TENANT, Entry, Tenant, granted, group, linked, site_group, user

Make = Callable[..., Source]
SITE = "https://example.sharepoint.com/sites/Handbook"

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant(settings: Any, tmp_path: Any) -> Iterator[Tenant]:
    """Documents ▸ Rules ▸ Pay ▸ bonus.md; Documents ▸ Rules ▸ deploy.md; Documents ▸ start.md; engineers may read."""
    settings.OUTGOING_ALLOW = ("127.0.0.1", "localhost")
    settings.SOURCE_CACHE = tmp_path / "cache"
    with microsoft_graph.serving_graph() as tenant:
        tenant.people["Engineers"] = ["chen", "lin"]
        tenant.put(Entry(ROOT, "root", "", permissions=[granted(group("Engineers"), "write")]))
        tenant.put(Entry("01BONUS", "bonus.md", "01PAY", "Nobody tells."))
        tenant.put(Entry("01PAY", "Pay", "01RULES"))
        tenant.put(Entry("01RULES", "Rules", ROOT))
        tenant.put(Entry("01DEPLOY", "deploy.md", "01RULES", "Nothing on a Friday."))
        tenant.put(Entry("01START", "start.md", ROOT, "Read the rules."))
        tenant.put(Entry("01TOOL", "tool.exe", ROOT, "no document"))
        yield tenant


@pytest.fixture
def people() -> list[User]:
    """chen and lin are engineers out there, mia is none; sales has mia here."""
    found = [make_user(name, email=f"{name}@example.com") for name in ("chen", "lin", "mia")]
    make_group("Sales", members=found[2:])
    return found


@pytest.fixture
def where(tenant: Tenant) -> dict[str, Any]:
    return {"tenant": TENANT, "client_id": CLIENT, "url": tenant.url, "login": tenant.url}


@pytest.fixture
def source(where: dict[str, Any], make_source: Make, people: list[User]) -> Source:
    return make_source("sharepoint", secret=SECRET, site=SITE, **where)


def deltas(tenant: Tenant) -> list[str]:
    return [path for path in tenant.asked if "/root/delta" in path]


def test_a_library_is_read_and_then_only_what_changed(source: Source, tenant: Tenant, folder: Folder) -> None:
    assert counts(read(source)) == {"added": 3}
    assert set(paths(folder)) == {"Rules/Pay/bonus.md", "Rules/deploy.md", "start.md"}
    deploy = item_of(source, "Rules/deploy.md")
    assert (deploy.url, deploy.author) == (f"{SITE}/Documents/Rules/deploy.md", "Mia")
    assert (deploy.sha256, deploy.modified_at) != ("", None)
    assert len(tenant.downloads) == 3
    assert not [sent for sent in tenant.downloads if "Authorization" in sent], "another host gets no sign-in"
    tenant.asked.clear()
    tenant.downloads.clear()
    assert counts(read(source)) == {"unchanged": 3}
    assert deltas(tenant) == ["/v1.0/drives/b!drive/root/delta?token=since:7"]
    tenant.change("01DEPLOY", text="Nothing at night.")
    assert counts(read(source)) == {"changed": 1, "unchanged": 2}
    assert len(tenant.downloads) == 1
    assert paths(folder)["Rules/deploy.md"] == "Nothing at night."


def test_a_download_goes_to_no_address_that_is_not_allowed(source: Source, tenant: Tenant, folder: Folder) -> None:
    tenant.content = "http://169.254.169.254"
    run = read(source)
    assert (counts(run), paths(folder)) == ({"failed": 3}, {})
    assert all("may not connect to 169.254.169.254 (169.254.169.254)" in problem["why"] for problem in run.problems)


def test_what_is_moved_or_renamed_keeps_its_document_and_what_is_gone_is_withdrawn(
    source: Source, tenant: Tenant, folder: Folder
) -> None:
    read(source)
    before = {path: item_of(source, path).document for path in ("Rules/Pay/bonus.md", "Rules/deploy.md")}
    tenant.change("01RULES", name="Policies")  # what lies below is not mentioned
    tenant.change("01DEPLOY", name="release.md", parent=ROOT)
    assert counts(read(source)) == {"moved": 2, "unchanged": 1}
    assert item_of(source, "Policies/Pay/bonus.md").document == before["Rules/Pay/bonus.md"]
    assert item_of(source, "release.md").document == before["Rules/deploy.md"]
    tenant.delete("01BONUS")
    assert counts(read(source)) == {"unchanged": 2, "withdrawn": 1}
    assert set(paths(folder)) == {"release.md", "start.md"}


def test_changes_that_are_forgotten_out_there_or_here_are_read_from_the_start(
    source: Source, tenant: Tenant, settings: Any
) -> None:
    read(source)
    tenant.delete("01BONUS")
    tenant.oldest = len(tenant.log)
    assert counts(read(source)) == {"unchanged": 2, "withdrawn": 1}
    (kept,) = settings.SOURCE_CACHE.glob("*/drive.json")
    kept.write_text("{")
    assert counts(read(source)) == {"unchanged": 2}


def test_a_folder_in_a_named_library_and_a_onedrive(make_source: Make, where: dict[str, Any], folder: Folder) -> None:
    source = make_source("sharepoint", secret=SECRET, site=SITE, library="documents", folder="/Rules/Pay/", **where)
    assert counts(read(source)) == {"added": 1}
    assert set(paths(folder)) == {"bonus.md"}
    mine = Source(kind="sharepoint", settings={"user": "lin@example.com", **where})
    assert preview_source(mine, secret=SECRET).count == 3


def test_rights_come_along_from_the_library_its_folders_and_files(
    ruled: Source, tenant: Tenant, people: list[User]
) -> None:
    tenant.change("01PAY", permissions=[granted(user("lin")), granted(user("mia", has_mail=False), "owner")])
    tenant.change("01START", permissions=[granted(group("Engineers")), linked("users", user("mia"))])
    assert counts(read(ruled)) == {"added": 3}
    assert who(ruled, people, "Rules/Pay/bonus.md", "Rules/deploy.md", "start (md)/start.md") == {
        "Rules/Pay/bonus.md": {"lin", "mia"},
        "Rules/deploy.md": {"chen", "lin"},
        "start (md)/start.md": {"chen", "lin", "mia"},
    }


@pytest.mark.parametrize("is_hierarchical", [True, False])
def test_a_right_that_ends_there_ends_here_with_the_next_run(
    ruled: Source, tenant: Tenant, people: list[User], is_hierarchical: bool
) -> None:
    tenant.is_hierarchical = is_hierarchical  # else the change of a permission is not told as a change
    read(ruled)
    assert who(ruled, people, "Rules/deploy.md") == {"Rules/deploy.md": {"chen", "lin"}}
    before = item_of(ruled, "Rules/deploy.md").document
    tenant.change("01DEPLOY", permissions=[granted(user("chen"))])
    assert counts(read(ruled)) == {"moved": 1, "unchanged": 2}
    assert who(ruled, people, "Rules/deploy (md)/deploy.md", "start.md") == {
        "Rules/deploy (md)/deploy.md": {"chen"},
        "start.md": {"chen", "lin"},
    }
    assert item_of(ruled, "Rules/deploy (md)/deploy.md").document == before
    tenant.change(ROOT, permissions=[])
    read(ruled)
    assert who(ruled, people, "Rules/deploy (md)/deploy.md", "start.md") == {
        "Rules/deploy (md)/deploy.md": {"chen"},
        "start.md": set(),
    }


UNSURE: list[dict[str, Any]] = [
    linked("anonymous"),
    linked("organization", user("mia")),
    linked("existingAccess", user("mia")),
    granted(user("mia"), "sp.limited access"),
    granted(user("mia"), expirationDateTime="2020-01-01T00:00:00Z"),
    {"id": "3", "roles": ["read"], "invitation": {"email": "mia@example.com"}},
    granted({"siteUser": {"displayName": "Everyone", "loginName": "c:0(.s|true"}}),
    granted({"application": {"id": "1", "displayName": "mia@example.com"}}),
    granted(user("nobody-here")),
    granted(group("Sales")),
    granted(site_group("Sales")),
]


def test_nobody_is_let_in_by_an_unsure_permission(ruled: Source, tenant: Tenant, people: list[User]) -> None:
    for number, permission in enumerate(UNSURE):
        tenant.put(Entry(f"01U{number}", f"u{number}.md", ROOT, "text", permissions=[permission]))
    read(ruled)
    items = list(SourceItem.unscoped.filter(source=ruled, path__regex=r"u\d+\.md$"))
    assert len(items) == len(UNSURE)
    assert {item.path: who_sees(ruled, item.path, people) for item in items} == {item.path: set() for item in items}


def test_a_group_whose_members_are_not_told_is_named_and_can_be_said(
    ruled: Source, tenant: Tenant, people: list[User]
) -> None:
    tenant.change(ROOT, permissions=[granted(site_group("Handbook Members")), granted(site_group("Visitors"))])
    run = read(ruled)
    assert (run.state, who_sees(ruled, "start.md", people)) == (SourceRunState.PARTIAL, set())
    assert {problem["why"] for problem in run.problems} == {
        f"It is not known who is in the group “{name}”: say in the settings what it is called here."
        for name in ("Handbook Members", "Visitors")
    }
    ruled.settings = {**ruled.settings, "groups": ["handbook members = Sales", "Visitors ="]}
    save_source(None, ruled)
    assert counts(read(ruled)) == {"unchanged": 3}
    assert who_sees(ruled, "start.md", people) == {"mia"}


def test_a_group_of_the_directory_is_said_by_its_address_and_not_by_a_name_that_others_may_have(
    ruled: Source, tenant: Tenant, people: list[User]
) -> None:
    tenant.people["Members"] = ["chen"]
    tenant.change(ROOT, permissions=[granted(group("Members"))])
    for name, expected in (("Members", {"chen"}), ("members@example.com", {"mia"})):
        ruled.settings = {**ruled.settings, "groups": [f"{name} = Sales"]}
        save_source(None, ruled)
        read(ruled)
        assert who_sees(ruled, "start.md", people) == expected


def test_what_was_kept_before_sharing_was_told_as_a_hierarchy_is_not_taken_for_inherited(
    ruled: Source, tenant: Tenant, people: list[User]
) -> None:
    tenant.is_hierarchical = False
    tenant.change("01DEPLOY", permissions=[granted(user("chen"))])
    read(ruled)
    tenant.is_hierarchical = True
    assert counts(read(ruled)) == {"unchanged": 3}
    assert who_sees(ruled, "Rules/deploy (md)/deploy.md", people) == {"chen"}


def test_what_vanishes_while_it_is_read_costs_itself_alone(ruled: Source, tenant: Tenant, people: list[User]) -> None:
    tenant.is_hierarchical = False
    tenant.vanished = "01START"
    assert counts(read(ruled)) == {"added": 2, "failed": 1}
    assert who_sees(ruled, "Rules/deploy.md", people) == {"chen", "lin"}


def test_a_server_that_is_asked_too_often_says_when_to_come_again(
    source: Source, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("knowledge.sources.http.sleep", waited.append)
    tenant.throttled = 1
    assert counts(read(source)) == {"added": 3}
    assert waited == [3.0]
    tenant.throttled = 2
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "cannot answer now (429)" in run.problem


def test_a_wrong_secret_a_wrong_place_and_another_server_say_so(
    source: Source, tenant: Tenant, folder: Folder, where: dict[str, Any]
) -> None:
    read(source)
    save_source(None, source, secret="coffee")
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "does not know this tenant, application and secret" in run.problem
    assert len(paths(folder)) == 3
    for wrong in ({"site": f"{SITE}2"}, {"library": "Nothing"}, {"folder": "Nothing"}):
        with pytest.raises(Unreadable, match="There is no such site, library"):
            preview_source(Source(kind="sharepoint", settings={"site": SITE, **where, **wrong}), secret=SECRET)


def test_a_next_page_at_another_server_is_not_asked_for(source: Source, tenant: Tenant) -> None:
    read(source)
    tenant.links = "http://localhost:1"
    tenant.oldest = len(tenant.log) + 1
    assert "names another server" in read(source).problem


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "either the address of a site or whose OneDrive"),
        ({"site": SITE, "user": "lin@example.com"}, "either the address of a site or whose OneDrive"),
        ({"site": "sites/Handbook"}, "site"),
        ({"site": SITE, "groups": ["Members"]}, "write each as a name there"),
        ({"site": SITE, "tenant": "a/b"}, "tenant"),
    ],
)
def test_settings_that_lead_nowhere_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        validate_settings("sharepoint", {"tenant": TENANT, "client_id": CLIENT, **given})


def test_a_secret_is_for_its_application_and_its_servers(source: Source) -> None:
    for changed in ({"tenant": "other.example"}, {"client_id": "other"}, {"login": "http://localhost:1"}):
        source.refresh_from_db()
        source.settings = {**source.settings, **changed}
        assert save_source(None, source) is True
        save_source(None, source, secret=SECRET)
