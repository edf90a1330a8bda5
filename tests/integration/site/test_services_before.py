"""Embedded PostgreSQL and Valkey: found, shared, stopped by the last user, mended after a crash."""

import json
import os
import shutil
import signal
import socket
from pathlib import Path

import psutil
import pytest

from copilot_site.embedded.process import wait_gone, wait_until
from tests.homes import Checkout

QUICK = (
    "shell",
    "--no-imports",
    "-c",
    "from django.db import connection; connection.ensure_connection(); print('works')",
)
IN_DATABASE = "from django.db import connection; cursor = connection.cursor(); cursor.execute('SET ROLE NONE'); {}"
SERVICES = ("up", "--services-only")
ANSWER = "PostgreSQL and Valkey answer."


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A home whose database was made, and whose services were stopped."""
    checkout = Checkout(tmp_path_factory.mktemp("stopped") / "home")
    assert checkout.manage(*QUICK).returncode == 0
    return checkout


@pytest.fixture
def checkout(stopped: Checkout, tmp_path: Path) -> Checkout:
    """A copy of that home."""
    return stopped.copied(tmp_path / "home")


def ports(checkout: Checkout) -> dict[str, int]:
    """The kept state of the services."""
    state: dict[str, int] = json.loads(checkout.home.state.read_text())
    return state


def test_command_starts_the_services_for_its_own_duration(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "new")
    done = checkout.manage(*QUICK)
    assert (done.returncode, done.stdout) == (0, "works\n"), done.stderr
    assert checkout.processes() == []


def test_command_uses_the_services_that_run_and_leaves_them_running(checkout: Checkout) -> None:
    with checkout.started(*SERVICES, until=ANSWER):
        before = ports(checkout)
        assert checkout.manage(*QUICK).stdout == "works\n"
        assert ports(checkout) == before
        assert len([line for line in checkout.processes() if "valkey-server" in line]) == 1
    assert checkout.processes() == []


def test_services_of_a_killed_holder_are_found_and_stopped_by_the_next(checkout: Checkout) -> None:
    with checkout.started(*SERVICES, until=ANSWER) as holder:
        before = ports(checkout)
        holder.kill()
        holder.wait(10)
        assert checkout.processes() != []
        assert checkout.manage(*QUICK).stdout == "works\n"
        assert ports(checkout) == before
    assert checkout.processes() == []


def test_postgres_killed_with_its_pid_file_left_starts_again(checkout: Checkout) -> None:
    with checkout.started(*SERVICES, until=ANSWER):
        pid = ports(checkout)["postgres_pid"]
        children = psutil.Process(pid).children()
        os.kill(pid, signal.SIGKILL)
        assert all(wait_gone(child.pid, timeout_s=10) for child in children)
        assert (checkout.home.postgres / "postmaster.pid").exists()
        done = checkout.manage(*QUICK)
        assert done.stdout == "works\n", done.stderr


def test_two_checkouts_run_side_by_side(checkout: Checkout, tmp_path: Path) -> None:
    other = Checkout(tmp_path / "other")
    with checkout.started(*SERVICES, until=ANSWER), other.started(*SERVICES, until=ANSWER):
        mine, theirs = ports(checkout), ports(other)
        assert len({mine["postgres_port"], mine["valkey_port"], theirs["postgres_port"], theirs["valkey_port"]}) == 4


def test_a_copy_of_a_home_has_services_of_its_own(checkout: Checkout, tmp_path: Path) -> None:
    """A backup that is put back beside the running original: it knows its ports and passwords."""
    assert checkout.manage(*QUICK).returncode == 0
    copy = Checkout(tmp_path / "copy")
    shutil.copytree(checkout.home.root, copy.home.root)
    with checkout.started(*SERVICES, until=ANSWER):
        before = ports(checkout)
        done = copy.manage(*QUICK)
        assert done.stdout == "works\n", done.stderr
        assert not set(ports(copy).values()) & set(before.values())
        assert len([line for line in checkout.processes() if "valkey-server" in line]) == 1, (
            "the original's is left alone"
        )
    assert copy.processes() == []


def test_kept_port_that_somebody_took_is_replaced(checkout: Checkout) -> None:
    assert checkout.manage(*QUICK).returncode == 0
    taken = ports(checkout)["postgres_port"]
    with socket.socket() as somebody:
        somebody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        somebody.bind(("127.0.0.1", taken))
        somebody.listen()
        done = checkout.manage(*QUICK)
        assert done.stdout == "works\n", done.stderr
        assert ports(checkout)["postgres_port"] != taken


def test_home_longer_than_a_socket_path_works(tmp_path: Path) -> None:
    deep = Checkout(tmp_path / ("long-" * 30) / "home")
    deep.root.parent.mkdir()
    assert deep.manage(*QUICK).stdout == "works\n"


def test_secrets_are_readable_by_their_owner_only(checkout: Checkout) -> None:
    assert checkout.manage(*QUICK).returncode == 0
    assert (checkout.root / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert (checkout.root / "valkey.conf").stat().st_mode & 0o777 == 0o600
    assert checkout.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_without_user_namespaces_runs_postgres_as_nobody(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "unshare"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:3]):  # pytest's folders are for their owner only
        folder.chmod(0o755)
    checkout = Checkout(tmp_path / "home", extra={"PATH": f"{fake.parent}:{os.environ['PATH']}"})
    with checkout.started(*SERVICES, until=ANSWER):
        assert psutil.Process(ports(checkout)["postgres_pid"]).username() == "nobody"
    back = Checkout(checkout.root)  # where namespaces are allowed again, the data goes back to root
    assert back.manage(*QUICK).stdout == "works\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_is_told_when_nobody_cannot_enter_the_home(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "unshare"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    checkout = Checkout(closed / "home", extra={"PATH": f"{fake.parent}:{os.environ['PATH']}"})
    done = checkout.manage(*QUICK)
    assert done.returncode == 1
    assert "the user nobody cannot enter" in done.stderr
    assert "set COPILOT_HOME" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_ordinary_user_can_run_the_services(tmp_path: Path) -> None:
    folder = tmp_path / "of-nobody"
    folder.mkdir()
    shutil.chown(folder, "nobody")
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(0o755)
    capability = "+dac_read_search"  # the interpreter of the tests may lie in a home of root
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    checkout = Checkout(folder / "home", before=(*user, f"--inh-caps={capability}", f"--ambient-caps={capability}"))
    done = checkout.manage(*QUICK)
    assert done.stdout == "works\n", done.stderr
    assert checkout.home.postgres.stat().st_uid == 65534


def test_what_was_in_memory_is_read_again_after_a_start(checkout: Checkout) -> None:
    """By the server, in the background: the first search does not wait for the disk."""
    fill = (
        "cursor.execute('CREATE TABLE searched AS SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 9000) n')"
    )
    assert checkout.manage(*QUICK[:-1], IN_DATABASE.format(fill)).returncode == 0
    log = checkout.home.logs / "postgres.log"
    with checkout.started(*SERVICES, until=ANSWER):
        assert wait_until(lambda: "autoprewarm successfully prewarmed" in log.read_text(), timeout_s=60)
        read = "cursor.execute('EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM searched'); print(*cursor.fetchall())"
        plan = checkout.manage(*QUICK[:-1], IN_DATABASE.format(read)).stdout
    assert "shared hit=" in plan
    assert "read=" not in plan


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL"])
def test_a_named_service_is_taken_though_our_own_runs(checkout: Checkout, name: str) -> None:
    """One of the two is enough: a command that went to the demo's database instead of the named one would change the wrong rows."""
    elsewhere = {"DATABASE_URL": "postgresql://me@127.0.0.1:1/theirs", "REDIS_URL": "redis://127.0.0.1:1/0"}
    show = (
        "from copilot_site.config import load_config as c;"
        "print(c().database_url.get_secret_value(), c().redis_url.get_secret_value(), c().db_role)"
    )
    with checkout.started(*SERVICES, until=ANSWER):
        ours = checkout.manage("shell", "--no-imports", "-c", show).stdout.split()
        named = Checkout(checkout.root, extra={name: elsewhere[name]})
        taken = named.manage("shell", "--no-imports", "-c", show).stdout.split()
    expected = dict(zip(("DATABASE_URL", "REDIS_URL", "role"), ours, strict=True)) | {name: elsewhere[name]}
    if name == "DATABASE_URL":
        expected["role"] = "None"  # that is a role of our own PostgreSQL
    assert taken == list(expected.values())


