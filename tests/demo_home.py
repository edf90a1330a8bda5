"""The home of a running demo, filled once: kept in .copilot-tests under a hash of all that it is made of, and copied for tests.

To fill it takes two minutes, to copy it a second. `manage.py up --demo` fills it, as it does for a newcomer.
"""

import fcntl
import hashlib
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import psycopg

from copilot_site.embedded import services
from copilot_site.embedded.process import wait_until
from tests.homes import ROOT, Checkout
from tests.ports import own_port

START_TIMEOUT_S = 600
READY = "Ctrl-C stops everything"
FOLDER = ROOT / ".copilot-tests"
MADE_OF = (
    "agent",
    "audit",
    "authz",
    "business",
    "copilot_site",
    "demo",
    "knowledge",
    "requirements",
    "manage.py",
)
LEFT_OUT = {".pyc", ".mo"}
ANSWERS_ONLY = {
    "rest",
    "admin",
    "admin.py",
    "views.py",
    "urls.py",
    "templatetags",
}  # answer requests: none is made to fill it
PUBLISHED = "knowledge_documentversion v ON v.id = d.current_version_id AND v.parse_status = 'completed'"
DOCUMENTS = f"SELECT filename FROM knowledge_document d JOIN {PUBLISHED}"
SHEETS = "SELECT d.filename FROM business_datasource JOIN knowledge_document d ON d.id = document_id"


@dataclass(frozen=True)
class Database:
    """The database of a home whose services run."""

    url: str

    @classmethod
    def of(cls, checkout: Checkout) -> "Database":
        return cls(
            services.build_service_urls(checkout.home, services.discover_services(checkout.home))["DATABASE_URL"]
        )

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement.encode()).fetchall()

    def names(self, statement: str) -> Counter[str]:
        return Counter(str(name) for (name,) in self.rows(statement))

    def number(self, statement: str) -> int:
        return int(str(self.rows(f"SELECT count(*) FROM {statement}")[0][0]))


def key() -> str:
    """A hash of the code that fills the demo, its files, the requirements, Python, and the day from which its rows are dated."""
    digest = hashlib.sha256(f"{sys.version} {date.today()}".encode())  # noqa: DTZ011 - the day of this machine
    for name in MADE_OF:
        for path in sorted([ROOT / name, *(ROOT / name).rglob("*")]):
            if path.is_file() and path.suffix not in LEFT_OUT and ANSWERS_ONLY.isdisjoint(path.relative_to(ROOT).parts):
                digest.update(f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def document_names() -> list[str]:
    """The file names of all that the demo brings, the pages of its wiki, too."""
    from demo.company import (  # Django is not loaded yet when conftest.py imports this module
        list_documents,
        load_company,
    )
    from demo.wiki import list_page_names

    return [document.file.name for document in list_documents(load_company())] + list_page_names()


def demo_home(root: Path) -> Checkout:
    """A stopped demo in a folder that does not exist yet, with a port of its own. Its wiki is the kept one's, whose path its rows name."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one fills it, the others wait
        kept = FOLDER / f"demo-{key()}"
        if not (kept / "complete").exists():
            _keep(kept)
        return with_port(_kept(kept).copied(root))


def with_port(checkout: Checkout) -> Checkout:
    """The same state with a port that nobody else is given."""
    return replace(checkout, extra=checkout.extra | {"PORT": str(own_port())})


def share_models(checkout: Checkout) -> None:
    """Let a new home use the converted model that the tests keep."""
    models = FOLDER / "models"
    models.mkdir(parents=True, exist_ok=True)
    checkout.root.mkdir(mode=0o700, parents=True)
    checkout.home.models.symlink_to(models)


def _kept(folder: Path) -> Checkout:
    return Checkout(folder / "home", extra={"COPILOT_SOURCE_FOLDERS": str(folder / "home" / "demo-wiki")})


def _keep(folder: Path) -> None:
    """Fill it as `make demo` does, and stop it once workers have read the wiki and described the spreadsheets."""
    names = document_names()
    sheets = {name for name in names if name.endswith((".xlsx", ".csv"))}
    for old in FOLDER.glob("demo-*"):
        shutil.rmtree(old)
    checkout = with_port(_kept(folder))
    share_models(checkout)
    with checkout.started("up", "--demo", until=READY, timeout_s=START_TIMEOUT_S):
        database = Database.of(checkout)
        assert wait_until(
            lambda: database.names(DOCUMENTS) == Counter(names), timeout_s=START_TIMEOUT_S, interval_s=1
        ), f"the demo was not read to its end: {checkout.said()}"
        assert wait_until(lambda: set(database.names(SHEETS)) >= sheets, timeout_s=START_TIMEOUT_S, interval_s=1), (
            f"the demo's spreadsheets were not described: {checkout.said()}"
        )
    assert "Warning:" not in checkout.said()
    (folder / "complete").touch()
