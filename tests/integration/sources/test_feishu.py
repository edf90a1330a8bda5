"""A wiki space of Feishu as a source, against a server that follows the published documentation of its open API."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, KnowledgeBase, Source, SourceRunState
from knowledge.sources.reading import validate_settings
from knowledge.sources.services import save_source
from tests.factories import make_group, make_user
from tests.feishu_wiki import APP_ID, SECRET, SPACE, Node, Sheet, Wiki, person, serving_feishu
from tests.integration.sources.shelf import counts, item_of, paths, read, who, who_sees

Make = Callable[..., Source]

pytestmark = pytest.mark.django_db


@pytest.fixture
def wiki(settings: Any) -> Iterator[Wiki]:
    """指南 ▸ 部署 ▸ Night; Pay / bonus; forms.csv; a mind note that holds a page; chen and lin are members."""
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    with serving_feishu() as wiki:
        wiki.members = [person("chen"), person("lin", "userid")]
        wiki.put(Node("wikGuide", "指南"))
        wiki.put(Node("wikDeploy", "部署", "周五不部署。", parent="wikGuide"))
        wiki.put(Node("wikNight", "Night", parent="wikDeploy"))
        wiki.put(Node("wikBonus", "Pay / bonus"))
        wiki.put(Node("wikForms", "forms.csv", "name,days\nleave,30", kind="file"))
        wiki.put(Node("wikMind", "Budget", kind="mindnote"))
        wiki.put(Node("wikPlan", "Plan", parent="wikMind"))
        wiki.put(Node("wikLink", "A shortcut", is_shortcut=True))
        yield wiki


@pytest.fixture
def people() -> list[User]:
    found = [make_user(name, email=f"{name}@example.com") for name in ("chen", "lin", "mia")]
    make_group("Sales", members=found[2:])
    return found


@pytest.fixture
def where(wiki: Wiki) -> dict[str, Any]:
    return {"url": wiki.url, "app_id": APP_ID, "space": SPACE, "site": "https://company.feishu.cn"}


@pytest.fixture
def source(where: dict[str, Any], make_source: Make, people: list[User]) -> Source:
    return make_source("feishu", secret=SECRET, **where)


def test_a_space_is_read_and_then_only_what_changed(source: Source, wiki: Wiki, folder: Folder) -> None:
    assert counts(read(source)) == {"added": 6}
    assert set(paths(folder)) == {
        "指南.md", "指南/部署.md", "指南/部署/Night.md", "Pay - bonus.md", "forms.csv", "Budget/Plan.md",
    }  # fmt: skip
    assert paths(folder)["指南/部署.md"] == "# 部署\n\n周五不部署。\n"
    assert paths(folder)["forms.csv"] == "name,days\nleave,30"
    deploy = item_of(source, "指南/部署.md")
    assert (deploy.title, deploy.url) == ("部署", "https://company.feishu.cn/wiki/wikDeploy")
    wiki.asked.clear()
    assert counts(read(source)) == {"unchanged": 6}
    assert not [path for path in wiki.asked if path.startswith(("docs/", "drive/"))]
    wiki.nodes["wikDeploy"].text, wiki.nodes["wikDeploy"].edited = "晚上不部署。", 1764000060
    assert counts(read(source)) == {"changed": 1, "unchanged": 5}
    assert paths(folder)["指南/部署.md"] == "# 部署\n\n晚上不部署。\n"
    assert wiki.signed_in == 3  # once a run
    before = item_of(source, "指南/部署/Night.md").document
    wiki.nodes["wikDeploy"].title, wiki.nodes["wikDeploy"].parent = "Release", "wikBonus"
    assert counts(read(source)) == {"moved": 2, "unchanged": 4}
    assert item_of(source, "Pay - bonus/Release/Night.md").document == before


def spreadsheet(*sheets: Sheet) -> Node:
    return Node("wikCost", "Costs", kind="sheet", sheets=list(sheets))


def test_a_spreadsheet_is_one_document_with_the_sheets_that_are_seen(
    source: Source, wiki: Wiki, folder: Folder
) -> None:
    link = [{"type": "url", "text": "the offer", "link": "https://example.com/offer"}]
    costs: list[list[Any]] = [
        ["Item", "Yuan", "By"],
        ["Desk & lamp", 1200, "2026-11-01"],
        [None, None, None],
        [link, 3.5, None],
    ]
    wiki.put(
        spreadsheet(
            Sheet("s1", "2026", costs),
            Sheet("s2", "Draft", [["secret", 1]], is_hidden=True),
            Sheet("s3", "Base", [], kind="bitable"),
            Sheet("s4", "Wide", [["a", *[None] * 28, "z"]], rows=4_001, columns=30, last_column="AD"),
            Sheet("s5", "Empty", [[None]]),
        )
    )
    assert counts(read(source)) == {"added": 7}
    assert paths(folder)["Costs.html"] == (
        '<html><head><meta charset="utf-8"><title>Costs</title></head><body><h1>Costs</h1>'
        "<h2>2026</h2><table><tr><th>Item</th><th>Yuan</th><th>By</th></tr>"
        "<tr><td>Desk &amp; lamp</td><td>1200</td><td>2026-11-01</td></tr><tr><td>the offer</td><td>3.5</td><td></td></tr></table>"
        f"<h2>Wide</h2><table><tr><th>a</th>{'<th></th>' * 28}<th>z</th></tr></table><h2>Empty</h2></body></html>"
    )
    asked = [path.rpartition("/")[2] for path in wiki.asked if path.startswith("sheets/v2")]
    assert asked == ["s1!A1:T200", "s4!A1:AD2000", "s4!A2001:AD4000", "s4!A4001:AD4001", "s5!A1:T200"]
    wiki.asked.clear()
    assert counts(read(source)) == {"unchanged": 7}
    assert not [path for path in wiki.asked if path.startswith("sheets/")]


def test_a_spreadsheet_that_is_too_large_is_named_and_the_rest_comes(source: Source, wiki: Wiki) -> None:
    wiki.put(spreadsheet(Sheet("s1", "All", [["a"]], rows=50_001, columns=20)))
    run = read(source)
    assert counts(run) == {"added": 6, "failed": 1}
    assert [problem["why"] for problem in run.problems] == ["“Costs” has more than 1000000 cells."]
    assert not [path for path in wiki.asked if path.startswith("sheets/v2")]


def test_rights_come_along_from_the_space_and_its_locked_pages(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    wiki.nodes["wikDeploy"].is_locked = True
    wiki.nodes["wikDeploy"].readers = (person("lin"), person("mia", "unionid"))
    wiki.nodes["wikForms"].is_locked = True
    wiki.nodes["wikForms"].readers = ({"member_type": "email", "member_id": "Chen@example.com"},)
    assert counts(read(ruled)) == {"added": 6}
    assert who(ruled, people, "指南.md", "指南/部署/部署.md", "指南/部署/Night.md", "forms (csv)/forms.csv") == {
        "指南.md": {"chen", "lin"},
        "指南/部署/部署.md": {"lin", "mia"},
        "指南/部署/Night.md": {"lin", "mia"},
        "forms (csv)/forms.csv": {"chen"},
    }


def test_a_right_that_ends_there_ends_here_with_the_next_run(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    read(ruled)
    assert who_sees(ruled, "指南/部署.md", people) == {"chen", "lin"}
    wiki.nodes["wikDeploy"].is_locked = True
    wiki.nodes["wikDeploy"].readers = (person("chen"),)
    assert counts(read(ruled)) == {"moved": 1, "unchanged": 5}
    assert who(ruled, people, "指南/部署/部署.md", "指南.md") == {
        "指南/部署/部署.md": {"chen"},
        "指南.md": {"chen", "lin"},
    }
    wiki.members = []
    wiki.nodes["wikDeploy"].is_locked = False
    read(ruled)
    assert who(ruled, people, "指南/部署.md", "指南.md") == {"指南/部署.md": set(), "指南.md": set()}


def test_what_is_said_of_one_page_is_not_said_of_another_of_its_name(
    ruled: Source, wiki: Wiki, people: list[User]
) -> None:
    wiki.put(Node("wikTwinA", "Night", parent="wikGuide", is_locked=True, readers=(person("mia"),)))
    wiki.put(Node("wikTwinB", "NIGHT", parent="wikGuide"))
    read(ruled)
    assert who(ruled, people, "指南/Night (kTwinA)/Night (kTwinA).md", "指南/NIGHT (kTwinB).md") == {
        "指南/Night (kTwinA)/Night (kTwinA).md": {"mia"},
        "指南/NIGHT (kTwinB).md": {"chen", "lin"},
    }


UNSURE: list[dict[str, str]] = [
    {**person("mia"), "perm": "no_permission"},
    {**person("mia"), "perm_type": "single_page"},
    {**person("mia"), "type": "app"},
    {"member_type": "appid", "member_id": "mia@example.com", "type": "app"},
    {"member_type": "email", "member_id": "nobody@example.com"},
    {"member_type": "opendepartmentid", "member_id": "od-mia", "type": "department"},
    {"member_type": "openchat", "member_id": "Sales", "type": "chat"},
]


def test_nobody_is_let_in_by_an_unsure_member(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    """A locked page does not inherit, and so the space's members do not see it either."""
    for number, member in enumerate(UNSURE):
        wiki.put(Node(f"wikU{number}", f"u{number}", "text", is_locked=True, readers=(member,)))
    read(ruled)
    pages = [f"u{number}/u{number}.md" for number in range(len(UNSURE))]
    assert who(ruled, people, *pages) == {page: set() for page in pages}