def test_a_home_that_cannot_be_made_is_one_sentence() -> None:
    for command in (("ask", "x", "--as", "y"), ("doctor",)):
        done = Checkout(Path("/proc/nowhere")).manage(*command)
        assert done.returncode == 1
        assert done.stderr.startswith("The state folder /proc/nowhere cannot be used"), done.stderr
        assert done.stderr.count("\n") == 1


def test_a_damaged_database_is_left_as_it_is_and_named(checkout: Checkout) -> None:
    assert checkout.manage(*QUICK).stdout == "works\n"
    (checkout.home.postgres / "PG_VERSION").unlink()
    kept = sorted(path.name for path in checkout.home.postgres.iterdir())
    done = checkout.manage(*QUICK)
    assert (done.returncode, done.stdout) == (1, "")
    assert "holds files but no PG_VERSION: restore it from your backup" in done.stderr
    assert sorted(path.name for path in checkout.home.postgres.iterdir()) == kept


def test_half_of_a_first_start_is_made_anew(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "home")
    half = checkout.home.create().root / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    assert checkout.manage(*QUICK).stdout == "works\n"
    assert not half.exists()


def test_the_password_of_a_database_is_not_invented(checkout: Checkout) -> None:
    assert checkout.manage(*QUICK).stdout == "works\n"
    secrets = checkout.home.root / "secrets.json"
    for left, said in ((None, "does not hold the password of the database"), ('{"postgres": ', "is damaged: restore")):
        secrets.unlink()
        if left:
            secrets.write_text(left)
        done = checkout.manage(*QUICK)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert said in done.stderr
        secrets.touch()


