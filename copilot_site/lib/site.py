"""Where this site is, as others reach it."""

from django.conf import settings
from django.http import HttpRequest


def site_address(request: HttpRequest) -> str:
    """COPILOT_SITE_URL, or what the request came to; without a slash at its end."""
    return settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")