def test_a_department_is_named_and_can_be_said(ruled: Source, wiki: Wiki, people: list[User]) -> None:
    wiki.members = [{"member_type": "opendepartmentid", "member_id": "od-4e6ac", "type": "department"}]
    run = read(ruled)
    assert (run.state, who_sees(ruled, "指南.md", people)) == (SourceRunState.PARTIAL, set())
    assert [problem["why"] for problem in run.problems] == [
        "It is not known who belongs to “od-4e6ac” (opendepartmentid): say in the settings what it is called here."
    ]
    ruled.settings = {**ruled.settings, "groups": ["od-4e6ac = Sales"]}
    save_source(None, ruled)
    assert counts(read(ruled)) == {"unchanged": 6}
    assert who_sees(ruled, "指南.md", people) == {"mia"}


def test_people_that_the_application_may_not_look_up_are_not_let_in(
    ruled: Source, wiki: Wiki, people: list[User]
) -> None:
    wiki.may_look_up = False
    run = read(ruled)
    assert who_sees(ruled, "指南.md", people) == set()
    assert {problem["why"] for problem in run.problems} == {
        "Feishu refuses: Access denied. One of the following scopes is required (99991672)."
    }


def test_a_space_that_does_not_say_what_is_locked_brings_nothing(ruled: Source, wiki: Wiki, folder: Folder) -> None:
    wiki.nodes["wikBonus"] = replace(wiki.nodes["wikBonus"], is_locked=None)  # type: ignore[arg-type]
    run = read(ruled)
    assert (run.state, paths(folder)) == (SourceRunState.FAILED, {})
    assert "does not say whether “Pay - bonus” is locked" in run.problem


