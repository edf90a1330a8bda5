"""Settings of the agent in the admin, one file a subject. Django imports this at start; each file registers what it holds."""

from agent.admin import language_models, profiles, verified_answers
from agent.parts import part_modules

__all__ = ["language_models", "profiles", "verified_answers"]

part_modules("admin")
