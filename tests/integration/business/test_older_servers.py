"""A company's own database is often older than ours: what its server does not know is left out, guard and sandbox stand."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from asgiref.sync import async_to_sync

from business.connections.address import Address, Tls
from business.execute import Access, run_sql
from business.guard.refusal import SqlRefused
from business.sandbox.setup import build_source_setup_sql
from tests.ports import own_port
from tests.programs import OLDER_POSTGRES

# The one of Debian 12, which has neither transaction_timeout nor scram_iterations.
PASSWORD = "of the owner"
AS_NOBODY = ["unshare", "--user", "--map-user=65534", "--map-group=65534"]  # PostgreSQL refuses root

pytestmark = pytest.mark.needs("PostgreSQL 15")


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    folder, port = tmp_path_factory.mktemp("older"), own_port()
    before = AS_NOBODY if os.geteuid() == 0 else []

    def run(program: str, *words: str) -> None:
        with (folder / "said").open("ab") as said:
            subprocess.run(
                [*before, OLDER_POSTGRES / program, *words], check=True, stdout=said, stderr=said, cwd=folder
            )

    (folder / "password").write_text(PASSWORD)
    run("initdb", "--auth=scram-sha-256", "--pwfile=password", "--username=owner", "-D", "data")
    run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", f"-p {port} -k {folder} -c fsync=off", "start")
    yield Address("127.0.0.1", port, "postgres", "owner", PASSWORD, Tls.DISABLE)
    run("pg_ctl", "-D", "data", "-m", "immediate", "stop")


def test_guard_and_sandbox_stand_on_an_older_server(older: Address, access: Access) -> None:
    seed = (Path(__file__).parent / "shop.sql").read_text()
    with psycopg.connect(**older.keywords(), autocommit=True) as connection:
        assert connection.info.server_version < 160_000
        connection.execute(seed)
        connection.execute("CREATE ROLE account LOGIN PASSWORD 'x'")
        connection.execute(build_source_setup_sql("account", "postgres", ["public"], only_business_data=True))
    there = Access(replace(older, user="account", password="x"), access.policy, is_dedicated=True)
    statement = "SELECT count(*), sum(amount) FROM sale"
    ours, theirs = (async_to_sync(run_sql)(one, statement) for one in (access, there))
    assert theirs.rows is not None
    assert ours.rows is not None
    assert theirs.rows.rows == ours.rows.rows
    with pytest.raises(SqlRefused):
        async_to_sync(run_sql)(there, "SELECT count(*) FROM pg_roles")