@pytest.mark.parametrize("status", [200, 429])
def test_calls_that_come_too_often_wait_as_long_as_they_are_told(
    source: Source, wiki: Wiki, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    waited: list[float] = []
    for module in ("http", "feishu_api"):
        monkeypatch.setattr(f"knowledge.sources.{module}.sleep", waited.append)
    wiki.too_often, wiki.status = 2, status
    assert counts(read(source)) == {"added": 6}
    assert 3 in waited
    wiki.too_often = 1000
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "called too often" in run.problem


def test_at_the_page_it_is_tried_with_rights_and_made_with_its_secret_sealed(
    wiki: Wiki, where: dict[str, Any], base: KnowledgeBase, people: list[User]
) -> None:
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    wiki.members.append({"member_type": "openchat", "member_id": "oc_all", "type": "chat"})
    form = {f"set_{name}": value for name, value in where.items()} | {
        "name": "Wiki", "base": str(base.pk), "path": "Wiki", "secret": SECRET, "set_groups": "oc_all = Sales\nod-1 =",
        "every_minutes": "60", "most_per_minute": "0", "grace_hours": "24", "takes_rights": "on", "is_active": "on",
    }  # fmt: skip
    shown = client.post("/admin/sources/new/feishu/", {**form, "set_groups": "", "try": ""}).content.decode()
    assert "6 pages would come" in shown
    assert "It is not known who belongs to “oc_all” (openchat)" in shown
    assert not Source.unscoped.exists()
    assert client.post("/admin/sources/new/feishu/", {**form, "save": ""}).status_code == 302
    source = Source.unscoped.get()
    assert source.settings["groups"] == ["oc_all = Sales", "od-1 ="]
    assert SECRET not in f"{source.encrypted_secret} {source.settings}"
    assert counts(read(source)) == {"added": 6}
    assert who_sees(source, "指南.md", people) == {"chen", "lin", "mia"}


@pytest.mark.parametrize(
    ("given", "says"),
    [({"space": "https://company.feishu.cn/wiki/1"}, "wiki space"), ({"url": "feishu"}, "address of the API"),
     ({"groups": ["od-1"]}, "write each as a name there"), ({"app_id": "a/b"}, "application")],
)  # fmt: skip
def test_settings_that_lead_nowhere_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        validate_settings("feishu", {"app_id": APP_ID, "space": SPACE, **given})


def test_both_hosts_are_known_and_a_secret_is_for_one(source: Source) -> None:
    assert (
        validate_settings("feishu", {"app_id": APP_ID, "space": SPACE}).address
        == f"https://open.feishu.cn:443 {APP_ID}"
    )
    source.settings = {**source.settings, "url": "https://open.larksuite.com"}
    assert save_source(None, source) is True
