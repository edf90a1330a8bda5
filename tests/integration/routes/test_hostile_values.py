"""Values that mean nothing (a NUL, half a character, a number without end, no id): one sentence, never a 500."""

from base64 import b64encode
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.test import Client

from agent.runs.start import check_question
from business.semantic_layer.yaml_io import read_layer
from copilot_site.asgi import application
from copilot_site.lib.errors import InvalidInput
from tests.integration.routes.world import World

pytestmark = pytest.mark.django_db
HUGE = "9" * 30
HALF = "\ud800"  # of a pair of surrogates
PAGES = {
    "/chat/all/?q=a%00b": 400,
    "/library/?x%00=1": 400,
    "/admin/people/?q=%00": 400,
    "/admin/rights/folder/{folder}/why/?user=%00": 400,
    "/admin/ratings/?user=%00": 400,
    "/documents/{document}/?chunk=%00": 400,
    "/sign-in/with/a%00b/": 404,
    "/admin/auth/user/%00/change/": 404,
    f"/documents/{{pdf}}/versions/{HUGE}/pages/1.png": 404,
    f"/documents/{{pdf}}/versions/1/pages/{HUGE}.png": 404,
    f"/documents/{{document}}/versions/1/pictures/{HUGE}.png": 404,
    f"/admin/see-as/{HUGE}/": 404,
    f"/library/folders/{{folder}}/?page={HUGE}": 200,
}
FORMS = {
    "/chat/{session}/messages/{message}/feedback/": {"rating": "helpful", "comment": "a\0b"},
    "/sign-in/": {"username": "a\0b", "password": "x"},
    "/library/folders/{folder}/folders/": {"name": "a\0b"},
    "/admin/see-as/{user}/": {"what": "\0"},
    "/admin/people/{user}/membership/": {"group": "\0", "what": "join"},
    "/tokens/": {"name": "a\0b", "days": "1"},
    "/password/": {"old_password": "a\0b"},
}
LISTS = {
    f"/api/v1/documents/{{document}}/chunks?version={HUGE}": 400,
    f"/api/v1/documents/{{document}}/chunks?offset={HUGE}": 200,
    f"/api/v1/documents?page={HUGE}": 400,
    f"/api/v1/sessions/continue-stream/{{session}}?message_id={{message}}&offset={HUGE}": 400,
    f"/api/v1/audit/entries?cursor={b64encode(b'p=x').decode()}": 400,
    f"/api/v1/sessions/{{session}}/messages?cursor={b64encode(b'p=a%00b').decode()}": 400,
    f"/api/v1/sessions?cursor={b64encode(b'p=x').decode()}": 400,
    "/api/v1/audit/entries?actor=%00": 400,
}
PROBLEM = "application/problem+json"
BODIES = {
    "/api/v1/knowledge-search": {"query": "hello", "language": HALF},
    "/api/v1/sessions/{session}/messages": {"query": "hello", "language": HALF},
    "/api/v1/knowledge-chat/{session}": {"query": "hello", "language": HALF},
    "/api/v1/agent-chat/{session}": {"query": "hello", "language": HALF},
    "/api/v1/sessions/{session}/feedback": {"message_id": "{message}", "rating": HALF},
    "/api/v1/see-as/answer": {"user": "reader", "query": "hello", "language": HALF},
    "/api/v1/tokens": {"name": "x", HALF: "y"},
    "/v1/embeddings": {"model": "x", "input": "a\0b"},
    "/api/v1/folders": {"parent": "{folder}", "name": "a\0b"},
}


def at(world: World, path: str) -> str:
    """The path with the ids of this world."""
    rows = {
        "folder": world.folder.pk,
        "document": world.document.pk,
        "pdf": world.pdf.pk,
        "session": world.session.pk,
        "message": world.session.messages.latest("created_at").pk,
        "user": world.people["none"].pk,
    }
    for name, pk in rows.items():
        path = path.replace(f"{{{name}}}", str(pk))
    return path


def role_at(path: str) -> str:
    return "root" if path.startswith(("/admin/", "/api/v1/audit", "/api/v1/see-as")) else "view"


def client(world: World, path: str) -> Any:
    """Of somebody who may do what the path is about; what fails is an answer."""
    found = world.clients["anon" if path == "/sign-in/" else role_at(path)]
    found.raise_request_exception = False
    return found


def test_an_address_with_such_a_value_is_answered_with_a_sentence(world: World) -> None:
    expected = PAGES | LISTS
    assert {path: client(world, path).get(at(world, path)).status_code for path in expected} == expected


