"""Administration of skills: upload, review, enable and disable, bind to profiles, delete; each checked and audited."""

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet, TextChoices
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent.models import AgentProfile, Skill, SkillVersion
from agent.models.skills import SkillVerdict
from agent.skills.packages import Package, unpack_version_files
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from copilot_site.lib.text.plain_text import show_invisible_characters


def may_add_skill(user: User) -> bool:
    return user.has_perm("agent.add_skill")


def may_review_skill(user: User) -> bool:
    return user.has_perm("agent.review_skill")


def select_managed_skills(user: User) -> QuerySet[Skill]:
    """Return all skills, for people who may add or review some. Raises NotFound for others."""
    if not (may_add_skill(user) or may_review_skill(user)):
        raise NotFound(_("There are no skills that you look after."))
    return Skill.objects.select_related("in_use").prefetch_related("profiles", "versions")


def load_version_files(version: SkillVersion) -> dict[str, bytes]:
    """Return the files of a version for its review. Raises InvalidInput where they differ from the uploaded ones."""
    return unpack_version_files(bytes(version.archive), version.sha256)


@transaction.atomic
def add_version(user: User, package: Package) -> SkillVersion:
    """Add a version, which waits for a review; the version in use stays.

    Raises PermissionDenied, InvalidInput (a duplicate).
    """
    if not may_add_skill(user):
        raise PermissionDenied(_("You cannot add skills."))
    skill, _is_new = Skill.objects.get_or_create(name=package.name)
    Skill.objects.select_for_update().get(pk=skill.pk)
    archive = package.archive
    digest = sha256(archive).hexdigest()
    same = skill.versions.filter(sha256=digest).first()
    if same is not None:
        raise InvalidInput(_("This is version %(number)s, which already exists.") % {"number": same.number})
    newest = skill.versions.aggregate(newest=Max("number"))["newest"] or 0
    version = SkillVersion.objects.create(
        skill=skill,
        number=newest + 1,
        description=package.description,
        instructions=package.instructions,
        archive=archive,
        sha256=digest,
        paths={path: len(content) for path, content in sorted(package.files.items())},
        by=user,
    )
    _record_skill_change(user, Action.SKILL_ADDED, skill, version=version.number, sha256=digest)
    return version


@transaction.atomic
def review_version(user: User, version: SkillVersion, verdict: SkillVerdict, *, sha256_seen: str) -> None:
    """Approve or reject a version; approving enables it. sha256_seen: of the content shown to the reviewer.

    Raises PermissionDenied; InvalidInput where other content was shown.
    """
    _require_review_right(user)
    if sha256_seen != version.sha256:
        raise InvalidInput(_("This is not the version you were shown. Look at it again."))
    SkillVersion.objects.filter(pk=version.pk).update(verdict=verdict, reviewed_by=user, reviewed_at=timezone.now())
    skill = version.skill
    _record_skill_change(
        user, Action.SKILL_REVIEWED, skill, version=version.number, sha256=version.sha256, verdict=verdict
    )
    if verdict == SkillVerdict.APPROVED:
        _set_version_in_use(user, skill, version)
    elif skill.in_use_id == version.pk:
        _set_version_in_use(user, skill, None)


@transaction.atomic
def switch_version(user: User, skill: Skill, version: SkillVersion | None) -> None:
    """Enable this version, or none. Raises PermissionDenied; InvalidInput for one that is not approved."""
    _require_review_right(user)
    if version is not None and version.verdict != SkillVerdict.APPROVED:
        raise InvalidInput(_("Only a version that was reviewed and approved can be switched on."))
    _set_version_in_use(user, skill, version)


@transaction.atomic
def bind_profiles(user: User, skill: Skill, profiles: Collection[AgentProfile]) -> None:
    """Set the profiles whose runs may use the skill. Raises PermissionDenied."""
    _require_review_right(user)
    skill.profiles.set(profiles)
    _record_skill_change(user, Action.SKILL_BOUND, skill, profiles=sorted(profile.name for profile in profiles))


@transaction.atomic
def delete_skill(user: User, skill: Skill) -> None:
    """Delete a skill with all its versions. Raises PermissionDenied."""
    _require_review_right(user)
    _record_skill_change(user, Action.SKILL_DELETED, skill)
    skill.delete()


def _require_review_right(user: User) -> None:
    if not may_review_skill(user):
        raise PermissionDenied(_("You cannot review skills or switch them on."))


def _set_version_in_use(user: User, skill: Skill, version: SkillVersion | None) -> None:
    skill.in_use = version
    skill.save(update_fields=["in_use"])
    _record_skill_change(user, Action.SKILL_SWITCHED, skill, version=version.number if version else None)


def _record_skill_change(user: User, action: Action, skill: Skill, **detail: object) -> None:
    record_action(Principal.of(user), action, skill, detail=detail)


CHARACTERS = 100_000  # shown of one file; the page tells how many are left out


class FileChange(TextChoices):
    """The difference of a file from the version in use."""

    NEW = "new", gettext_lazy("new file")
    CHANGED = "changed", gettext_lazy("changed")
    SAME = "same", gettext_lazy("as in use")


@dataclass(frozen=True)
class SeenFile:
    """text: None for a binary file. left_out: number of characters not shown.

    change: None where no other version is in use.
    """

    path: str
    size_bytes: int
    text: str | None
    left_out: int
    change: FileChange | None


@dataclass(frozen=True)
class SeenVersion:
    """gone: paths of the version in use that are missing in this one."""

    files: tuple[SeenFile, ...]
    gone: tuple[str, ...]


def build_seen_version(skill: Skill, version: SkillVersion) -> SeenVersion:
    """Return a version for its review. Raises InvalidInput where the files differ from the uploaded ones."""
    files = load_version_files(version)
    before = load_version_files(skill.in_use) if skill.in_use and skill.in_use != version else None
    seen = tuple(_build_seen_file(path, files[path], before) for path in sorted(files))
    return SeenVersion(seen, tuple(sorted(before.keys() - files.keys())) if before else ())


def _build_seen_file(path: str, content: bytes, before: dict[str, bytes] | None) -> SeenFile:
    change = None
    if before is not None:
        known = before.get(path)
        change = FileChange.NEW if known is None else FileChange.SAME if known == content else FileChange.CHANGED
    try:
        text = show_invisible_characters(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return SeenFile(path, len(content), None, 0, change)
    return SeenFile(path, len(content), text[:CHARACTERS], max(0, len(text) - CHARACTERS), change)
