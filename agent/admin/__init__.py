"""Admin pages for the agent's settings, one file per subject.

Django imports this package at start; each file registers its own models.
"""

from agent.admin import language_models, profiles, verified_answers
from agent.parts import part_modules

__all__ = ["language_models", "profiles", "verified_answers"]

part_modules("admin")
