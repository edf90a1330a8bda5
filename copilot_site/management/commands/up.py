"""Start everything: services, migrations, model, demo data, workers, beat, web server; stop it on Ctrl-C or SIGTERM."""

import fcntl
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from audit.keys import ensure_key
from copilot_site import doctor
from copilot_site.celery import HEARTBEAT_KEY, app
from copilot_site.checks import nobody_signs_in_with_a_public_password
from copilot_site.config import BASE_DIR, load_config
from copilot_site.embedded import services
from copilot_site.embedded.process import wait_until
from copilot_site.embedded.supervisor import Supervisor
from copilot_site.lib.errors import CopilotError
from copilot_site.startup_checks import require_safe

READY_TIMEOUT_S = 120.0
# A person who uploads one file must not wait behind an import of thousands, and has one document: all cores read its passages
# side by side. An import has many: a process for each reads them one by one, and none waits for another's last passage.
WORKERS = {"interactive": "interactive,watch", "bulk": "bulk,maintenance,watch"}
# As root, Celery warns in eight lines at every start.
QUIET = {"PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}


class Command(BaseCommand):
    """`manage.py up`. manage.py starts the embedded services before Django is loaded, and lets them go after us."""

    help = "Start the whole system and stop it on Ctrl-C or SIGTERM. PORT=8001 chooses another port."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which parts, and where."""
        parser.add_argument("--services-only", action="store_true", help="Only the embedded PostgreSQL and Valkey.")
        parser.add_argument("--demo", action="store_true", help="Fill the database with the demo company.")
        parser.add_argument("--port", type=int, default=load_config().port, help="Port of the web server (or PORT=).")

    def handle(self, *, services_only: bool, demo: bool, port: int, **_: Any) -> None:
        """Run until a signal. What ends meanwhile is started again; what ends before all are ready ends the start (exit code 1)."""
        supervisor = Supervisor(settings.HOME.root / "processes.json")
        if services_only:
            self._hold_services(supervisor)
            return
        require_safe(load_config())
        host = load_config().host
        with _only_one():
            supervisor.end_leftovers()
            _refuse_taken(host, port)
            self._prepare(demo=demo)
            with supervisor.until_signal():
                start_processes(supervisor, host, port)
                failed = self._wait_ready(supervisor, f"http://{host}:{port}")
                if not (failed or supervisor.stopping):
                    self._welcome(f"http://{host}:{port}", demo=demo)
                    supervisor.keep(services.parts(settings.HOME))
            if failed:
                raise CommandError(failed)
            self.stdout.write("Stopped.")

    def _hold_services(self, supervisor: Supervisor) -> None:
        with supervisor.until_signal():
            for name in ("DATABASE_URL", "REDIS_URL"):
                self.stdout.write(f"export {name}={os.environ.get(name, '')}")
            self.stdout.write("PostgreSQL and Valkey answer. Ctrl-C stops them.")
            self.stdout.flush()
            supervisor.keep(services.parts(settings.HOME))

    def _prepare(self, *, demo: bool) -> None:
        """Everything that must be true before a process may start; each step is quick when it is already done."""
        for found in (doctor.postgres(), doctor.connections(), doctor.pgvector(), doctor.broker()):
            if not found.ok:
                raise CommandError(f"{found.name}: {found.detail}. {found.mend}")
        self._say("Database: applying migrations …")
        call_command("migrate", verbosity=0, interactive=False)
        try:
            ensure_key()
        except CopilotError as error:  # nothing is signed until somebody acts; the log itself goes on
            self._say(f"Audit: {error}")
        if settings.EMBEDDER == "bundled" and not (doctor.model().ok and doctor.word_list().ok):
            self._say("Model and dictionary: converting …")
            self._run("prepare_model")
        if demo:
            self._fill_demo()
        for danger in nobody_signs_in_with_a_public_password(databases=["default"]):
            raise CommandError(f"{danger.msg} {danger.hint}")
        if not (found := doctor.index()).ok:
            self._say(f"Index: {found.detail}. {found.mend}")

    def _fill_demo(self) -> None:
        from demo.unfinished import is_unfinished

        if is_unfinished():  # nothing is there, or an earlier start was interrupted
            self._say("Demo company: people, rights, documents …")
            self._run("seed_demo")

    def _run(self, command: str) -> None:
        """Run a command in a process of its own, so that this one, which stays, does not keep its memory."""
        done = subprocess.run([sys.executable, str(BASE_DIR / "manage.py"), command], check=False)
        if done.returncode:
            raise CommandError(f"`manage.py {command}` failed; the lines above say why.")

    def _wait_ready(self, supervisor: Supervisor, url: str) -> str | None:
        """Wait until web, workers and beat answer, or a signal comes; a sentence where a process ended first, or none answers."""
        parts = {
            "The web server": lambda: status_of(f"{url}/readyz") == 200,
            "Beat": lambda: cache.get(HEARTBEAT_KEY) is not None,
            "A worker": lambda: len(app.control.ping(timeout=0.5) or []) >= len(WORKERS),
        }
        for name, answers in parts.items():

            def over(answers: Any = answers) -> bool:
                return supervisor.stopping or supervisor.ended() is not None or answers()

            if not wait_until(over, timeout_s=READY_TIMEOUT_S, interval_s=0.25):
                return f"{name} does not answer after {READY_TIMEOUT_S:.0f} s: see `manage.py doctor`."
            if failed := supervisor.ended():
                return failed
        return None

    def _welcome(self, url: str, *, demo: bool) -> None:
        self._say(f"\nReady: {url}/")
        if demo:
            from demo.logins import logins

            for login in logins():
                self._say(f"  {login}")
        self._say("Ctrl-C stops everything; the next start keeps all data.\n")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def start_processes(supervisor: Supervisor, host: str, port: int) -> None:
    """Start the workers, beat and the web server; they read where the services are from the environment."""
    environment = os.environ | {"PORT": str(port)} | QUIET
    celery = [sys.executable, "-m", "celery", "--workdir", str(BASE_DIR), "--quiet", "-A"]
    processes = {"interactive": 1, "bulk": load_config().worker_concurrency}
    for name, queues in WORKERS.items():
        options = ["-n", f"{name}@%h", "-Q", queues, "-c", str(processes[name]), "--without-gossip", "--without-mingle"]
        threads = {"COPILOT_EMBED_THREADS": str(-(-load_config().embed_threads // processes[name]))}
        supervisor.start(name, [*celery, "copilot_site", "worker", *options], environment | threads)
    supervisor.start("beat", [*celery, "copilot_site.beat", "beat"], environment)
    uvicorn = [sys.executable, "-m", "uvicorn", "copilot_site.asgi:application", "--app-dir", str(BASE_DIR)]
    options = ["--host", host, "--port", str(port), "--no-access-log", "--lifespan", "off", "--log-level", "warning"]
    options += ["--timeout-graceful-shutdown", "3"]  # s; a stream has no end of its own while its model thinks
    supervisor.start("web", [*uvicorn, *options], environment)


def status_of(url: str) -> int | None:
    """HTTP status of an address of our own; None where nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - always http://<our host>
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


@contextmanager
def _only_one() -> Iterator[None]:
    """One `up` per COPILOT_HOME."""
    with (settings.HOME.root / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CommandError(
                f"Already running: process {lock.read().strip()} uses {settings.HOME.root}. "
                "Stop it, or choose another state folder with COPILOT_HOME=."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _refuse_taken(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Port {port} of {host} cannot be used ({error.strerror}). Choose another: make demo PORT={port + 1}"
            ) from None
