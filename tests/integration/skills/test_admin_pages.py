"""Skills in the administration: uploaded as a zip, read file by file, approved by whoever may, bound to profiles."""

import io
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agent.models import AgentProfile, Skill
from agent.models.skills import SkillVerdict
from tests.factories import make_user

pytestmark = pytest.mark.django_db
HEAD = "---\nname: greeting\ndescription: Greets people.\n---\n\n"


def zipped(**files: str) -> SimpleUploadedFile:
    data = io.BytesIO()
    with ZipFile(data, "w") as archive:
        archive.writestr("greeting/SKILL.md", HEAD + files.pop("instructions", "Say hello to <b>everybody</b>."))
        for name, text in files.items():
            archive.writestr(f"greeting/scripts/{name}.py", text)
    return SimpleUploadedFile("greeting.zip", data.getvalue())


def staff(name: str, *may: str) -> User:
    user = make_user(name)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="agent", codename__in=may))
    return User.objects.get(pk=user.pk)


def browser(user: User) -> Client:
    page = Client()
    page.force_login(user)
    return page


@pytest.fixture
def adder() -> Client:
    return browser(staff("adder", "add_skill"))


@pytest.fixture
def reviewer() -> Client:
    return browser(staff("reviewer", "review_skill"))


def uploaded(by: Client, **files: str) -> str:
    """The address of the skill's page, at the new version."""
    answer = by.post("/admin/skills/", {"package": zipped(**files)})
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def text(by: Client, address: str) -> str:
    answer = by.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_skill_is_uploaded_reviewed_bound_and_switched_off(adder: Client, reviewer: Client) -> None:
    profile = AgentProfile.objects.create(name="Reception", allowed_tools=["read_skill"])
    address = uploaded(adder, hello="print('hello')")
    skill = Skill.objects.get()
    version = skill.versions.get()
    shown = text(reviewer, address)
    assert "print(&#x27;hello&#x27;)" in shown
    assert "Say hello to &lt;b&gt;everybody&lt;/b&gt;." in shown
    assert "Its tools must have read_skill and execute_skill_script" in shown
    seen = {"do": "approve", "version": "1", "sha256": version.sha256}
    assert reviewer.post(address, seen | {"sha256": "0" * 64}).status_code == 400
    assert Skill.objects.get().in_use is None
    assert reviewer.post(address, seen).status_code == 302
    assert Skill.objects.get().in_use == version
    assert reviewer.post(address, {"do": "bind", "profiles": [profile.pk]}).status_code == 302
    assert list(skill.profiles.all()) == [profile]
    assert "Reception" in text(reviewer, "/admin/skills/")
    assert reviewer.post(address, {"do": "bind"}).status_code == 302
    assert list(skill.profiles.all()) == []
    assert reviewer.post(address, {"do": "off"}).status_code == 302
    assert Skill.objects.get().in_use is None
    assert reviewer.post(address, {"do": "use", "version": "1"}).status_code == 302
    assert Skill.objects.get().in_use == version
    assert reviewer.post(address, seen | {"do": "refuse"}).status_code == 302
    assert Skill.objects.get().in_use is None
    assert reviewer.post(address, {"do": "use", "version": "1"}).status_code == 400
    assert reviewer.post(address, {"do": "delete"}).status_code == 302
    assert not Skill.objects.exists()


def test_a_further_version_shows_what_is_different_and_waits(adder: Client, reviewer: Client) -> None:
    address = uploaded(adder, hello="print('hello')", gone="1", same="2")
    first = Skill.objects.get().versions.get()
    reviewer.post(address, {"do": "approve", "version": "1", "sha256": first.sha256})
    address = uploaded(adder, hello="print('good day')", new="3", same="2")
    assert Skill.objects.get().in_use == first
    shown = text(reviewer, address)
    found = {path: shown.partition(f"<code>{path}</code>")[2].partition("</summary>")[0] for path in PATHS}
    assert {path: next(word for word in WORDS if word in said) for path, said in found.items()} == PATHS
    assert "scripts/gone.py" in shown.partition("In use and not in this version:")[2].partition("</p>")[0]
    assert (
        adder.post("/admin/skills/", {"package": zipped(hello="print('hello')", gone="1", same="2")}).status_code == 400
    )
    assert Skill.objects.get().versions.count() == 2


WORDS = ("new file", "changed", "as in use")
PATHS = {
    "SKILL.md": "as in use", "scripts/hello.py": "changed", "scripts/new.py": "new file", "scripts/same.py": "as in use",
}  # fmt: skip


def test_whoever_may_only_add_reviews_nothing_and_whoever_may_only_review_adds_nothing(
    adder: Client, reviewer: Client
) -> None:
    address = uploaded(adder)
    version = Skill.objects.get().versions.get()
    assert "approve" not in text(adder, address)
    for do in ("approve", "refuse", "use", "off", "bind", "delete"):
        given = {"do": do, "version": "1", "sha256": version.sha256}
        assert adder.post(address, given).status_code == 400
    version.refresh_from_db()
    assert (version.verdict, Skill.objects.get().in_use) == (SkillVerdict.WAITING, None)
    assert "Upload" not in text(reviewer, "/admin/skills/")
    assert reviewer.post("/admin/skills/", {"package": zipped(hello="1")}).status_code == 400
    assert Skill.objects.get().versions.count() == 1
    nobody = browser(staff("clerk"))
    assert [nobody.get("/admin/skills/").status_code, nobody.get(address).status_code] == [404, 404]


def test_what_is_wrong_with_a_zip_is_said_and_ours_are_offered(adder: Client) -> None:
    answer = adder.post("/admin/skills/", {"package": SimpleUploadedFile("a.zip", b"no zip")})
    assert answer.status_code == 400
    assert "The file is not a readable zip." in answer.content.decode()
    assert adder.post("/admin/skills/", {}).status_code == 400
    assert adder.post("/admin/skills/", {"shipped": "../report"}).status_code == 400
    assert adder.post("/admin/skills/", {"shipped": "report"}).status_code == 302
    shown = text(adder, "/admin/skills/")
    assert "Without one no answer uses a skill." in shown, "there is no language model"
    assert [f"<option>{name}</option>" in shown for name in ("report", "compare-versions")] == [False, True]
