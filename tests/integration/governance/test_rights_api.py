"""The API of governing: what changes would do, the table of folders by groups, the export; for whoever manages the place."""

import csv
import io
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from audit.actions import Action
from audit.models import Entry
from authz.models import Denial, FolderGroupGrant, FolderUserGrant, OrgUnit
from authz.permissions import Right
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from knowledge.governance import parameters
from knowledge.models import Folder, FolderKind
from knowledge.services import access
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, place_url, text_of
from tests.integration.rest.world import signed_in
from tests.tokens import client_with

pytestmark = pytest.mark.django_db


def preview(user: User, *changes: dict[str, Any], client: APIClient | None = None) -> Any:
    return (client or signed_in(user)).post("/api/v1/rights/preview", {"changes": list(changes)})


def effects(user: User, *changes: dict[str, Any]) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Person → documents gained and lost by right."""
    answer = preview(user, *changes)
    assert answer.status_code == 200, answer.content
    return {
        item["username"]: (
            {delta["right"]: delta["documents"] for delta in item["gains"]},
            {delta["right"]: delta["documents"] for delta in item["losses"]},
        )
        for item in answer.json()["people"]
    }


def on(place: Any, what: str, **more: Any) -> dict[str, Any]:
    return {"what": what, "kind": parameters.find_place_kind(place), "id": str(place.pk), **more}


def everything() -> list[Any]:
    """All that a change of rights, memberships, units or folders leaves."""
    rows = [
        list(model.objects.order_by("pk").values()) for model in (FolderGroupGrant, FolderUserGrant, Denial, OrgUnit)
    ]
    folders = list(Folder.unscoped.order_by("pk").values("pk", "parent", "kind", "inherits", "is_discoverable"))
    return [*rows, folders, sorted(User.groups.through.objects.values_list("user_id", "group_id"))]


def test_each_kind_of_change_says_exactly_whom_it_touches_and_saves_nothing(world: World) -> None:
    allow(world.boss, world.travel, Right.MANAGE)
    access.deny_place_rights(None, [Right.DOWNLOAD], world.rules, to=world.anna)
    allow(world.boss, world.pay, Right.MANAGE)
    access.break_inheritance(None, world.pay)
    everybody = {"group": "Engineering", "rights": ["view"]}
    kinds: dict[str, tuple[User, dict[str, Any], dict[str, Any]]] = {
        "give": (world.boss, on(world.pay, "give", **everybody), {"anna": ({"view": 1}, {})}),
        "take_back": (world.mia, on(world.rules, "take_back", **everybody), {"anna": ({}, {"view": 2})}),
        "deny": (world.mia, on(world.travel, "deny", user="anna", rights=["view"]), {"anna": ({}, {"view": 1})}),
        "undeny": (world.mia, on(world.rules, "undeny", user="anna", rights=["download"]), {
            "anna": ({"download": 2}, {})
        }),
        "break": (world.boss, on(world.travel, "break"), {
            "anna": ({}, {"view": 1}), "mia": ({}, {"manage": 1})
        }),
        "move": (world.boss, on(world.travel, "move", parent=str(world.pay.pk)), {
            "anna": ({}, {"view": 1}), "mia": ({}, {"manage": 1})
        }),
        "document": (world.boss, on(world.salaries, "give", user="ben", rights=["view", "download"]), {
            "ben": ({"view": 1, "download": 1}, {})
        }),
        "tell": (world.boss, on(world.pay, "tell"), {}),
        "join": (world.root, {"what": "join", "user": "ben", "group": "Platform"}, {
            "ben": ({"view": 2, "download": 2}, {})
        }),
        "leave": (world.root, {"what": "leave", "user": "anna", "group": "Platform"}, {"anna": ({}, {"view": 2})}),
        "move_unit": (world.root, {"what": "move_unit", "unit": "Platform"}, {"anna": ({}, {"view": 2})}),
    }  # fmt: skip
    before = everything()
    for name, (by, change, expected) in kinds.items():
        found = effects(by, change)
        found.pop("keeper", None)  # who filled the base, and holds everything from above
        assert found == expected, name
        assert everything() == before, name
    changed = [
        action for action in Action.values if action.startswith(("grant.", "denial.", "member.", "inheritance."))
    ]
    assert not Entry.objects.filter(action__in=changed, actor_name__in=["boss", "mia", "root"]).exists()


def test_a_set_is_compared_as_a_whole_with_names_and_titles(world: World) -> None:
    answer = preview(
        world.boss,
        on(world.pay, "give", user="ben", rights=["view"]),
        on(world.salaries, "deny", group="auditors", rights=["view"]),
        on(world.salaries, "undeny", group="auditors", rights=["view"]),
        on(world.rules, "give", user="ben", rights=["view"], until="2199-12-31"),
        on(world.rules, "take_back", group="Engineering", rights=["view"]),
    )
    body = answer.json()
    assert body["gained"] == {"people": 1, "documents": 3, "titles": ["House rules", "Salaries", "Travel rules"]}
    assert body["lost"] == {"people": 1, "documents": 2, "titles": ["House rules", "Travel rules"]}
    assert [(item["username"], item["gains"], item["losses"]) for item in body["people"]] == [
        ("anna", [], [{"right": "view", "documents": 2}]),
        ("ben", [{"right": "view", "documents": 3}], []),
    ]
    entry = Entry.objects.get(action=Action.CHANGE_PREVIEWED)
    assert (entry.actor_name, entry.detail["what"], entry.detail["changes"]) == (
        "boss",
        "give deny undeny take_back",
        5,
    )
    assert (entry.detail["gaining"], entry.detail["losing"], len(entry.detail["targets"])) == (1, 1, 3)


def test_what_others_govern_is_counted_and_not_named(world: World) -> None:
    """A denial on the base reaches a folder that its managers do not manage."""
    allow(world.mia, world.pay, Right.MANAGE)
    allow(world.ben, world.pay, Right.VIEW)
    access.break_inheritance(None, world.pay)
    change = on(world.base, "deny", user="ben", rights=["view"])
    nothing, pay = {"people": 0, "documents": 0, "titles": []}, {"people": 1, "documents": 1, "titles": ["Salaries"]}
    named = {user.username: preview(user, change).json() for user in (world.boss, world.root)}
    assert {name: (found["gained"], found["lost"]) for name, found in named.items()} == {
        "boss": (nothing, pay | {"titles": []}),
        "root": (nothing, pay),
    }
    asked = {"what": "deny", "holder_kind": "user", "holder": "ben", "rights": ["view"]}
    page = client_of(world.boss).post(place_url("rights-change", world.base), asked)
    assert "One document is hidden from someone" in text_of(page)
    assert "Salaries" not in text_of(page)


def test_what_touches_nobody_is_not_saved_either(world: World) -> None:
    """`apply_confirmed_change`, which the pages use, keeps such a change: here it is undone."""
    before = everything()
    assert effects(world.boss, on(world.travel, "give", group="Engineering", rights=["view"])) == {}
    assert everything() == before


def test_without_the_undoing_it_would_be_saved(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the ones above."""
    monkeypatch.setattr(transaction, "set_rollback", lambda _rollback: None)
    before = everything()
    effects(world.boss, on(world.pay, "give", user="ben", rights=["view"]))
    assert everything() != before


