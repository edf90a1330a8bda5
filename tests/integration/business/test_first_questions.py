"""Many people may ask a source at once that nobody has asked before."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from business.connections.address import Address
from business.connections.postgres_session import connect_to_source
from business.sandbox.setup import harden_database, has_leakproof_comparisons, is_hardened

NAME = "asked_by_many"


@pytest.fixture
def fresh(db: None) -> Iterator[Address]:
    own = Address.of_django()
    with psycopg.connect(**own.keywords(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME} TEMPLATE template0")
        yield own.at(NAME)
        connection.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def test_a_database_is_hardened_once_however_many_ask_at_once(fresh: Address) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _turn: harden_database(fresh), range(8)))
    with connect_to_source(fresh) as connection:
        assert is_hardened(connection)
        assert has_leakproof_comparisons(connection)