IN_ADDRESSES = (
    "/api/v1/documents/%00",
    "/api/v1/folders/{folder}%00",
    "/api/v1/sessions/%00/messages",
    "/api/v1/sessions/{session}/messages/%00/queries/1/csv",
)


def test_a_program_gets_a_problem_document_for_an_address_that_is_none(world: World) -> None:
    answers = [client(world, path).get(at(world, path), headers={"accept": "*/*"}) for path in IN_ADDRESSES]
    assert {(answer.status_code, answer["Content-Type"], answer.json()["code"]) for answer in answers} == {
        (404, "application/problem+json", "not_found")
    }


TOO_LARGE = {"query": "x" * 3_000_000}


def test_a_body_that_is_too_large_is_a_problem_document(world: World) -> None:
    path = "/api/v1/sessions/{session}/messages"
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.reader)
    browser.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    for one in (client(world, path), browser):  # the check of forged forms reads a body, too
        answer = one.post(at(world, path), TOO_LARGE, content_type="application/json", headers={"accept": "*/*"})
        assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json"), answer.content[:200]
        assert answer.json()["code"] == "too_large"


def test_a_host_that_is_none_of_ours_is_told_so_as_a_page_and_as_a_problem_document(world: World) -> None:
    page = client(world, "/").get("/library/", headers={"host": "evil.example"})
    answer = client(world, "/").get("/api/v1/sessions", headers={"host": "evil.example", "accept": "*/*"})
    assert (page.status_code, page["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert "The request is not valid." in page.content.decode()
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert "evil" not in answer.content.decode()


def test_a_form_with_a_nul_is_refused(world: World) -> None:
    world.reader.set_password("one of a test")
    world.reader.save()
    world.clients["view"].force_login(world.reader)
    answers = {path: client(world, path).post(at(world, path), form) for path, form in FORMS.items()}
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(FORMS, 400)
    assert "a NUL character" in answers["/sign-in/"].content.decode()


def test_a_body_with_such_a_text_is_refused(world: World) -> None:
    answers = {}
    for path, body in BODIES.items():
        given = {name: at(world, value) for name, value in body.items()}
        answers[path] = client(world, path).post(at(world, path), given, content_type="application/json")
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(BODIES, 400)
    assert {answer["Content-Type"] for path, answer in answers.items() if path.startswith("/api/")} == {PROBLEM}
    assert {answer["Content-Type"] for path, answer in answers.items() if path.startswith("/v1/")} == {
        "application/json"
    }


@pytest.mark.parametrize("text", ["a\0b", HALF])
def test_a_message_of_a_program_with_such_a_text_is_refused(world: World, text: str) -> None:
    body = {"model": "copilot", "messages": [{"role": "user", "content": text}]}
    assert client(world, "/v1/").post("/v1/chat/completions", body, content_type="application/json").status_code == 400


def test_a_nul_in_a_question_is_dropped_where_no_serializer_reads_it() -> None:
    assert "\0" not in check_question("what\0 is this?")


def test_the_administration_leads_to_no_row_by_its_content_type(world: World) -> None:
    for pk in ContentType.objects.filter(app_label="knowledge").values_list("pk", flat=True):
        assert client(world, "/admin/").get(f"/admin/r/{pk}/{world.folder.pk}/").status_code == 404


BEGUN = (
    "knowledge/folder/add/?parent=", "authz/serviceaccount/add/?keeper=", "authz/claimmapping/add/?group=",
    "socialaccount/socialaccount/add/?user=", "auth/group/add/?permissions=",
)  # fmt: skip


def test_a_form_of_the_administration_begins_without_what_is_no_id(world: World) -> None:
    asked = [f"/admin/{path}{value}" for path in BEGUN for value in ("x", HUGE)]
    assert {path: client(world, path).get(path).status_code for path in asked} == dict.fromkeys(asked, 200)


@pytest.mark.parametrize(
    "text", ["name: 2026-99-99", f"name: {'9' * 100_000}", 'name: "\\0"\nsemantic_models: []', 'name: "\\ud800"']
)
def test_a_layer_with_such_a_value_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_layer(text)


@pytest.mark.parametrize("path", ["/ws/chat/x/", "/ws/chat/%00/"])
def test_a_socket_at_an_address_that_is_none_is_not_opened(path: str) -> None:
    async def opened() -> str:
        headers = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
        socket: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        await socket.send_input({"type": "websocket.connect"})
        return str((await socket.receive_output(30))["type"])

    assert async_to_sync(opened)() == "websocket.close"
