"""A world that tests share outlives what each of them does to the connection."""

from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

from knowledge.models import KnowledgeBase
from tests.factories import make_base
from tests.sharing import shared


def test_a_test_that_closes_the_connection_spoils_no_later_one(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> None:
    with shared(django_db_blocker, make_base) as copied, django_db_blocker.unblock():
        for _each in range(2):
            with transaction.atomic():
                assert KnowledgeBase.unscoped.filter(pk=copied().pk).exists()
                connection.close()
    with django_db_blocker.unblock():
        assert not KnowledgeBase.unscoped.filter(pk=copied().pk).exists()


def test_a_world_on_top_of_another_ends_alone(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with shared(django_db_blocker, lambda: make_base("Below")) as below:
        with shared(django_db_blocker, lambda: make_base("Above")) as above:
            pass
        with django_db_blocker.unblock():
            connection.close()
            assert KnowledgeBase.unscoped.filter(pk=below().pk).exists()
            assert not KnowledgeBase.unscoped.filter(pk=above().pk).exists()
    with django_db_blocker.unblock():
        assert not KnowledgeBase.unscoped.filter(pk=below().pk).exists()
