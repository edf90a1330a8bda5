"""Services of the tests' own, started before Django reads its settings.

One PostgreSQL (fsync off) and one Valkey for the whole run in a temporary COPILOT_HOME. Each xdist worker has a
database of its own (pytest-django names it) and a Valkey database number of its own. Converted models stay in
.copilot-tests. What a killed run left behind goes at the next start.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from copilot_site.embedded import services
from copilot_site.home import Home
from tests import database

ROOT = Path(__file__).resolve().parent.parent
KEPT = {"COPILOT_DATA"}
HERE = {
    "PORT": "8000",
    "COPILOT_OUTGOING_ALLOW": "localhost,private",
}  # models and sign-ins of the tests are served on this machine
PREFIX = "copilot-test-"


def start(stack: ExitStack) -> None:
    """Start the services, or join those of the xdist controller; DATABASE_URL, REDIS_URL, COPILOT_HOME lead to them."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        _start_services(stack)
    number = 0 if worker is None else int(worker.removeprefix("gw")) + 1
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].rsplit("/", 1)[0] + f"/{number}"
    os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_site.settings"


def _start_services(stack: ExitStack) -> None:
    for name in [name for name in os.environ if name.startswith("COPILOT_") and name not in KEPT]:
        del os.environ[name]  # the developer's own settings must not decide a test
    clear_remains(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o755)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    models = ROOT / ".copilot-tests" / "models"
    models.mkdir(parents=True, exist_ok=True)
    home = Home(folder)
    home.models.symlink_to(models)
    database.copy_cluster(home)
    found = stack.enter_context(services.hold_services(home, durable=False))
    os.environ.update(services.build_service_urls(home, found) | HERE | {"COPILOT_HOME": str(folder)})


def clear_remains(folder: Path) -> None:
    """Stop and delete what killed runs left here: homes whose services nobody uses any more. Others' homes stay."""
    for root in folder.glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):  # whose run, or another one that starts now, deletes it
            if root.stat().st_uid == os.getuid() and Home(root).state.exists():
                _clear(Home(root))


def _clear(home: Home) -> None:
    with (home.root / "services.users").open("a") as users:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        services.stop_services(home)
        shutil.rmtree(home.root, ignore_errors=True)
