"""A scripted model reads a skill, runs its script in the sandbox, and the person gets the file: a real run from end to end."""

import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook

from agent.events import ToolResult
from agent.models import AgentProfile, MadeFile, Message, Skill
from agent.models.skills import Verdict
from agent.skills import files
from agent.skills import services as keeping
from audit.actions import Action
from audit.models import Entry
from authz.grants import take_back
from authz.permissions import Right
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader, stored
from tests.integration.agent.modelled import DONE, SEARCH, THIRTY, modelled, of, routes, sent
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db
READ = calls(("read_skill", {"skill_name": "report"}))


@pytest.fixture
def admin() -> User:
    return make_user("root", is_superuser=True)


def make_profile(*tools: str, skills: tuple[str, ...] = ("report",), by: User) -> AgentProfile:
    profile = AgentProfile.objects.create(name="Reports", allowed_tools=list(tools), is_default=True)
    for name in skills:
        call_command("skill", "add", name, username=by.username)
        call_command("skill", "approve", name, username=by.username)
        call_command("skill", "bind", name, profile.name, username=by.username)
    return profile


ALL = ("knowledge_search", "read_skill", "execute_skill_script")


def evidence_in(request: Request) -> str:
    """The id of the first piece of evidence that the model was shown."""
    return sent(request).partition('<evidence id="')[2].partition('"')[0]


def planned(steps: list[Step | str]) -> Callable[[Request], Step]:
    def choose(request: Request) -> Step:
        step = steps.pop(0)
        if step == "report":
            arguments = {"skill_name": "report", "script_path": "scripts/report.py", "args": ["xlsx", "Leave"]}
            return calls(("execute_skill_script", {**arguments, "evidence_ids": [evidence_in(request)]}))
        assert isinstance(step, Step)
        return step

    return choose


def test_a_file_is_made_from_evidence_and_offered_to_whoever_asked(admin: User) -> None:
    make_profile(*ALL, by=admin)
    base, _manual, _secret = make_library()
    reader, other = make_reader(base), make_user("other")
    steps: list[Step | str] = [routes(), SEARCH, READ, "report", DONE, says(THIRTY)]
    with modelled(chooses=planned(steps)) as server:
        events = asked(reader, LEAVE)
    assert steps == []
    first = sent(server.requests[1])
    assert "- report: Makes a report" in first
    assert "Find what the report is about first" not in first  # told when it is read, and not before
    assert "Find what the report is about first" in sent(server.requests[3])
    assert "Offered for download: Leave.xlsx" in sent(server.requests[4])
    assert [result.data["display_type"] for result in of(events, ToolResult)] == ["search_results", "skill", "script"]
    (made,) = MadeFile.objects.all()
    session = stored(events).session_id
    page = Client()
    page.force_login(reader)
    assert "Leave.xlsx" in page.get(f"/chat/{session}/").content.decode()
    answer = page.get(f"/chat/{session}/files/{made.pk}/")
    assert answer["Content-Disposition"] == 'attachment; filename="Leave.xlsx"'
    sheet = load_workbook(io.BytesIO(answer.content)).worksheets[0]
    assert "30 days" in " ".join(str(cell.value) for row in sheet.rows for cell in row)
    assert _actions(made) >= {Action.SKILL_READ, Action.SKILL_SCRIPT_RUN, Action.SKILL_FILE_DOWNLOADED}
    stranger = Client()
    stranger.force_login(other)
    assert stranger.get(f"/chat/{session}/files/{made.pk}/").status_code == 404
    take_back(None, [Right.VIEW], base, of=reader)
    assert page.get(f"/chat/{session}/files/{made.pk}/").status_code == 404
    assert "Leave.xlsx" not in page.get(f"/chat/{session}/").content.decode()
    MadeFile.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert files.throw_away() == 1


def _actions(made: MadeFile) -> set[str]:
    return set(Entry.objects.filter(run_id=str(made.message_id)).values_list("action", flat=True))


@pytest.mark.parametrize("how", ["off", "unbound", "no tool"])
def test_what_is_not_switched_on_is_not_told(admin: User, how: str) -> None:
    make_profile(*(ALL[:1] if how == "no tool" else ALL), by=admin)
    if how == "off":
        call_command("skill", "off", "report", username=admin.username)
    if how == "unbound":
        call_command("skill", "bind", "report", username=admin.username)
    base, _manual, _secret = make_library()
    with modelled(routes(), SEARCH, READ, DONE, says(THIRTY)) as server:
        events = asked(make_reader(base), LEAVE)
    assert "report" not in sent(server.requests[1])
    assert "skill" not in str(server.requests[1]["tools"])
    assert [result.data["success"] for result in of(events, ToolResult)] == [True, False]
    assert "Find what the report is about first" not in sent(server.requests[3])


def test_nothing_is_in_use_before_it_is_reviewed(admin: User) -> None:
    call_command("skill", "add", "report", username=admin.username)
    skill = Skill.objects.get()
    assert skill.in_use is None
    adder = make_user("adder")
    adder.user_permissions.add(Permission.objects.get(codename="add_skill"))
    adder = User.objects.get(pk=adder.pk)
    version = skill.versions.get()
    with pytest.raises(PermissionDenied):
        keeping.review(adder, version, Verdict.APPROVED, sha256_seen=version.sha256)
    with pytest.raises(PermissionDenied):
        keeping.switch(adder, skill, version)
    with pytest.raises(InvalidInput):
        keeping.switch(admin, skill, version)
    with pytest.raises(InvalidInput):
        keeping.review(admin, version, Verdict.APPROVED, sha256_seen="0" * 64)
    with pytest.raises(NotFound):
        keeping.seen_skills(make_user("nobody"))
    assert Skill.objects.get().in_use is None
    keeping.review(admin, version, Verdict.APPROVED, sha256_seen=version.sha256)
    assert Skill.objects.get().in_use == version
    keeping.review(admin, version, Verdict.REFUSED, sha256_seen=version.sha256)
    assert Skill.objects.get().in_use is None
    assert Message.objects.count() == 0
