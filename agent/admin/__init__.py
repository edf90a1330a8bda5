"""Admin pages for the agent's settings, one file per subject.

Django imports this package at start; each file registers its own models.
"""

from agent.admin import language_models, profiles, verified_answers
from agent.parts import import_part_modules

__all__ = ["language_models", "profiles", "verified_answers"]

import_part_modules("admin")
