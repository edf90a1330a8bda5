"""System checks for what Django cannot know: settings that are fine on one machine and wrong on several."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

from copilot_site.config import load_config


@register(Tags.security, deploy=True)
def secret_key_is_shared(**_: Any) -> list[CheckMessage]:
    """A key made by this machine signs sessions that the next web host refuses."""
    config = load_config()
    if config.secret_key or not config.database_url or settings.DEBUG:
        return []
    return [
        Error(
            "COPILOT_SECRET_KEY is not set, so every host makes its own and refuses the sessions of the others.",
            hint="Set COPILOT_SECRET_KEY to the same 50 or more random characters on every host.",
            id="copilot_site.E001",
        )
    ]
