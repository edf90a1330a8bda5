"""Embedded PostgreSQL and Valkey: found, shared, stopped by the last user, mended after a crash.

What a command does with them is asked of a command; what they are, of the library that every command uses, which starts them in a
fifth of the time.
"""

import json
import os
import shutil
import signal
import socket
from pathlib import Path

import psutil
import psycopg
import pytest

from copilot_site.config import ConfigError
from copilot_site.embedded import serve, services, valkey
from copilot_site.embedded.process import ServiceFailed, wait_for_exit, wait_until
from copilot_site.home import Home
from tests.homes import Checkout
from tests.ports import closed_port

QUICK = (
    "shell",
    "--no-imports",
    "-c",
    "from django.db import connection; connection.ensure_connection(); print('works')",
)
SERVICES = ("up", "--services-only")
ANSWER = "PostgreSQL and Valkey answer."


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A home whose database was made, and whose services were stopped."""
    checkout = Checkout(tmp_path_factory.mktemp("stopped") / "home")
    use(checkout)
    return checkout


@pytest.fixture
def checkout(stopped: Checkout, tmp_path: Path) -> Checkout:
    """A copy of that home."""
    return stopped.copied(tmp_path / "home")


def use(checkout: Checkout) -> services.Services:
    """Have the services as a command does, and ask each something; where they answered."""
    with services.hold_services(checkout.home) as found:
        assert asked(checkout, found, "SELECT 1") == [(1,)]
        assert found.valkey_port
        assert valkey.is_answering(checkout.home, found.valkey_port)
        return found


def asked(checkout: Checkout, found: services.Services, statement: str) -> list[tuple[object, ...]]:
    """What the database says."""
    with psycopg.connect(
        services.build_service_urls(checkout.home, found)["DATABASE_URL"], autocommit=True
    ) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def ports(checkout: Checkout) -> dict[str, int]:
    """The kept state of the services."""
    state: dict[str, int] = json.loads(checkout.home.state.read_text())
    return state


def valkeys(checkout: Checkout) -> int:
    return len([line for line in checkout.processes() if "valkey-server" in line])


def test_a_first_command_makes_the_services_and_has_them_for_its_own_duration(tmp_path: Path) -> None:
    """In a folder longer than the path of a socket, with what has a meaning in settings, in which an earlier first start was killed."""
    checkout = Checkout(tmp_path / (r"""公司 的 "知识" it's #1 \n """ + "long-" * 30) / "home")
    checkout.root.parent.mkdir()
    half = checkout.home.create().root / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    done = checkout.manage(*QUICK)
    assert (done.returncode, done.stdout) == (0, "works\n"), done.stderr
    assert checkout.processes() == []
    assert not half.exists()
    for name, mode in (("secrets.json", 0o600), ("valkey.conf", 0o600), (".", 0o700)):
        assert (checkout.root / name).stat().st_mode & 0o777 == mode, name


def test_the_service_that_was_started_ends_where_the_other_cannot(checkout: Checkout) -> None:
    configuration = checkout.home.root / "valkey.conf"
    configuration.unlink()
    configuration.mkdir()
    with pytest.raises(ConfigError), services.hold_services(checkout.home):
        pass
    assert "database system is ready" in (checkout.home.logs / "postgres.log").read_text()
    assert checkout.processes() == []


def test_services_that_run_are_used_and_left_running_and_those_of_a_killed_holder_stopped(checkout: Checkout) -> None:
    """A command beside them writes nothing of its own: on a full disk it could not, and each ended with a traceback, the doctor too."""
    with checkout.started(*SERVICES, until=ANSWER) as holder:
        before, written = ports(checkout), checkout.home.state.stat().st_mtime_ns
        checkout.home.state.with_suffix(".new").mkdir()  # nobody can write there
        assert checkout.manage(*QUICK).stdout == "works\n"
        assert (ports(checkout), checkout.home.state.stat().st_mtime_ns) == (before, written)
        assert valkeys(checkout) == 1
        holder.kill()
        holder.wait(10)
        assert checkout.processes() != []
        use(checkout)
        assert ports(checkout) == before
    assert checkout.processes() == []


def test_postgres_killed_with_its_pid_file_left_starts_again(checkout: Checkout) -> None:
    with services.hold_services(checkout.home) as found:
        assert found.postgres_pid
        children = psutil.Process(found.postgres_pid).children()
        os.kill(found.postgres_pid, signal.SIGKILL)
        assert all(wait_for_exit(child.pid, timeout_s=10) for child in children)
        assert (checkout.home.postgres / "postmaster.pid").exists()
        use(checkout)


def test_a_copy_of_a_home_has_services_of_its_own(checkout: Checkout, tmp_path: Path) -> None:
    """A backup that is put back beside the running original: it knows its ports and passwords."""
    use(checkout)
    copy = checkout.copied(tmp_path / "copy")
    with services.hold_services(checkout.home):
        before = ports(checkout)
        use(copy)
        assert not set(ports(copy).values()) & set(before.values())
        assert valkeys(checkout) == 1, "the original's is left alone"
    assert copy.processes() == []


