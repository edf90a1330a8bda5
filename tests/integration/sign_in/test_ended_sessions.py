"""Ended sign-ins leave no rows behind."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from authz.tasks import clear_sessions
from tests.factories import make_user


@pytest.mark.django_db
def test_ended_sign_ins_are_deleted_and_others_stay(client: Client) -> None:
    client.force_login(make_user())
    ended = Client()
    ended.force_login(make_user())
    Session.objects.filter(pk=ended.session.session_key).update(expire_date=timezone.now() - timedelta(days=1))
    clear_sessions()
    assert set(Session.objects.values_list("pk", flat=True)) == {client.session.session_key}
