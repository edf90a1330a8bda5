"""The list of documents of the administration: its newest version for each, by as many statements however many there are."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from knowledge.models import ParseStatus
from tests.factories import make_base, make_document, make_user, newest_version

pytestmark = pytest.mark.django_db
LIST = reverse("admin:knowledge_document_changelist")


def test_the_list_takes_as_many_statements_for_one_document_as_for_ten(client: Client) -> None:
    base = make_base("Handbook")
    client.force_login(make_user(is_superuser=True))
    make_document(base, "0.md")
    client.get(LIST)  # what is loaded once
    counts = []
    for number in (1, 10):
        for item in range(1, number):
            make_document(base, f"{item}.md")
        with CaptureQueriesContext(
            connection,
        ) as seen:
            page = client.get(LIST)
        assert len(page.context["cl"].result_list) == number
        counts.append(len(seen))
    assert counts[0] == counts[1]


def test_the_list_shows_the_state_of_the_newest_version(client: Client) -> None:
    document = make_document(make_base("Handbook"), "rules.md")
    version = newest_version(document)
    version.parse_status, version.failure = ParseStatus.FAILED, {"code": "empty", "params": {}}
    version.save()
    client.force_login(make_user(is_superuser=True))
    assert "The file is empty." in client.get(LIST).content.decode()
