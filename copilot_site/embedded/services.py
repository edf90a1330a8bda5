"""The services of one COPILOT_HOME: found if running, else started, and stopped by the last user.

Every process that uses them holds a shared lock on `services.users`; who lets go last stops them. The kernel drops the
lock of a killed process, and services that outlive their starter are found by the next one. While `manage.py up` runs, its
supervisor starts again what died (`list_service_parts`), at the same address, so that clients go on.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, TextIO

from copilot_site.config import load_config
from copilot_site.embedded import postgres, valkey
from copilot_site.embedded.process import ServiceFailed, find_free_port, is_server_alive, rotate_log
from copilot_site.home import Home, make_unusable_error


@dataclass(frozen=True)
class Services:
    """The addresses of a home's services. None as URL: an external one is configured."""

    postgres_port: int | None
    valkey_port: int | None
    valkey_pid: int | None = None
    postgres_pid: int | None = None


def build_service_urls(home: Home, services: Services) -> dict[str, str]:
    """Return the environment that makes Django use them."""
    found = {}
    if services.postgres_port:
        found["DATABASE_URL"] = postgres.build_url(home, services.postgres_port)
    if services.valkey_port:
        found["REDIS_URL"] = valkey.build_url(home, services.valkey_port)
    return found


def build_environment(home: Home, services: Services) -> dict[str, str]:
    """Return `build_service_urls`, and the role of the product's processes in our own PostgreSQL."""
    role = {"COPILOT_DB_ROLE": postgres.ROLE} if services.postgres_port else {}
    return build_service_urls(home, services) | role


def discover_services(home: Home) -> Services:
    """Return the running embedded services; ports are None for those that do not answer. Starts nothing."""
    kept = _read_state(home)
    has_postgres = kept.postgres_port and postgres.is_answering(home, kept.postgres_port)
    has_valkey = kept.valkey_port and valkey.is_answering(home, kept.valkey_port)
    return Services(
        postgres_port=kept.postgres_port if has_postgres else None,
        valkey_port=kept.valkey_port if has_valkey else None,
        postgres_pid=postgres.read_running_pid(home) if has_postgres else None,
        valkey_pid=kept.valkey_pid if has_valkey else None,
    )


@contextmanager
def hold_services(
    home: Home, *, want_postgres: bool = True, want_valkey: bool = True, durable: bool = True
) -> Iterator[Services]:
    """Yield the services: found when they run, else started; the last user to leave stops them.

    want_postgres, want_valkey: False where DATABASE_URL or REDIS_URL names another one.
    durable: False for tests: nothing survives the machine. Raises ServiceFailed with the reason.
    """
    try:
        users = (home.create().root / "services.users").open("a")
    except OSError as error:
        raise make_unusable_error(home, error) from error
    with users, ExitStack() as stack:
        try:
            with _hold_lock(home.root / "services.lock"):
                fcntl.flock(users, fcntl.LOCK_SH)
                stack.callback(_leave_services, home, users)  # also where only one of them starts
                services = _start_missing_services(
                    home, want_postgres=want_postgres, want_valkey=want_valkey, durable=durable
                )
        except OSError as error:
            raise make_unusable_error(home, error) from error
        yield _select_wanted_services(services, want_postgres=want_postgres, want_valkey=want_valkey)


def stop_services(home: Home) -> None:
    """Stop this home's running services, whether they answer or not."""
    kept = _read_state(home)
    if kept.valkey_pid and is_server_alive(kept.valkey_pid, home.valkey):
        valkey.stop_server(home, kept.valkey_pid)
    for pid in {kept.postgres_pid, postgres.read_running_pid(home)}:
        if pid and is_server_alive(pid, home.postgres):
            postgres.stop_server(home, pid)


