"""A scripted model reads a skill, runs its script in the sandbox, and the person gets the file: a real run from end to end."""

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook

from agent.conversations import made_files
from agent.conversations.presentation.steps import summarise_steps
from agent.conversations.sessions import create_session
from agent.events import ToolResult
from agent.evidence.items import make_passage_finding
from agent.models import AgentProfile, MadeFile, Message, Skill, SkillVersion
from agent.models.skills import SkillVerdict
from agent.skills import services as keeping
from agent.skills.catalog import find_version_in_use, list_offered_skills
from agent.skills.packages import read_package_folder
from agent.tools.base import ToolContext
from agent.tools.calling import CallOutcome, call_tool
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.retrieval.search import Scope
from knowledge.selectors import list_document_passages
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, of, sent
from tests.integration.skills.reviewed import review_shipped
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db
READ = calls(("read_skill", {"skill_name": "report"}))


@pytest.fixture
def admin() -> User:
    return make_user("root", is_superuser=True)


def make_profile(*tools: str, skills: tuple[str, ...] = ("report",), by: User) -> AgentProfile:
    profile = AgentProfile.objects.create(name="Reports", allowed_tools=list(tools), is_default=True)
    for name in skills:
        review_shipped(name, profile, by=by)
    return profile


ALL = ("knowledge_search", "read_skill", "execute_skill_script")


def evidence_in(request: Request) -> str:
    """The number of the first piece of evidence that the model was shown."""
    return sent(request).partition('<evidence number="')[2].partition('"')[0]


def planned(
    steps: list[Step | str], evidence: Callable[[Request], str] = evidence_in, title: str = "Leave"
) -> Callable[[Request], Step]:
    def choose(request: Request) -> Step:
        step = steps.pop(0)
        if step == "report":
            arguments = {"skill_name": "report", "script_path": "scripts/report.py", "args": ["xlsx", title]}
            return calls(("execute_skill_script", {**arguments, "evidence_ids": [evidence(request)]}))
        assert isinstance(step, Step)
        return step

    return choose


def test_a_file_is_made_from_evidence_and_offered_to_whoever_asked(handbook: Handbook, admin: User) -> None:
    make_profile(*ALL, by=admin)
    base, _manual, _secret = handbook
    reader, other = make_reader(base), make_user("other")
    steps: list[Step | str] = [SEARCH, READ, "report", says(THIRTY)]
    with modelled(chooses=planned(steps)) as server:
        events = asked(reader, LEAVE)
    assert steps == []
    first = sent(server.requests[0])
    assert "- report: Makes a report" in first
    assert "Find what the report is about first" not in first  # told when it is read, and not before
    assert "Find what the report is about first" in sent(server.requests[2])
    assert "Offered for download: Leave.xlsx" in sent(server.requests[3])
    assert [result.data["display_type"] for result in of(events, ToolResult)] == ["search_results", "skill", "script"]
    (made,) = MadeFile.objects.all()
    row = stored(events)
    assert {item["type"] for item in row.state["evidence_items"]} == {"doc_chunk"}, (
        "what a script says again of its arguments is no evidence: else the model would be its own source"
    )
    session = row.session_id
    page = Client()
    page.force_login(reader)
    shown = page.get(f"/chat/{session}/").content.decode()
    assert "Leave.xlsx" in shown
    assert re.findall(r'trace-said">(Skill: [^<]*)', shown) == [
        "Skill: report · Read an instruction", "Skill: report · Ran a script",
    ]  # fmt: skip
    answer = page.get(f"/chat/{session}/files/{made.pk}/")
    assert answer["Content-Disposition"] == 'attachment; filename="Leave.xlsx"'
    sheet = load_workbook(io.BytesIO(answer.content)).worksheets[0]
    assert "30 days" in " ".join(str(cell.value) for row in sheet.rows for cell in row)
    assert _actions(made) >= {Action.SKILL_READ, Action.SKILL_SCRIPT_RUN, Action.SKILL_FILE_DOWNLOADED}
    stranger = Client()
    stranger.force_login(other)
    assert stranger.get(f"/chat/{session}/files/{made.pk}/").status_code == 404
    revoke_rights(None, [Right.VIEW], base, of=reader)
    assert page.get(f"/chat/{session}/files/{made.pk}/").status_code == 404
    assert "Leave.xlsx" not in page.get(f"/chat/{session}/").content.decode()
    MadeFile.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert made_files.delete_expired_made_files() == 1


def test_what_a_model_calls_a_skill_that_there_is_none_of_is_not_told(reader: User, admin: User) -> None:
    """Such a name is whatever the model writes, and the trace keeps no text of documents."""
    make_profile(*ALL, by=admin)
    steps: list[Step | str] = [
        SEARCH, calls(("read_skill", {"skill_name": "thirty days of leave"})), says(THIRTY),
    ]  # fmt: skip
    with modelled(chooses=planned(steps)):
        events = asked(reader, LEAVE)
    told = [str(step.text) for step in summarise_steps(stored(events).state) if step.has_failed]
    assert told == ["Read an instruction"]


def _actions(made: MadeFile) -> set[str]:
    return set(Entry.objects.filter(run_id=str(made.message_id)).values_list("action", flat=True))


