"""The three skills of ours: a scripted model has each script run in the sandbox, on documents that were really read."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from docx import Document as WordFile

from agent.events import ToolResult
from agent.models import AgentProfile, MadeFile
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.models import Document
from tests.factories import make_document, make_user
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, of, sent
from tests.integration.skills.reviewed import review_shipped
from tests.integration.skills.test_runs import ALL, evidence_in
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db
NOTES = """# Release 2.0

## New

- Search in spreadsheets is supported by everybody.

## Security

- A path traversal in uploads is closed.
- =HYPERLINK("http://evil.example") in names is harmless now.
"""
OLDER = "# Leave\n\nEmployees have 25 days of annual leave.\n\nA sick note is due on the third day.\n"
NEWER = "# Leave\n\nEmployees have 30 days of annual leave.\n\nA sick note is due on the third day.\n"


@pytest.fixture
def admin() -> User:
    return make_user("root", is_superuser=True)


Plan = Callable[[Request], dict[str, Any]]


def run(
    admin: User, reader: User, skill: str, script: str, given: Plan, *, works: bool = True
) -> tuple[str, dict[str, Any]]:
    """What the model was told of the script's end, and the files that the API lists for whoever asked."""
    profile = AgentProfile.objects.create(name="Reports", allowed_tools=list(ALL), is_default=True)
    review_shipped(skill, profile, by=admin)
    steps: list[Step | None] = [
        SEARCH,
        calls(("read_skill", {"skill_name": skill})),
        None,
        says(THIRTY),
    ]

    def choose(request: Request) -> Step:
        step = steps.pop(0)
        named = {"skill_name": skill, "script_path": f"scripts/{script}"}
        return step or calls(("execute_skill_script", named | given(request)))

    with modelled(chooses=choose) as server:
        events = asked(reader, LEAVE)
    assert steps == []
    assert [result.data["success"] for result in of(events, ToolResult)] == [True, True, works], sent(
        server.requests[3]
    )
    session = stored(events).session_id
    return sent(server.requests[3]), {"session": session, **listed(reader, session)}


def listed(reader: User, session: object) -> dict[str, Any]:
    """Name of a file of the answer → its id, as the API has it."""
    page = Client()
    page.force_login(reader)
    messages = page.get(f"/api/v1/sessions/{session}/messages").json()["results"]
    return {file["name"]: file["id"] for message in messages for file in message["files"]}


def downloaded(reader: User, found: dict[str, Any], name: str) -> bytes:
    page = Client()
    page.force_login(reader)
    answer = page.get(f"/api/v1/sessions/{found['session']}/files/{found[name]}")
    assert answer.status_code == 200
    assert (answer["Content-Type"], name in answer["Content-Disposition"]) == ("application/octet-stream", True)
    return answer.content


def test_a_report_is_made_of_evidence_and_is_its_askers_alone(handbook: Handbook, admin: User) -> None:
    base, _manual, _secret = handbook
    reader = make_reader(base)

    def given(request: Request) -> dict[str, Any]:
        return {"args": ["docx", "Leave 2026"], "evidence_ids": [evidence_in(request)]}

    told, found = run(admin, reader, "report", "report.py", given)
    assert "Offered for download: Leave 2026.docx" in told
    data = downloaded(reader, found, "Leave 2026.docx")
    report = WordFile(io.BytesIO(data))
    assert "30 days of annual leave" in "\n".join(paragraph.text for paragraph in report.paragraphs)
    other = Client()
    other.force_login(make_user("other", is_superuser=True))
    address = f"sessions/{found['session']}/files/{found['Leave 2026.docx']}"
    assert [other.get(f"/api/v1/{address}").status_code, other.get(f"/chat/{address[9:]}/").status_code] == [404, 404]
    revoke_rights(None, [Right.VIEW], base, of=reader)
    assert listed(reader, found["session"]) == {}
    mine = Client()
    mine.force_login(reader)
    assert mine.get(f"/api/v1/{address}").status_code == 404


def test_two_versions_are_compared(handbook: Handbook, admin: User) -> None:
    base, _manual, _secret = handbook
    reader = make_reader(base)
    make_document(base, "leave.md", OLDER, ingested=True)
    document = make_document(base, "leave.md", NEWER, ingested=True)
    assert document.current_version is not None
    assert document.current_version.number == 2
    both = {"documents": [f"{document.pk}@1", f"{document.pk}@2"]}
    told, _found = run(admin, reader, "compare-versions", "compare.py", lambda _request: both)
    output = told.rpartition("<script_output>")[2].partition("</script_output>")[0].strip().splitlines()
    assert output[0].endswith(": 1 paragraphs taken out, 1 put in.")
    assert output[1:] == [
        "Taken out: Employees have 25 days of annual leave.", "Put in: Employees have 30 days of annual leave.",
    ]  # fmt: skip


def test_release_notes_are_summed_up_by_kind_with_a_table(handbook: Handbook, admin: User) -> None:
    base, _manual, _secret = handbook
    reader = make_reader(base)
    notes: Document = make_document(base, "notes.md", NOTES, title="Release 2.0", ingested=True)
    told, found = run(
        admin, reader, "release-notes-digest", "digest.py", lambda _request: {"documents": [str(notes.pk)]}
    )
    assert "security: A path traversal in uploads is closed." in told
    assert "new: Search in spreadsheets is supported by everybody." in told
    table = list(csv.reader(io.StringIO(downloaded(reader, found, "release-notes.csv").decode("utf-8-sig"))))
    kinds = {entry: kind for kind, _title, entry in table[1:]}
    assert kinds["A path traversal in uploads is closed."] == "security"
    assert not any(entry.startswith("=") for entry in kinds)
    assert any(entry.startswith("'=HYPERLINK") for entry in kinds)


def test_what_a_script_was_not_given_it_does_not_get(handbook: Handbook, admin: User) -> None:
    base, _manual, secret = handbook
    reader = make_reader(base)
    named = {"documents": [str(secret.pk)]}
    told, found = run(admin, reader, "release-notes-digest", "digest.py", lambda _request: named, works=False)
    assert "420,000" not in told
    assert list(found) == ["session"]
    assert not MadeFile.objects.exists()
