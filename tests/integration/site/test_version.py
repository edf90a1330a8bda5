"""The version is where people, monitoring and other programs look for it."""

import pytest
from django.contrib.auth.models import User
from django.template import loader
from django.test import Client

from copilot_site.lib.version import VERSION


@pytest.mark.django_db
def test_it_is_at_the_foot_of_each_page_and_on_that_of_a_failure(client: Client) -> None:
    page = client.get("/sign-in/", headers={"accept-language": "zh-hans"})
    assert f"版本 {VERSION}" in page.content.decode()
    client.force_login(User.objects.create_superuser("root"))
    for address in ("/", "/no-such-page/", "/admin/auth/user/"):
        page = client.get(address, headers={"accept": "text/html"})
        assert page.content.decode().count(f"Version {VERSION}") == 1, address
    assert VERSION in loader.get_template("500.html").render()
