"""Skills as a person has added, reviewed, switched on and bound them."""

from django.contrib.auth.models import User

from agent.models import AgentProfile, Skill
from agent.models.skills import SkillVerdict
from agent.skills import services
from agent.skills.packages import read_shipped_package


def review_shipped(name: str, *profiles: AgentProfile, by: User) -> Skill:
    """Add a skill of ours, approve it, and bind it to these profiles."""
    version = services.add_version(by, read_shipped_package(name))
    services.review_version(by, version, SkillVerdict.APPROVED, sha256_seen=version.sha256)
    services.bind_profiles(by, version.skill, list(profiles))
    return version.skill