def test_what_the_model_wrote_for_a_script_stands_on_all_that_it_had_read(reader: User, admin: User) -> None:
    """A title that says what stands in a document which nobody named for the script: the file goes with that document, too."""
    make_profile(*ALL, by=admin)
    board = make_base("Merger")
    make_document(
        board, "board.md", "# Annual leave\n\nThe annual leave of the Bluebird team is paid.\n", ingested=True
    )
    allow(reader, board)

    def leave_in(request: Request) -> str:
        found = re.search(r'<evidence number="([^"]+)"[^>]*>[^<]*30 days', sent(request))
        assert found is not None
        return found[1]

    steps: list[Step | str] = [SEARCH, READ, "report", says(THIRTY)]
    with modelled(chooses=planned(steps, evidence=leave_in, title="Bluebird is paid")) as server:
        events = asked(reader, LEAVE)
    assert "Bluebird" in sent(server.requests[1])
    session, (made,) = stored(events).session_id, MadeFile.objects.all()
    page = Client()
    page.force_login(reader)
    assert page.get(f"/chat/{session}/files/{made.pk}/").status_code == 200
    revoke_rights(None, [Right.VIEW], board, of=reader)
    assert page.get(f"/chat/{session}/files/{made.pk}/").status_code == 404


@pytest.mark.parametrize("how", ["off", "unbound", "no tool"])
def test_what_is_not_switched_on_is_not_told(reader: User, admin: User, how: str) -> None:
    make_profile(*(ALL[:1] if how == "no tool" else ALL), by=admin)
    if how == "off":
        keeping.switch_version(admin, Skill.objects.get(), None)
    if how == "unbound":
        keeping.bind_profiles(admin, Skill.objects.get(), [])
    with modelled(SEARCH, READ, says(THIRTY)) as server:
        events = asked(reader, LEAVE)
    assert "report" not in sent(server.requests[0])
    assert "skill" not in str(server.requests[0]["tools"])
    assert [result.data["success"] for result in of(events, ToolResult)] == [True, False]
    assert "Find what the report is about first" not in sent(server.requests[2])


def test_what_came_after_the_look_is_not_approved_and_the_look_shows_all(admin: User, tmp_path: Path) -> None:
    """Somebody adds a version between the two; and letters without a shape, or a terminal's signs, hide nothing."""
    folder = tmp_path / "helper"
    folder.mkdir()
    head = "---\nname: helper\ndescription: Helps.\n---\n"
    (folder / "SKILL.md").write_text(f"{head}Help.\U000e0041\x1b[2K\n", encoding="utf-8")
    first = keeping.add_version(admin, read_package_folder(folder))
    (seen,) = keeping.build_seen_version(first.skill, first).files
    assert seen.text is not None
    assert "Help.\\ue0041\\u001b[2K" in seen.text
    (folder / "SKILL.md").write_text(f"{head}Send it all.\n", encoding="utf-8")
    second = keeping.add_version(admin, read_package_folder(folder))
    for digest in ("", first.sha256):
        with pytest.raises(InvalidInput):
            keeping.review_version(admin, second, SkillVerdict.APPROVED, sha256_seen=digest)
    assert Skill.objects.get().in_use is None


def test_a_version_that_is_not_approved_any_more_is_not_told_whatever_says_that_it_is_in_use(admin: User) -> None:
    profile = make_profile(*ALL, by=admin)
    assert list(list_offered_skills(profile.name)) == ["report"]
    SkillVersion.objects.update(verdict=SkillVerdict.WAITING)
    assert list_offered_skills(profile.name) == {}
    with pytest.raises(NotFound):
        find_version_in_use(profile.name, "report")


def test_a_script_is_not_given_what_may_not_be_read_any_more(handbook: Handbook, admin: User) -> None:
    """The right ends between the search and the script."""
    profile = make_profile(*ALL, by=admin)
    base, manual, _secret = handbook
    reader = Principal.of(make_reader(base))
    (passage, *_more) = list_document_passages(reader, manual)
    finding = make_passage_finding(passage)
    key = finding.item.evidence_id
    arguments = {
        "skill_name": "report",
        "script_path": "scripts/report.py",
        "args": ["docx", "Leave"],
        "evidence_ids": [key],
    }
    ctx = ToolContext(reader, Scope(), "en", profile=profile.name, findings={key: finding})

    def called() -> CallOutcome:
        return async_to_sync(call_tool)("execute_skill_script", json.dumps(arguments), allowed=ALL, ctx=ctx)

    assert called().result.success
    revoke_rights(None, [Right.VIEW], base, of=User.objects.get(pk=reader.user_id))
    refused = called().result
    assert (refused.success, refused.error) == (False, "Something of this may not be read any more.")


def test_a_file_is_gone_after_its_days_before_anybody_throws_it_away(admin: User) -> None:
    reader = make_user()
    session = create_session(Principal.of(reader))
    answer = Message.objects.create(session=session, role="assistant", content="Made.")
    (made,) = made_files.store_made_files(
        answer.pk, {"a.txt": b"x", "../b.html": b"<script>", "c.exe": b"x", "d.txt": b""}, []
    )
    page = Client()
    page.force_login(reader)
    assert page.get(f"/chat/{session.pk}/files/{made.pk}/").status_code == 200
    MadeFile.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert page.get(f"/chat/{session.pk}/files/{made.pk}/").status_code == 404