def test_ports_that_cannot_be_read_are_chosen_anew(checkout: Checkout) -> None:
    for damaged in ("", '{"postgres_port": ', "[]"):
        checkout.home.state.write_text(damaged)
        assert checkout.manage(*QUICK).stdout == "works\n"


def test_a_word_that_is_no_text_is_one_sentence(checkout: Checkout) -> None:
    done = checkout.manage("ask", "x", "--as", "\udce9")
    assert done.returncode == 1
    assert done.stderr == "'?' is not UTF-8: set the terminal to UTF-8.\n"


def test_a_command_beside_a_running_system_writes_nothing_of_its_own(checkout: Checkout) -> None:
    """On a full disk it could not, and every command ended with a traceback, the doctor too."""
    with checkout.started(*SERVICES, until=ANSWER):
        written = checkout.home.state.stat().st_mtime_ns
        (checkout.home.state.with_suffix(".new")).mkdir()  # nobody can write there
        assert checkout.manage(*QUICK).stdout == "works\n"
        assert checkout.home.state.stat().st_mtime_ns == written


def test_a_full_disk_of_the_database_is_one_sentence(checkout: Checkout) -> None:
    full = "from django.db import connection as c; c.cursor().execute(\"DO $$ BEGIN RAISE SQLSTATE '53100'; END $$\")"
    done = checkout.manage("shell", "-v0", "-c", full)
    assert done.returncode == 1
    assert done.stderr == "The disk of the database is full: make room and repeat the command.\n"


def test_an_interrupted_command_says_so_and_lets_its_services_go(checkout: Checkout) -> None:
    # what was started in the background by a shell is not interrupted, unless it asks for it
    wait = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); print('begun', flush=True); signal.pause()"
    with checkout.started("shell", "-v0", "-c", wait, until="begun") as command:
        command.send_signal(signal.SIGINT)
        assert command.wait(60) == 130
    assert checkout.said() == "begun\n\nInterrupted; what was finished stays.\n"
    assert checkout.processes() == []