def test_who_does_not_govern_a_place_is_told_the_same_as_of_one_that_is_missing(world: World) -> None:
    """And learns no name of a person by asking."""
    change = on(world.pay, "give", user="ben", rights=["view"])
    for user in (world.mia, world.anna, make_user("nobody")):
        answers = [
            preview(user, change),
            preview(user, change | {"id": str(uuid4())}),
            preview(user, change | {"user": "bem"}),
        ]
        assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}
        for asked in ({"what": "join", "user": "ben", "group": "Platform"}, {"what": "move_unit", "unit": "Platform"}):
            known, unknown = preview(user, asked), preview(user, asked | {"user": "bem", "unit": "Platfrom"})
            assert (known.status_code, known.content) == (403, unknown.content)
    assert not Entry.objects.filter(action=Action.CHANGE_PREVIEWED).exists()
    mine = on(world.rules, "give", user="ben", rights=["view"])
    assert preview(world.mia, mine, change).status_code == 404, "one place of others' is enough"
    assert preview(world.mia, on(world.travel, "move", parent=str(world.pay.pk))).status_code == 404


def test_with_the_guard_off_others_would_be_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the one above."""
    monkeypatch.setattr(parameters, "get_governed", lambda model, _by, **look: model.unscoped.get(**look))
    monkeypatch.setattr(access, "require_manage", lambda *_args: None)
    assert effects(world.mia, on(world.pay, "give", user="ben", rights=["view"])) == {"ben": ({"view": 1}, {})}


BAD: dict[str, dict[str, Any]] = {
    "changes.1: Choose at least one right.": {"user": "ben"},
    "changes.1: There is no person called “bem”. Did you mean “ben”?": {"user": "bem", "rights": ["view"]},
    "changes.1.rights.0: “read” is not one of the choices: view, download, add, change, manage.": {"user": "ben", "rights": ["read"]},
    "changes.1.holder: There is no field “holder”. Choose from:": {"holder": "ben"},
    "changes.1: Only folders are moved here; documents are moved on their own pages.": {"what": "move", "kind": "document"},
    "changes.1: “Rules” cannot be moved below itself.": {"what": "move", "parent": "travel"},
    "changes.1: A right cannot end in the past": {"user": "ben", "rights": ["view"], "until": "2020-01-01"},
    "changes.1: This would leave “Handbook” without a manager.": {"what": "break", "id": "root"},
    "changes.1: “Engineering” cannot belong to “Platform”: that would create a loop.": {
        "what": "move_unit", "unit": "Engineering", "below": "Platform"
    },
    "changes.1: There is no such folder, or you do not manage it.": {"id": "nothing", "rights": ["view"], "user": "ben"},
}  # fmt: skip


def test_bad_input_is_one_sentence_and_leaves_everything_as_it_was(world: World) -> None:
    """After a change that could be made: nothing of that one stays either."""
    root = Folder.unscoped.get(knowledge_base=world.base, parent=None, kind=FolderKind.FOLDER)
    ids = {"root": root.pk, "travel": world.travel.pk, "nothing": uuid4()}
    before = everything()
    for sentence, fields in BAD.items():
        bad = on(world.rules, "give") | fields
        bad |= {name: str(ids[bad[name]]) for name in ("id", "parent") if bad.get(name) in ids}
        if bad["kind"] == "document":
            bad["id"] = str(world.house_rules.pk)
        answer = preview(world.root, on(world.pay, "give", user="ben", rights=["view"]), bad)
        assert answer.json()["detail"].startswith(sentence), sentence
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.status_code == (404 if "no such folder" in sentence else 400)
        assert everything() == before, sentence
    for changes in ([], [{"what": "tell"}] * 101, None, "x"):
        answer = signed_in(world.boss).post("/api/v1/rights/preview", {"changes": changes})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert not Entry.objects.filter(action=Action.CHANGE_PREVIEWED).exists()


def matrix_of(user: User, base_id: Any) -> Any:
    return signed_in(user).get("/api/v1/rights/matrix", {"knowledge_base": str(base_id)})


def test_the_table_is_what_the_page_shows(world: World) -> None:
    access.deny_place_rights(None, [Right.VIEW], world.travel, to=world.platform.group)
    body = matrix_of(world.boss, world.base.pk).json()
    cells = {
        (row["name"], group): (set(cell["held"]), set(cell["denied"]))
        for row in body["rows"]
        for group, cell in zip(body["groups"], row["cells"], strict=True)
    }
    assert cells["Rules", "Engineering"] == ({"view", "download"}, set())
    assert cells["Travel", "Platform"] == ({"download"}, {"view"})
    assert cells["Pay", "Engineering"] == (set(), set())
    page = client_of(world.boss).get(reverse("rights-matrix", args=[world.base.pk])).context["matrix"]
    assert [row["id"] for row in body["rows"]] == [str(row.place.id) for row in page.rows]
    assert {row["name"] for row in matrix_of(world.mia, world.base.pk).json()["rows"]} == {"Rules", "Travel"}


def exported(user: User, **query: str) -> list[list[str]]:
    answer: Any = signed_in(user).get("/api/v1/rights/effective-access", query)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def test_the_export_is_the_page_s_and_is_recorded(world: World) -> None:
    page = client_of(world.mia).get(reverse("rights-export"))
    theirs = list(csv.reader(io.StringIO(b"".join(page.streaming_content).decode("utf-8-sig"))))  # type: ignore[attr-defined]
    assert exported(world.mia) == exported(world.mia, knowledge_base=str(world.base.pk)) == theirs
    assert {row[4] for row in theirs[1:]} == {"Handbook / Rules", "Handbook / Rules / Travel"} or len(theirs) > 1
    entries = Entry.objects.filter(action=Action.ACCESS_EXPORTED)
    assert [(item.actor_name, item.detail["knowledge_bases"]) for item in entries] == [
        ("mia", [str(world.base.pk)])
    ] * 3


def test_who_governs_nothing_there_is_told_the_same_as_of_a_missing_base(world: World) -> None:
    client = signed_in(world.anna)
    for path in ("matrix", "effective-access"):
        asked = [{"knowledge_base": str(pk)} for pk in (world.base.pk, uuid4())]
        answers = [client.get(f"/api/v1/rights/{path}", query) for query in asked]
        assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}
        wrong = signed_in(world.boss).get(f"/api/v1/rights/{path}", {"knowledge_base": "x"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "knowledge_base")
    assert not Entry.objects.filter(action=Action.ACCESS_EXPORTED).exists()


def test_a_token_for_governing_is_one_for_audit(world: World) -> None:
    change = on(world.rules, "give", user="ben", rights=["view"])
    query = {"knowledge_base": str(world.base.pk)}
    for scope in TokenScope.values:
        client = client_with(issue_token(Principal.of(world.mia), name="script", scopes=[scope])[1])
        answers = [
            preview(world.mia, change, client=client),
            client.get("/api/v1/rights/matrix", query),
            client.get("/api/v1/rights/effective-access", query),
        ]
        expected = 200 if scope == TokenScope.AUDIT else 403
        assert {answer.status_code for answer in answers} == {expected}, scope


def test_a_token_for_one_folder_governs_that_folder_only(world: World) -> None:
    allow(world.boss, world.rules)
    secret = issue_token(Principal.of(world.boss), name="s", scopes=["audit"], folder_id=world.rules.pk)[1]
    inside = preview(world.boss, on(world.travel, "give", user="ben", rights=["view"]), client=client_with(secret))
    outside = preview(world.boss, on(world.pay, "give", user="ben", rights=["view"]), client=client_with(secret))
    assert (inside.status_code, outside.status_code) == (200, 404)