def test_ports_that_are_taken_or_cannot_be_read_are_chosen_anew(checkout: Checkout) -> None:
    taken = ports(checkout)["postgres_port"]
    with socket.socket() as somebody:
        somebody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        somebody.bind(("127.0.0.1", taken))
        somebody.listen()
        assert use(checkout).postgres_port != taken
    checkout.home.state.write_text('{"postgres_port": ')
    use(checkout)


@pytest.fixture
def without_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in most containers."""
    fake = tmp_path / "bin" / "unshare"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")


def open_to_all(tmp_path: Path) -> None:
    """pytest's folders are for their owner only."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_without_user_namespaces_runs_postgres_as_nobody(
    checkout: Checkout, tmp_path: Path, without_namespaces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_to_all(tmp_path)
    shutil.rmtree(checkout.home.postgres)  # made anew, as nobody
    with services.hold_services(checkout.home) as found:
        assert psutil.Process(found.postgres_pid).username() == "nobody"
    monkeypatch.undo()
    use(checkout)  # where namespaces are allowed again, the data go back to root
    assert checkout.home.postgres.stat().st_uid == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_is_told_when_nobody_cannot_enter_the_home(tmp_path: Path, without_namespaces: None) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ServiceFailed, match=r"the user nobody cannot enter .*set COPILOT_HOME"):
        use(Checkout(closed / "home"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_ordinary_user_can_run_the_services(tmp_path: Path) -> None:
    folder = tmp_path / "of-nobody"
    folder.mkdir()
    shutil.chown(folder, "nobody")
    open_to_all(tmp_path)
    capability = "+dac_read_search"  # the interpreter of the tests may lie in a home of root
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    checkout = Checkout(folder / "home", before=(*user, f"--inh-caps={capability}", f"--ambient-caps={capability}"))
    done = checkout.manage(*QUICK)
    assert done.stdout == "works\n", done.stderr
    assert checkout.home.postgres.stat().st_uid == 65534


def test_what_was_in_memory_is_read_again_after_a_start(checkout: Checkout) -> None:
    """By the server, in the background: the first search does not wait for the disk."""
    fill = "CREATE TABLE searched AS SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 9000) n"
    with services.hold_services(checkout.home) as found:
        asked(checkout, found, fill)
    log = checkout.home.logs / "postgres.log"
    with services.hold_services(checkout.home) as found:
        assert wait_until(lambda: "autoprewarm successfully prewarmed" in log.read_text(), timeout_s=60), (
            f"PostgreSQL did not say that it read its memory again: {log.read_text()}"
        )
        plan = str(asked(checkout, found, "EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM searched"))
    assert "shared hit=" in plan
    assert "read=" not in plan


def test_a_named_service_is_taken_though_our_own_runs(checkout: Checkout) -> None:
    """One of the two is enough: a command that went to the demo's database instead of the named one would change the wrong rows."""
    elsewhere = {
        "DATABASE_URL": f"postgresql://me@127.0.0.1:{closed_port()}/theirs",
        "REDIS_URL": f"redis://127.0.0.1:{closed_port()}/0",
    }
    show = (
        "from copilot_site.config import load_config as c;"
        "print(c().database_url.get_secret_value(), c().redis_url.get_secret_value(), c().db_role)"
    )
    with services.hold_services(checkout.home) as found:
        ours = services.build_environment(checkout.home, found)
        for name, address in elsewhere.items():
            named = Checkout(checkout.root, extra={name: address})
            taken = named.manage("shell", "--no-imports", "-c", show).stdout.split()
            expected = ours | {name: address}
            if name == "DATABASE_URL":
                expected["COPILOT_DB_ROLE"] = "None"  # that is a role of our own PostgreSQL
            assert taken == [expected[key] for key in ("DATABASE_URL", "REDIS_URL", "COPILOT_DB_ROLE")]


@pytest.mark.parametrize("name", ["services.users", "services.lock", "up.lock"])
def test_a_home_in_which_nothing_can_be_written_is_one_sentence(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path).create()
    (home.root / name).mkdir()  # root writes whatever the mode says
    hold = serve.hold_single_instance if name == "up.lock" else services.hold_services
    with pytest.raises(ConfigError, match=rf"^The state folder {tmp_path} cannot be used [^\n]*$"), hold(home):
        pass


def test_a_damaged_database_is_left_as_it_is_and_named(checkout: Checkout) -> None:
    (checkout.home.postgres / "PG_VERSION").unlink()
    kept = sorted(path.name for path in checkout.home.postgres.iterdir())
    done = checkout.manage(*QUICK)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert "holds files but no PG_VERSION: restore it from your backup" in done.stderr
    assert sorted(path.name for path in checkout.home.postgres.iterdir()) == kept


def test_the_password_of_a_database_is_not_invented(checkout: Checkout) -> None:
    secrets = checkout.home.root / "secrets.json"
    for left, said in ((None, "does not hold the password of the database"), ('{"postgres": ', "is damaged: restore")):
        secrets.unlink()
        if left:
            secrets.write_text(left)
        with pytest.raises(ConfigError, match=said) as refused:
            use(checkout)
        assert "\n" not in str(refused.value)
        secrets.touch()


def test_a_word_that_is_no_text_is_one_sentence(checkout: Checkout) -> None:
    done = checkout.manage("ask", "x", "--as", "\udce9")
    assert done.returncode == 1
    assert done.stderr == "'?' is not UTF-8: set the terminal to UTF-8.\n"


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
