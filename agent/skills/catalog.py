"""The skills offered to a run: names and descriptions; the rest is read on demand."""

from django.db.models import F, QuerySet

from agent.models import Skill, SkillVersion
from agent.models.skills import SkillVerdict
from copilot_site.lib.errors import NotFound

READ, EXECUTE = "read_skill", "execute_skill_script"


def list_offered_skills(profile: str) -> dict[str, str]:
    """Return the descriptions of the skills that are enabled and bound to the profile of this name, by name."""
    rows = _select_versions_in_use().filter(skill__profiles__name=profile).order_by("skill__name")
    return dict(rows.values_list("skill__name", "description"))


def find_version_in_use(profile: str, name: str) -> SkillVersion:
    """Return the version in use.

    Raises NotFound, alike for a skill that is missing, disabled, or bound to another profile.
    """
    found = (
        _select_versions_in_use()
        .filter(skill__profiles__name=profile, skill__name=name)
        .select_related("skill")
        .first()
    )
    if found is None:
        raise NotFound(f"There is no skill called {name[:80]!r} here.")
    return found


def is_any_skill_enabled() -> bool:
    return Skill.objects.exclude(in_use=None).exists()


def _select_versions_in_use() -> QuerySet[SkillVersion]:
    return SkillVersion.objects.filter(verdict=SkillVerdict.APPROVED, skill__in_use=F("pk"))
