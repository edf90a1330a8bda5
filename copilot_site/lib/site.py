"""The public address of this site."""

from django.conf import settings
from django.http import HttpRequest


def find_site_address(request: HttpRequest) -> str:
    """Return COPILOT_SITE_URL, or the request's own address, without a slash at its end."""
    return settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")
