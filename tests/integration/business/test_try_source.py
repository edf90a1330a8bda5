"""A data source is tried before it is saved: nothing is kept, and what is missing is named with the statement that mends it."""

from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from business.models import DataSource
from tests.factories import make_user
from tests.integration.business.conftest import Elsewhere
from tests.integration.business.test_connections import form
from tests.integration.governance.world import client_of, staff, text_of
from tests.listening import listening

SECRET = "a password of the tests"


def tried(user: User, fields: dict[str, Any]) -> str:
    return text_of(client_of(user).post(reverse("source-try"), fields))


def test_a_source_that_can_be_asked_is_said_to_and_nothing_is_saved(root: User, elsewhere: Elsewhere) -> None:
    assert "everything works" in tried(root, elsewhere.fields())
    assert not DataSource.unscoped.exists()
    entry = Entry.objects.get(action=Action.SOURCE_CHECKED)
    assert entry.detail["faults"] == 0
    assert str(elsewhere.account.password) not in str(entry.detail)


def test_what_is_entered_wrongly_is_said(root: User, elsewhere: Elsewhere) -> None:
    for changed, sentence in (
        ({"password": "wrong"}, "check its password"),
        ({"password": "wrong", "is_active": ""}, "check its password"),  # of a source that nobody may ask yet, too
        ({"database": "nowhere"}, "has no database nowhere"),
        ({"port": 1}, "does not answer"),
        ({"host": ""}, "never a data source"),
    ):
        assert sentence in tried(root, elsewhere.fields(**changed)), changed


def test_a_stored_password_is_sent_to_its_own_address_alone(root: User) -> None:
    with listening() as own, listening() as other:
        source = DataSource(
            name="away", host="127.0.0.1", port=own.port, database="shop", username="reader", tls="disable"
        )
        source.set_password(SECRET)
        source.save()
        for port in (own.port, other.port):
            tried(root, form(source, port=port, id=str(source.pk)))
    assert own.connections
    assert other.connections
    assert SECRET not in str(other.__dict__)
    assert bytes(DataSource.unscoped.get().encrypted_password)


def test_whoever_sets_no_connections_tries_none(elsewhere: Elsewhere, db: None) -> None:
    for person, status in ((staff("sam"), 403), (make_user("clara"), 302)):
        assert client_of(person).post(reverse("source-try"), elsewhere.fields()).status_code == status
    assert not Entry.objects.filter(action=Action.SOURCE_CHECKED).exists()
