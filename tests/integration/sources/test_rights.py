"""Rights that come along with a source: exact sets of people, before, after and when something out there is not sure."""

from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights, list_grants, revoke_rights
from knowledge.governance.review import explain_rights
from knowledge.models import Document, Folder, KnowledgeBase, Source, SourceRunState
from knowledge.services.access import break_inheritance
from knowledge.services.folders import rename_folder
from knowledge.sources.services import delete_source, save_source
from tests.factories import allow, make_group, make_user
from tests.git_server import make_repository, serving
from tests.integration.sources.shelf import counts, item_of, read, who_sees

Make = Callable[..., Source]
OPEN = 'rights:\n- below: ""\n  groups: [Engineering]\n'
NARROW = OPEN + "- below: people/pay\n  people: [lin]\n"

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> dict[str, User]:
    found = {name: make_user(name) for name in ("chen", "lin", "staff", "keeper")}
    make_group("Engineering", members=[found["chen"]])
    make_group("Everybody", members=[found["staff"]])
    return found


@pytest.fixture
def source(opened: Path, make_source: Make, people: dict[str, User], base: KnowledgeBase) -> Source:
    """Everybody may see the base, and the keeper manages it."""
    from django.contrib.auth.models import Group

    grant_rights(None, [Right.VIEW], base, to=Group.objects.get(name="Everybody"))
    allow(people["keeper"], base, *Right)
    (opened / "people" / "pay").mkdir(parents=True)
    (opened / "guide.md").write_text("guide")
    (opened / "people" / "pay" / "pay.md").write_text("pay")
    (opened / ".rights.yaml").write_text(NARROW)
    source = make_source("folder", path=str(opened))
    source.takes_rights = True
    save_source(None, source)
    return source


def seen(source: Source, people: dict[str, User]) -> dict[str, set[str]]:
    return {path: who_sees(source, path, people.values()) for path in ("guide.md", "people/pay/pay.md")}


def test_rights_come_along_and_end_with_the_next_run(
    source: Source, people: dict[str, User], opened: Path, folder: Folder
) -> None:
    """A folder without a rule of its own is as open as the one above it."""
    narrow = {"guide.md": {"chen"}, "people/pay/pay.md": {"lin"}}
    assert (counts(read(source)), seen(source, people)) == ({"added": 2}, narrow)
    assert (counts(read(source)), seen(source, people)) == ({"unchanged": 2}, narrow)
    pay = item_of(source, "people/pay/pay.md").document
    assert pay is not None
    held = Folder.objects.reachable_by(Principal.of(people["keeper"]), Right.MANAGE)
    assert {folder.pk, pay.folder_id} <= set(held.values_list("pk", flat=True)), "managers above manage on"
    for rules, readers in (
        (NARROW.replace("[lin]", "[chen]"), {"chen"}),
        (OPEN, {"chen"}),
        ('rights:\n- below: ""\n', set()),
    ):
        (opened / ".rights.yaml").write_text(rules)
        read(source)
        assert seen(source, people) == {"guide.md": readers, "people/pay/pay.md": readers}, rules


UNSURE = [
    None, "", "rights: {", "rights:\n- below: x\n  groups: [Engineering]\n", NARROW.replace("people: [lin]", "peple: [lin]"),
    NARROW + "- below: ../pay\n", NARROW.replace("people/pay", "people/pay/pay.md"), NARROW.replace("people/pay", "People/pay"),
]  # fmt: skip


def test_unsure_rules_bring_nothing_and_let_nobody_in(source: Source, people: dict[str, User], opened: Path) -> None:
    read(source)
    (opened / "people" / "pay" / "new.md").write_text("new")
    for rules in UNSURE:
        (opened / ".rights.yaml").unlink()
        if rules is not None:
            (opened / ".rights.yaml").write_text(rules)
        run = read(source)
        assert (run.state, counts(run)) == (SourceRunState.FAILED, {}), rules
        assert seen(source, people) == {"guide.md": {"chen"}, "people/pay/pay.md": {"lin"}}, rules
        (opened / ".rights.yaml").touch()


def test_names_that_nobody_has_here_let_nobody_in_and_are_told(
    source: Source, people: dict[str, User], opened: Path
) -> None:
    (opened / ".rights.yaml").write_text(OPEN + "- below: people/pay\n  people: [nobody, lin]\n  groups: [Pay]\n")
    run = read(source)
    assert run.state == SourceRunState.PARTIAL
    assert sorted(problem["why"] for problem in run.problems) == [
        "There is no group called “Pay” here.", "There is nobody called “nobody” here.",
    ]  # fmt: skip
    assert seen(source, people)["people/pay/pay.md"] == {"lin"}


def test_why_somebody_sees_it_names_the_source(source: Source, people: dict[str, User]) -> None:
    read(source)
    pay = item_of(source, "people/pay/pay.md").document
    assert pay is not None
    rows = list_grants(pay.folder)
    assert [row.holder for row in rows if row.right == Right.VIEW] == ["lin"]
    root = Principal.of(make_user(is_superuser=True))
    said = {right.right: right for right in explain_rights(root, people["lin"], pay)}[Right.VIEW]
    assert said.is_allowed
    assert said.decisive is not None
    assert said.decisive.row.by == "folder source"


