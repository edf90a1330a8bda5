"""Creating bases and changing the folder tree."""

from typing import Any

from authz.permissions import Right
from knowledge.models import Folder, KnowledgeBase
from knowledge.services.access import grant_place_rights
from knowledge.services.folders import find_root_folder
from tests.factories import allow, make_base, make_folder
from tests.integration.rest.world import Answer, World


def post(world: World, path: str, body: Any, role: str = "all") -> Answer:
    return world.client(role).post(f"/api/v1/{path}", body, format="json")


def test_a_new_base_has_a_root_folder_and_its_maker_may_see_it(world: World) -> None:
    body = post(world, "knowledge-bases", {"name": " Sales ", "description": "Prices"}, "superuser").json()
    assert (body["name"], body["description"]) == ("Sales", "Prices")
    client = world.client("superuser")
    assert client.get(f"/api/v1/knowledge-bases/{body['id']}").json() == body
    (root,) = client.get(f"/api/v1/folders?knowledge_base={body['id']}").json()["results"]
    assert (root["name"], root["parent"]) == ("Sales", None)


def test_a_name_is_taken_once(world: World) -> None:
    answers = [
        post(world, "knowledge-bases", {"name": "Handbook"}, "superuser"),
        post(world, "folders", {"parent": str(world.folder.pk), "name": "Empty"}),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
        assert "already" in answer.json()["detail"]


def test_a_folder_is_made_renamed_moved_and_deleted(world: World) -> None:
    made = post(world, "folders", {"parent": str(world.folder.pk), "name": "2026"}).json()
    renamed = post(world, f"folders/{made['id']}/rename", {"name": "2027"}).json()
    assert renamed == made | {"name": "2027"}
    moved = post(world, f"folders/{made['id']}/move", {"parent": str(world.empty.pk)}).json()
    assert moved == renamed | {"parent": str(world.empty.pk)}
    assert world.client("all").get(f"/api/v1/folders/{made['id']}").json() == moved
    assert world.client("all").delete(f"/api/v1/folders/{made['id']}").status_code == 204
    assert not Folder.unscoped.filter(pk=made["id"]).exists()


def test_what_the_tree_does_not_allow_is_refused_in_words(world: World) -> None:
    everything = make_folder(world.base, "Other")
    allow(world.people["all"], world.base)
    other_base = make_folder(make_base("Third"))
    allow(world.people["all"], other_base, Right.VIEW, Right.ADD)
    into_itself = post(world, f"folders/{world.folder.pk}/move", {"parent": str(world.empty.pk)})
    assert (into_itself.status_code, into_itself.json()["detail"]) == (400, "“Rules” cannot be moved below itself.")
    across = post(world, f"folders/{world.folder.pk}/move", {"parent": str(other_base.pk)})
    assert (across.status_code, "within their knowledge base" in across.json()["detail"]) == (400, True)
    full = world.client("all").delete(f"/api/v1/folders/{world.folder.pk}")
    assert (full.status_code, "is not empty" in full.json()["detail"]) == (400, True)
    without_add = post(world, f"folders/{world.folder.pk}/move", {"parent": str(everything.pk)})
    assert without_add.status_code == 403
    root = find_root_folder(KnowledgeBase.unscoped.get(pk=world.base.pk))
    assert world.client("all").delete(f"/api/v1/folders/{root.pk}").status_code == 403


def test_a_wrong_body_is_refused_naming_the_field(world: World) -> None:
    folder = str(world.folder.pk)
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("folders", {"parent": "not-an-id", "name": "x"}, "parent"),
        ("folders", {"parent": folder, "name": "x" * 201}, "name"),
        ("folders", {"parent": folder, "name": "x", "colour": "red"}, "colour"),
        (f"folders/{folder}/rename", {}, "name"),
        (f"folders/{folder}/move", {"parent": None}, "parent"),
    ]
    for path, body, field in wrong:
        answer = post(world, path, body)
        assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (400, [field]), body
    assert Folder.unscoped.filter(pk=world.folder.pk, name="Rules").exists()


def test_a_folder_above_that_is_not_visible_is_not_told(world: World) -> None:
    """Neither in the list, nor on its own, nor by asking for what lies below it; who sees it is told."""
    inner = make_folder(world.empty, "Inner")
    reader, other = world.people["nobody"], world.people["elsewhere"]
    allow(reader, inner)
    allow(other, world.base)
    hidden = str(world.empty.pk)
    client = world.client("nobody")
    (row,) = client.get("/api/v1/folders").json()["results"]
    assert (row["id"], row["parent"]) == (str(inner.pk), None)
    assert client.get(f"/api/v1/folders/{inner.pk}").json() == row
    assert client.get(f"/api/v1/folders?parent={hidden}").json()["results"] == []
    assert hidden not in str(row)
    seen = {one["id"]: one["parent"] for one in world.client("elsewhere").get("/api/v1/folders").json()["results"]}
    assert seen[str(inner.pk)] == hidden
    assert (row["parent"], seen[hidden]) == (None, str(world.folder.pk))
    overseer = world.client("superuser").get(f"/api/v1/see-as/folders?user={reader.username}").json()
    assert hidden not in str(overseer)


def test_the_folder_of_a_document_that_one_may_read_by_itself_is_not_told(world: World) -> None:
    reader = world.people["nobody"]
    grant_place_rights(None, [Right.VIEW], world.document, to=reader)
    client = world.client("nobody")
    (row,) = client.get("/api/v1/documents").json()["results"]
    assert (row["id"], row["folder"]) == (str(world.document.pk), None)
    assert client.get(f"/api/v1/documents/{world.document.pk}").json()["folder"] is None
    assert client.get(f"/api/v1/documents?folder={world.folder.pk}").json()["results"] == []
    (told,) = world.client("view").get("/api/v1/documents").json()["results"]
    assert told["folder"] == str(world.folder.pk)


def test_whoever_deletes_a_document_is_not_led_to_a_folder_that_is_not_theirs(world: World) -> None:
    grant_place_rights(None, [Right.VIEW, Right.CHANGE], world.document, to=world.people["nobody"])
    answer = world.client("nobody").post(f"/documents/{world.document.pk}/delete/")
    assert answer.status_code == 302
    assert str(world.folder.pk) not in answer["Location"]
