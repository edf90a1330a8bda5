"""The running part of `manage.py up` after preparation: starts the processes, and keeps them and the services alive.

A program of its own, which `up` becomes: it watches as long as the system runs, and without Django it takes 45 MB instead of 155.
"""

import fcntl
import os
import socket
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from copilot_site.config import BASE_DIR, load_config
from copilot_site.embedded import services
from copilot_site.embedded.process import ServiceFailed
from copilot_site.embedded.supervisor import Supervisor
from copilot_site.home import Home, make_unusable_error

# A person who uploads one file must not wait behind an import of thousands, and has one document: all cores read its passages
# side by side. An import has many: a process for each reads them one by one, and none waits for another's last passage.
WORKERS = {"interactive": "interactive,watch", "bulk": "bulk,maintenance,watch"}
BACKLOG = 2048  # connections that wait for a web process
# As root, Celery warns in eight lines at every start.
QUIET = {"PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
SCALING = {"AUTOSCALE_KEEPALIVE": "5"}  # s, read by Celery


def replace_process(host: str, port: int, *, demo: bool) -> None:
    """Replace this process by one that serves, with the same number, environment and children. Does not return."""
    words = ["--host", host, "--port", str(port), *(["--demo"] if demo else [])]
    sys.stdout.flush()
    os.chdir(BASE_DIR)
    os.execv(sys.executable, [sys.executable, "-m", "copilot_site.embedded.serve", *words])  # noqa: S606 - ours


def main() -> int:
    """Serve until a signal; return 1 where the system cannot start."""
    parser = ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--demo", action="store_true")
    given = parser.parse_args()
    home = Home(load_config().home)
    supervisor = Supervisor(home.root / "processes.json")
    try:
        with hold_single_instance(home), _hold_services(home), supervisor.until_signal():
            failed = _serve_until_signal(supervisor, home, given.host, given.port, demo=given.demo)
    except ServiceFailed as error:
        failed = str(error)
    if failed:
        sys.stderr.write(f"{failed}\n")
        return 1
    sys.stdout.write("Stopped.\n")
    return 0


def _serve_until_signal(supervisor: Supervisor, home: Home, host: str, port: int, *, demo: bool) -> str | None:
    """Serve until a signal, and restart processes that end; return a sentence where one does again and again before all are ready.

    The port stays open meanwhile: requests wait for the next web process and are not refused.
    """
    with open_listening_socket(host, port) as door:
        start_processes(supervisor, door, port)
        with _run_announcer(build_local_url(host, port), demo=demo) as announcer:
            return supervisor.keep(services.list_service_parts(home), is_starting=lambda: announcer.poll() is None)


def build_local_url(host: str, port: int) -> str:
    """Return the address under which this machine reaches what listens there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - replaced
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens there. Raises ServiceFailed where the port is taken."""
    door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # its connections have it, too: events are small
    try:
        door.bind((host, port))
    except OSError as error:
        door.close()
        raise ServiceFailed(
            f"Port {port} of {host} cannot be used ({error.strerror}). Choose another: make demo PORT={port + 1}"
        ) from None
    door.listen(BACKLOG)
    return door


@contextmanager
def _run_announcer(url: str, *, demo: bool) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `manage.py wait_ready` while the block runs: it says that the system is ready, or what is missing, and ends with the former."""
    words = [sys.executable, "-u", str(BASE_DIR / "manage.py"), "wait_ready", url, *(["--demo"] if demo else [])]
    announcer = subprocess.Popen(words, start_new_session=True)
    try:
        yield announcer
    finally:
        announcer.kill()
        announcer.wait()


def start_processes(supervisor: Supervisor, door: socket.socket, port: int) -> None:
    """Start the workers, beat and the web server, which gets the socket; they read where the services are from the environment."""
    environment = os.environ | {"PORT": str(port)} | QUIET | SCALING
    celery = [sys.executable, "-m", "celery", "--workdir", str(BASE_DIR), "--quiet", "-A"]
    for name, queues in WORKERS.items():
        options = ["-n", f"{name}@%h", "-Q", queues, "--without-gossip", "--without-mingle"]
        # An idle bulk worker keeps one process (100 MB each), five seconds after its last task, the periodic ones included.
        options += ["-c", "1"] if name == "interactive" else ["--autoscale", f"{load_config().worker_concurrency},1"]
        supervisor.start(name, [*celery, "copilot_site", "worker", *options], environment)
    supervisor.start("beat", [*celery, "copilot_site.beat", "beat"], environment)
    uvicorn = [sys.executable, "-m", "uvicorn", "copilot_site.asgi:application", "--app-dir", str(BASE_DIR)]
    options = ["--fd", str(door.fileno()), "--no-access-log", "--lifespan", "off"]
    # A stream stays open while its model works; nginx keeps an idle connection for 60 s.
    options += ["--timeout-graceful-shutdown", "3", "--timeout-keep-alive", "75"]
    # With several, uvicorn's first process replaces those that end or do not answer it in time. Its own 5 s killed processes that
    # worked, and the answers in them, while other programs kept the machine busy.
    options += ["--workers", str(load_config().web_processes), "--timeout-worker-healthcheck", "30"]
    supervisor.start("web", [*uvicorn, *options], environment, [door.fileno()])


@contextmanager
def hold_single_instance(home: Home) -> Iterator[None]:
    """Allow one `up` per home. Raises ServiceFailed where another runs, ConfigError where it cannot be written."""
    try:
        lock = (home.root / "up.lock").open("a+")
    except OSError as error:
        raise make_unusable_error(home, error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ServiceFailed(
                f"Already running: process {lock.read().strip()} uses {home.root}. "
                "Stop it, or choose another state folder with COPILOT_HOME=."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _hold_services(home: Home) -> AbstractContextManager[object]:
    """Hold the embedded services that our environment names while the block runs."""
    names = {part.name for part in services.list_service_parts(home)}
    return services.hold_services(home, want_postgres="postgres" in names, want_valkey="valkey" in names)


if __name__ == "__main__":
    sys.exit(main())
