"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.oidc_issuer import CLIENT_ID, CLIENT_SECRET, Issuer, running


@pytest.fixture(autouse=True)
def no_attempts() -> None:
    """No test begins with the wrong passwords that an earlier one gave under the same name."""
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def issuer(settings: Any) -> Iterator[Issuer]:
    """A company sign-in, set up as COPILOT_OIDC_* set it up."""
    with running(Issuer()) as issuer:
        app = {
            "provider_id": "company",
            "name": "Company account",
            "client_id": CLIENT_ID,
            "secret": CLIENT_SECRET,
            "settings": {"server_url": issuer.url, "groups_claim": "groups", "link_by_email": False},
        }
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}
        yield issuer
