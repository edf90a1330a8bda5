"""What a reviewer looks at before a skill may be used: every file of a version, and what is different from the one in use."""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from agent.models import Skill, SkillVersion
from agent.skills.services import files_of

CHARACTERS = 100_000  # of one file; the rest is said to be there


class Change(TextChoices):
    """How a file differs from the one in the version in use."""

    NEW = "new", _("new file")
    CHANGED = "changed", _("changed")
    SAME = "same", _("as in use")


@dataclass(frozen=True)
class SeenFile:
    """text: None for one that is no text. left_out: characters that are not shown. change: None where nothing else is in use."""

    path: str
    size_bytes: int
    text: str | None
    left_out: int
    change: Change | None


@dataclass(frozen=True)
class SeenVersion:
    """gone: paths of the version in use that this one has not."""

    files: tuple[SeenFile, ...]
    gone: tuple[str, ...]


def seen_version(skill: Skill, version: SkillVersion) -> SeenVersion:
    """For whoever reviews it. Raises InvalidInput where the files are not those that were uploaded."""
    files = files_of(version)
    before = files_of(skill.in_use) if skill.in_use and skill.in_use != version else None
    seen = tuple(_seen(path, files[path], before) for path in sorted(files))
    return SeenVersion(seen, tuple(sorted(before.keys() - files.keys())) if before else ())


def _seen(path: str, content: bytes, before: dict[str, bytes] | None) -> SeenFile:
    change = None
    if before is not None:
        known = before.get(path)
        change = Change.NEW if known is None else Change.SAME if known == content else Change.CHANGED
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return SeenFile(path, len(content), None, 0, change)
    return SeenFile(path, len(content), text[:CHARACTERS], max(0, len(text) - CHARACTERS), change)
