"""Compose's PostgreSQL roles, against a real server: its `migrate` runs as the owner, its processes may add to the audit log alone."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

from tests.homes import ROOT, Checkout
from tests.integration.audit.test_roles import FORBIDDEN

APP = "copilot_app"
PROCESSES = ("web", "worker-interactive", "worker-bulk", "beat")
ENV = {
    "POSTGRES_PASSWORD": "yT5wKq83Zb",
    "COPILOT_DB_ROLE_PASSWORD": "mC9fLx27Rd",
    "VALKEY_PASSWORD": "hV4sNe61Gp",
    "COPILOT_SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!?",
    "COPILOT_ALLOWED_HOSTS": "knowledge.example.com",
}
"""What an operator's `.env` holds, which every process of the product is given."""
OWNER = "postgresql://copilot:{POSTGRES_PASSWORD}@postgres:5432/copilot".format(**ENV)


def environment(service: str) -> dict[str, str]:
    """The environment that Compose gives a service."""
    shape: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    own = shape["services"][service]["environment"]
    return ENV | {name: re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", _value, str(own[name])) for name in own}


def _value(found: re.Match[str]) -> str:
    name, kind, rest = found.groups()
    assert name in ENV or kind == "-", f"{name} is in no .env"
    return ENV.get(name) or rest


@dataclass(frozen=True)
class Composed:
    """A server as Compose's `postgres` starts empty, and what stands where the services look for it."""

    checkout: Checkout
    port: int
    folder: Path

    def address(self, service: str) -> str:
        return self.moved(environment(service)["DATABASE_URL"])

    def moved(self, url: str) -> str:
        return url.replace("@postgres:5432/", f"@127.0.0.1:{self.port}/")

    def as_service(self, service: str, **changes: str) -> Checkout:
        """The command line inside a service's container."""
        given = environment(service) | {
            "DATABASE_URL": self.address(service),
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "COPILOT_AUDIT_KEYS": str(self.folder / "keys"),
            "COPILOT_AUDIT_CHECKPOINTS": str(self.folder / "checkpoints"),
        }
        del given["COPILOT_HOME"], given["COPILOT_STATIC_ROOT"]
        return replace(self.checkout, root=self.folder / "home", extra=given | changes)


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """After `docker compose up`: the owner's password set as the image does, the command of `migrate` run."""
    folder = tmp_path_factory.mktemp("composed")
    checkout = Checkout(folder / "server")
    with checkout.started("up", "--services-only", until="PostgreSQL and Valkey answer."):
        url = re.search(r"DATABASE_URL=(\S+)", checkout.said())
        assert url
        with psycopg.connect(url[1], autocommit=True) as connection:
            connection.execute(f"DROP ROLE {APP}")  # which our own server brings and that of the image does not
            connection.execute(f"ALTER ROLE copilot PASSWORD '{ENV['POSTGRES_PASSWORD']}'")
        found = Composed(checkout, urlsplit(url[1]).port or 0, folder)
        shape = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["migrate"]["command"]
        command = shape.replace("python manage.py", f"{sys.executable} {ROOT / 'manage.py'}")
        done = subprocess.run(
            command, shell=True, cwd=ROOT, env=found.as_service("migrate").environment(),
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield found


@pytest.mark.parametrize("name", PROCESSES)
def test_no_process_is_given_the_owner_s_password(name: str) -> None:
    given = environment(name)
    assert urlsplit(given["DATABASE_URL"]).username == APP
    assert [key for key, value in given.items() if ENV["POSTGRES_PASSWORD"] in value] == []


def test_the_processes_role_is_no_superuser_and_owns_everything_but_the_audit_tables(composed: Composed) -> None:
    with psycopg.connect(composed.address("web")) as connection:
        role = "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = session_user"
        assert connection.execute(role).fetchone() == (APP, False, False, False, False)
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tableowner <> %s", [APP]
        )
        assert {name for (name,) in tables} == {
            "audit_entry", "audit_link", "audit_head", "audit_checkpoint", "audit_hold", "audit_shown",
        }  # fmt: skip


@pytest.mark.parametrize("statement", [*FORBIDDEN, "SET ROLE copilot", "CREATE ROLE other"])
def test_the_processes_cannot_change_the_log(composed: Composed, statement: str) -> None:
    with psycopg.connect(composed.address("web")) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM audit_entry").fetchone() == (1,)  # the key that was made


def test_a_backup_of_it_is_restored_into_empty_volumes_with_the_role(composed: Composed) -> None:
    """Databases and roles of a server are one volume: a new one knows neither."""
    folder, apart = composed.folder / "backup", composed.folder / "apart"
    made = composed.as_service("migrate").manage("backup", str(folder), "--keys", str(apart), timeout_s=300)
    assert made.returncode == 0, made.stderr
    with psycopg.connect(composed.moved(OWNER).removesuffix("copilot") + "postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE copilot WITH (FORCE)")
        connection.execute(f"DROP ROLE {APP}")
        connection.execute("CREATE DATABASE copilot TEMPLATE template0")
    for name in ("keys", "checkpoints"):
        shutil.rmtree(composed.folder / name)
    restored = composed.as_service("migrate").manage("restore", str(folder), "--keys", str(apart), timeout_s=600)
    assert restored.returncode == 0, restored.stderr
    assert "Every hash and every signature is right." in restored.stdout
    with psycopg.connect(composed.address("web")) as connection:
        assert connection.execute("SELECT count(*) FROM django_migrations").fetchone() != (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM audit_entry")


def test_the_check_is_content_with_that_role(composed: Composed) -> None:
    checked = composed.as_service("web").manage("check", "--deploy", "--database", "default", "--fail-level", "WARNING")
    assert (checked.returncode, checked.stderr) == (0, "")


def test_processes_that_sign_in_as_the_owner_are_told(composed: Composed) -> None:
    """The control: as Compose was before."""
    web = composed.as_service("web", DATABASE_URL=composed.moved(OWNER))
    checked = web.manage("check", "--deploy", "--database", "default", "--fail-level", "WARNING")
    assert checked.returncode == 1
    assert (
        "The role copilot is a superuser of PostgreSQL, so an intruder in a process could change the audit log."
        in checked.stderr
    )
    with psycopg.connect(composed.moved(OWNER)) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE audit_entry SET reason = 'x'")
        connection.rollback()