def test_what_a_person_gave_stays_when_the_source_s_ends(
    source: Source, people: dict[str, User], opened: Path, folder: Folder
) -> None:
    read(source)
    grant_rights(None, [Right.VIEW], folder, to=people["staff"])
    (opened / ".rights.yaml").write_text(NARROW.replace("groups: [Engineering]", "people: [staff, chen]"))
    read(source)
    assert seen(source, people)["guide.md"] == {"staff", "chen"}
    (opened / ".rights.yaml").write_text(NARROW.replace("groups: [Engineering]", "people: [chen]"))
    read(source)
    assert seen(source, people)["guide.md"] == {"staff", "chen"}
    revoke_rights(None, [Right.VIEW], folder, of=people["staff"])
    assert seen(source, people)["guide.md"] == {"chen"}


def test_a_folder_that_is_renamed_here_stays_closed(source: Source, people: dict[str, User], opened: Path) -> None:
    read(source)
    pay = item_of(source, "people/pay/pay.md").document
    assert pay is not None
    allow(people["keeper"], pay.folder, *Right)
    rename_folder(Principal.of(people["keeper"]), folder_id=pay.folder_id, name="Salaries")
    (opened / "people" / "pay" / "new.md").write_text("new")
    read(source)
    sees = {**seen(source, people), "new": who_sees(source, "people/pay/new.md", people.values())}
    assert sees == {"guide.md": {"chen"}, "people/pay/pay.md": {"lin", "keeper"}, "new": {"lin"}}


def test_a_source_that_is_deleted_takes_its_rights_with_it(source: Source, people: dict[str, User]) -> None:
    read(source)
    delete_source(make_user(is_superuser=True), source, withdraw=False)
    seen_by = {user.username for user in people.values() if Document.objects.visible_to(Principal.of(user)).exists()}
    assert seen_by == set()


@pytest.mark.needs("git")
def test_rights_of_a_git_repository(
    opened: Path, make_source: Make, people: dict[str, User], settings: LazySettings
) -> None:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    make_repository(opened / "wiki", {"guide.md": "guide", "people/pay/pay.md": "pay", ".rights.yaml": NARROW})
    with serving(opened) as (url, _asked):
        source = make_source("git", url=f"{url}/wiki/.git")
        source.takes_rights = True
        save_source(None, source)
        read(source)
        assert seen(source, people) == {"guide.md": {"chen"}, "people/pay/pay.md": {"lin"}}


def test_a_folder_that_a_person_closed_stays_closed_when_its_rule_ends(
    source: Source, people: dict[str, User], opened: Path
) -> None:
    (opened / ".rights.yaml").write_text(OPEN)
    read(source)
    pay = item_of(source, "people/pay/pay.md").document
    assert pay is not None
    allow(people["keeper"], pay.folder, Right.MANAGE)
    break_inheritance(None, pay.folder)
    (opened / ".rights.yaml").write_text(NARROW)
    read(source)
    assert seen(source, people) == {"guide.md": {"chen"}, "people/pay/pay.md": {"lin"}}
    (opened / ".rights.yaml").write_text(OPEN)
    read(source)
    assert seen(source, people) == {"guide.md": {"chen"}, "people/pay/pay.md": set()}


def test_a_rule_meets_its_folder_however_letters_are_composed(
    source: Source, people: dict[str, User], opened: Path
) -> None:
    (opened / "people" / "pay").rename(opened / "people" / normalize("NFD", "Gehälter"))
    (opened / ".rights.yaml").write_text(NARROW.replace("people/pay", normalize("NFC", "people/Gehälter")))
    assert counts(read(source)) == {"added": 2}
    assert who_sees(source, normalize("NFC", "people/Gehälter/pay.md"), people.values()) == {"lin"}


def test_a_rule_for_what_lies_elsewhere_here_changes_nothing(
    source: Source, people: dict[str, User], opened: Path
) -> None:
    (opened / ".rights.yaml").write_text(OPEN)
    read(source)
    pay = item_of(source, "people/pay/pay.md").document
    assert pay is not None
    allow(people["keeper"], pay.folder, *Right)
    rename_folder(Principal.of(people["keeper"]), folder_id=pay.folder_id, name="Salaries")
    (opened / "people" / "pay" / "new.md").write_text("new")
    (opened / ".rights.yaml").write_text(NARROW.replace("[Engineering]", "[Everybody]"))
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.FAILED, {})
    assert "“people/pay/pay.md”" in run.problem
    assert seen(source, people) == {"guide.md": {"chen"}, "people/pay/pay.md": {"chen", "keeper"}}
    rename_folder(Principal.of(people["keeper"]), folder_id=pay.folder_id, name="pay")
    assert counts(read(source)) == {"added": 1, "unchanged": 2}
    assert seen(source, people) == {"guide.md": {"staff"}, "people/pay/pay.md": {"lin", "keeper"}}


def test_a_tree_is_locked_whole_before_a_folder_is_added(source: Source, opened: Path) -> None:
    def locks() -> list[str]:
        with CaptureQueriesContext(connection) as asked:
            read(source)
        found = [query["sql"] for query in asked.captured_queries]
        return ["shared" if "xact_lock_shared" in sql else "whole" for sql in found if "tree:" in sql]

    assert locks()[0] == "whole"
    source.takes_rights = False
    save_source(None, source)
    (opened / "new").mkdir()
    (opened / "guide.md").rename(opened / "new" / "guide.md")
    assert locks()[0] == "whole"
