"""The first start of the demo, killed at several points: the next one goes on, and what people changed since stays changed."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from copilot_site.embedded.process import wait_until
from demo.business_data import ASKERS, OWNERS
from demo.company import list_documents, load_company
from demo.logins import list_logins
from tests.demo_home import DOCUMENTS, READY, START_TIMEOUT_S, Database, document_names, share_models, with_port
from tests.homes import Checkout

COMPANY = load_company()
# What somebody does to the demo once it stands.
CHANGES = """
from django.contrib.auth.models import User
from business.models import DataSource
from knowledge.models import Document
from knowledge.services.removal import remove_document
User.objects.filter(username="lin").update(username="lin.yue")
remove_document(None, Document.unscoped.get(filename="price-list-2026.xlsx"))
DataSource.unscoped.all().delete()
"""


@dataclass(frozen=True)
class State:
    """What the database holds of the demo, each thing as often as it is there."""

    people: Counter[str]
    documents: Counter[str]  # those that answer, by file name; the wiki's pages, too
    versions: int
    uploaded: int  # as the audit log tells it
    published: int
    rights: int  # less those on the wiki, which come from its own rules
    sources: Counter[str]
    askers: int


NAMES = document_names()
WHOLE = State(
    people=Counter(login.username for login in list_logins()),
    documents=Counter(NAMES),
    versions=len(NAMES),
    uploaded=len(NAMES),
    published=len(NAMES),
    rights=sum(len(grant.may) for grant in COMPANY.grants),
    sources=Counter({"demo": 1}),
    askers=len(ASKERS) + len(OWNERS),
)


def state_of(database: Database) -> State:
    elsewhere = (
        "content_object_id NOT IN (SELECT below.descendant_id FROM knowledge_source JOIN knowledge_folderlink below"
    )
    elsewhere += " ON below.ancestor_id = folder_id)"
    grants = [f"authz_folder{holder}grant WHERE {elsewhere}" for holder in ("user", "group")]
    grants += [f"authz_knowledgebase{holder}grant" for holder in ("user", "group")]
    return State(
        people=database.names("SELECT username FROM auth_user"),
        documents=database.names(DOCUMENTS),
        versions=database.number("knowledge_documentversion"),
        uploaded=database.number("audit_entry WHERE action = 'document.uploaded'"),
        published=database.number("audit_entry WHERE action = 'document.published'"),
        rights=sum(database.number(grant) for grant in grants),
        sources=database.names("SELECT name FROM business_datasource WHERE document_id IS NULL"),
        askers=database.number("business_sourcegrant"),
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A home without a company."""
    checkout = with_port(Checkout(tmp_path / "home"))
    share_models(checkout)
    return checkout


@pytest.fixture
def database(checkout: Checkout) -> Iterator[Database]:
    """The services run on while what uses them is killed."""
    with checkout.started("up", "--services-only", until="Ctrl-C stops them"):
        assert checkout.manage("migrate", "-v0").returncode == 0
        yield Database.of(checkout)


def kill_where_it_writes(database: Database, checkout: Checkout, table: str, log: Path) -> None:
    """Start filling the demo, and kill it once it wants to write into `table`."""
    with psycopg.connect(database.url) as holder, log.open("w") as output:
        holder.execute(sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(sql.Identifier(table)))
        waiting = f"pg_locks WHERE NOT granted AND relation = '{table}'::regclass"
        demo = subprocess.Popen(
            checkout.command("seed_demo"),
            env=checkout.environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            blocked = lambda: demo.poll() is not None or database.number(waiting) > 0  # noqa: E731
            assert wait_until(blocked, timeout_s=START_TIMEOUT_S), log.read_text()
            assert demo.poll() is None, log.read_text()
        finally:
            demo.kill()
            demo.wait(30)


def test_the_next_start_completes_the_demo_and_keeps_later_changes(
    database: Database, checkout: Checkout, tmp_path: Path
) -> None:
    log = tmp_path / "demo.out"
    kill_where_it_writes(database, checkout, "auth_user", log)
    assert state_of(database).people == Counter()
    kill_where_it_writes(database, checkout, "business_sourcegrant", log)
    kill_where_it_writes(database, checkout, "knowledge_chunk", log)
    assert sum(state_of(database).documents.values()) < len(list_documents(COMPANY))
    with checkout.started("up", "--demo", until=READY, timeout_s=START_TIMEOUT_S):
        assert wait_until(lambda: state_of(database) == WHOLE, timeout_s=START_TIMEOUT_S), state_of(database)
        changed = checkout.manage("shell", "-c", CHANGES)
        assert changed.returncode == 0, changed.stderr
        kept = state_of(database)
    assert kept != WHOLE
    assert "nothing was added" in checkout.manage("seed_demo").stdout
    assert state_of(database) == kept
