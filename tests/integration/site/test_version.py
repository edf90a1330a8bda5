"""The version is where people, monitoring and other programs look for it."""

import pytest
from django.contrib.auth.models import User
from django.template import loader
from django.test import Client

from copilot_site.lib.version import VERSION


@pytest.fixture
def administrator(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.mark.parametrize("address", ["/", "/library/", "/no-such-page/", "/admin/auth/user/"])
def test_it_is_at_the_foot_of_each_page(administrator: Client, address: str) -> None:
    assert administrator.get(address, headers={"accept": "text/html"}).content.decode().count(f"Version {VERSION}") == 1


@pytest.mark.django_db
def test_who_is_not_signed_in_sees_it_in_their_language() -> None:
    page = Client().get("/sign-in/", headers={"accept-language": "zh-hans"})
    assert f"版本 {VERSION}" in page.content.decode()


def test_it_is_on_the_page_of_a_failure() -> None:
    assert VERSION in loader.get_template("500.html").render()
