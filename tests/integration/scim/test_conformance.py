"""The public suite of checks for servers of SCIM, against the product's own addresses.

It is imported where it is used: its models take as long to make as all other files take to be collected.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.test.client import ClientHandler

pytestmark = pytest.mark.django_db
# the suite takes what was removed for unassigned; an account is active or it is not
ALWAYS_SAID = ["User: check_remove_attribute: Attribute 'active' was not removed"]


def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The site as a WSGI application on the connection of a test."""
    answer: Any = ClientHandler(enforce_csrf_checks=True)(environ)
    start_response(f"{answer.status_code} {answer.reason_phrase}", list(answer.items()))
    return [answer.content]


def test_the_public_suite_finds_nothing_that_the_standard_forbids(secret: str) -> None:
    from scim2_client.engines.wsgi import WSGISCIMClient
    from scim2_tester import Status, check_server

    client = WSGISCIMClient(site, base_url="http://testserver/scim/v2", headers={"Authorization": f"Bearer {secret}"})
    results = check_server(client)
    wrong = [
        f"{result.resource_type}: {result.title}: {result.reason}"
        for result in results
        if result.status in {Status.ERROR, Status.CRITICAL, Status.DEVIATION}
    ]
    assert wrong == ALWAYS_SAID, "\n".join(wrong)
    assert sum(result.status is Status.SUCCESS for result in results) >= 40