@dataclass(frozen=True)
class ServicePart:
    """An embedded service as the supervisor keeps it alive (`copilot_site.embedded.supervisor.SupervisedPart`)."""

    home: Home
    name: Literal["postgres", "valkey"]

    def ended(self) -> str | None:
        """Return how it ended; None while its process lives, since one that does not answer may be busy. Keeps its log short."""
        rotate_log(self.home.logs / f"{self.name}.log")
        return None if self._is_alive() else "ended by itself"

    def start(self) -> None:
        """Start it with its former port and password, unless another process is doing so. Raises ServiceFailed."""
        with (self.home.root / "services.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # a command starts it just now
            kept = _read_state(self.home)
            if self._is_alive():
                return
            port = kept.postgres_port if self.name == "postgres" else kept.valkey_port
            if not port:
                raise ServiceFailed(f"{self.home.state} does not name its port any more")
            if self.name == "postgres":
                kept = replace(kept, postgres_pid=postgres.spawn_server(self.home, port))
            else:
                kept = replace(kept, valkey_pid=valkey.spawn_server(self.home, port))
            _save_state(self.home, kept)

    def _is_alive(self) -> bool:
        kept = _read_state(self.home)
        if self.name == "valkey":
            return is_server_alive(kept.valkey_pid, self.home.valkey)
        return any(
            is_server_alive(pid, self.home.postgres)
            for pid in (kept.postgres_pid, postgres.read_running_pid(self.home))
        )


def list_service_parts(home: Home) -> list[ServicePart]:
    """Return the services that this process uses, by its environment, for a supervisor."""
    names: dict[str, Literal["postgres", "valkey"]] = {"DATABASE_URL": "postgres", "REDIS_URL": "valkey"}
    ours = build_service_urls(home, _read_state(home))
    return [ServicePart(home, names[name]) for name, url in ours.items() if os.environ.get(name) == url]


def export_service_addresses() -> None:
    """Put the addresses of running services into this process's environment, unless it already names some.

    For processes that load Django directly (`uvicorn copilot_site.asgi:application`, `celery -A copilot_site`);
    call it before settings are read.
    """
    config = load_config()
    home = Home(config.home)
    if (config.database_url and config.redis_url) or not home.state.exists():
        return
    found = _select_wanted_services(
        discover_services(home), want_postgres=config.database_url is None, want_valkey=config.redis_url is None
    )
    for name, value in build_environment(home, found).items():
        os.environ.setdefault(name, value)
    load_config.cache_clear()


def _start_missing_services(home: Home, *, want_postgres: bool, want_valkey: bool, durable: bool) -> Services:
    found, kept = discover_services(home), _read_state(home)
    postgres_port, postgres_pid = found.postgres_port, found.postgres_pid
    valkey_port, valkey_pid = found.valkey_port, found.valkey_pid
    if want_postgres and postgres_port is None:
        runs = is_server_alive(postgres.read_running_pid(home), home.postgres)  # and does not answer yet
        postgres_port = kept.postgres_port if runs and kept.postgres_port else find_free_port(kept.postgres_port)
        postgres_pid = postgres.launch_server(home, postgres_port, durable=durable)
    if want_valkey and valkey_port is None:
        valkey_port = find_free_port(kept.valkey_port)
        valkey_pid = valkey.launch_server(home, valkey_port, durable=durable)
    services = Services(
        postgres_port=postgres_port, postgres_pid=postgres_pid, valkey_port=valkey_port, valkey_pid=valkey_pid
    )
    if services != kept:
        _save_state(home, services)
    return services


def _save_state(home: Home, services: Services) -> None:
    fresh = home.state.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(services), indent=1))
    fresh.replace(home.state)


def _select_wanted_services(services: Services, *, want_postgres: bool, want_valkey: bool) -> Services:
    """Return the services without those replaced by external ones: this home's own would be another database or queue."""
    if not want_postgres:
        services = replace(services, postgres_port=None, postgres_pid=None)
    return services if want_valkey else replace(services, valkey_port=None, valkey_pid=None)


def _read_state(home: Home) -> Services:
    """Return the state of the last start, whose ports are reused. A damaged file counts as none."""
    try:
        return Services(**json.loads(home.state.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return Services(None, None)


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _leave_services(home: Home, users: TextIO) -> None:
    """Stop the services unless somebody else holds the lock of users."""
    with _hold_lock(home.root / "services.lock"):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        stop_services(home)
