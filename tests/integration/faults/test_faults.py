"""Whatever the product does, and at whatever moment a fault comes: nothing is lost or doubled, nobody sees more, the next try ends it.

The faults: the process is killed, its line to the database is cut, Valkey forgets everything.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from agent.conversations.sessions import create_session
from agent.models import Message, MessageRole
from agent.runs.reaper import close_abandoned_runs
from audit.actions import Action
from audit.models import Entry
from authz.models import FolderUserGrant
from authz.permissions import Right
from authz.principal import Principal
from copilot_site import consistency
from copilot_site.consistency import check_consistency
from copilot_site.export_all import export_all
from knowledge.ingestion.lease import claim_version, hold_lease
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion, Folder, ParseStatus, Source, Trigger
from knowledge.services.access import grant_place_rights
from knowledge.services.folders import find_root_folder
from knowledge.services.uploads import upload_document
from knowledge.sources.reading import read_source
from knowledge.sources.runs import close_abandoned_source_runs as close_source_runs
from knowledge.sources.services import save_source
from knowledge.tasks import reap_ingestion
from tests.factories import PASSAGE, keeper_of, make_base, make_document, make_folder, make_user, newest_version
from tests.integration.agent.conversations import LEAVE, MANUAL
from tests.integration.agent.live import Live, lived
from tests.processes import running
from tests.programs import FAKETIME
from tests.served import cutting

pytestmark = pytest.mark.django_db(transaction=True)
MOMENTS = 10


class Victim:
    """The process that meets the faults."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def do(self, action: str, fault: str, moment: int, words: list[str]) -> tuple[int, int]:
        """Do an action with a fault; the child's exit code, negative for a signal, and the number of moments it lived."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join([action, fault, str(moment), *words]) + "\n")
        self._process.stdin.flush()
        code, moments = self._process.stdout.readline().split()
        return int(code), int(moments)


class World:
    """A base with its keeper, a person without rights, and a fresh folder for each turn."""

    def __init__(self, folder: Path) -> None:
        self.disk = folder
        self.base = make_base("Night shift")
        make_document(self.base, "manual.md", MANUAL, ingested=True)
        self.keeper = User.objects.get(username="keeper")
        self.outsider = make_user("outsider")

    def place(self, turn: int) -> Folder:
        found = Folder.unscoped.filter(parent=find_root_folder(self.base), name=f"night {turn}").first()
        return found or make_folder(self.base, f"night {turn}")

    def versions(self, turn: int) -> list[DocumentVersion]:
        return list(DocumentVersion.unscoped.filter(document__folder=self.place(turn)))

    def passages(self, turn: int) -> list[tuple[str, int, int, int]]:
        """Return the rows of each version: its state, passages, rows that answer, entries of its publication."""
        return [
            (
                version.parse_status,
                Chunk.unscoped.filter(version=version).count(),
                ChunkIndex.unscoped.filter(version=version, live=True).count(),
                Entry.objects.filter(action=Action.DOCUMENT_PUBLISHED, target_id=str(version.document_id)).count(),
            )
            for version in self.versions(turn)
        ]

    def work(self) -> None:
        """Do what workers, beat and the web process do by themselves after a fault."""
        reap_ingestion()
        close_abandoned_runs()
        close_source_runs()
        for version in DocumentVersion.unscoped.filter(parse_status__in=[ParseStatus.PENDING, ParseStatus.PROCESSING]):
            run_ingestion(version.pk)


class Case(NamedTuple):
    """words: what the victim is told. again: what the person does who saw it fail. outcome: the same after every turn."""

    words: Callable[[World, int], list[str]]
    again: Callable[[World, int], object]
    outcome: Callable[[World, int], object]


def of_folder(world: World, turn: int) -> list[str]:
    return [str(world.place(turn).pk), str(world.keeper.pk)]


def of_outsider(world: World, turn: int) -> list[str]:
    return [str(world.place(turn).pk), str(make_user(f"reader {turn}").pk)]


def upload_again(world: World, turn: int) -> None:
    place = world.place(turn)
    upload_document(keeper_of(place), folder_id=place.pk, filename="night.md", file=ContentFile(PASSAGE.encode()))
    world.work()


def of_version(world: World, turn: int) -> list[str]:
    return [str(newest_version(make_document(world.place(turn))).pk)]


def of_session(world: World, turn: int) -> list[str]:
    return [str(create_session(Principal.of(world.keeper)).pk), str(world.keeper.pk)]


def ask_again(world: World, _turn: int) -> None:
    lived(Live(Principal.of(world.keeper), LEAVE), Live.read)


def answers(_world: World, _turn: int) -> object:
    last = Message.objects.filter(role=MessageRole.ASSISTANT).order_by("created_at").last()
    assert last is not None
    return "30 days" in last.content, Message.objects.filter(is_complete=False).count()


def of_disk(world: World, turn: int) -> list[str]:
    return [str(world.disk / f"export-{turn}")]


def exported(world: World, turn: int) -> object:
    folder = world.disk / f"export-{turn}-again"
    rows = (folder / "documents.jsonl").read_text().splitlines()
    ids = {json.loads(row)["id"] for row in rows}
    return ids == set(map(str, Document.unscoped.values_list("pk", flat=True))), (folder / "verify_export.py").exists()


def rights(world: World, turn: int) -> object:
    grants = FolderUserGrant.objects.filter(user__username=f"reader {turn}")
    entries = Entry.objects.filter(action=Action.GRANT_GIVEN, target_id=str(world.place(turn).pk))
    return grants.count(), entries.count()


def give_again(world: World, turn: int) -> None:
    grant_place_rights(None, [Right.VIEW], world.place(turn), to=User.objects.get(username=f"reader {turn}"))


def of_source(world: World, turn: int) -> list[str]:
    files = world.disk / "opened" / str(turn)
    files.mkdir(parents=True)
    for name in ("start.md", "rules.md"):
        (files / name).write_text(PASSAGE)
    place = world.place(turn)
    source = Source(name=f"source {turn}", folder=place, kind="folder", settings={"path": str(files)}, every_minutes=0)
    save_source(None, source, secret="")
    return [str(source.pk)]


def read_again(world: World, turn: int) -> None:
    assert read_source(Source.unscoped.get(name=f"source {turn}").pk, Trigger.HAND) is not None
    world.work()


CASES = {
    "upload": Case(of_folder, upload_again, World.passages),
    "import": Case(of_version, lambda world, _turn: world.work(), World.passages),
    "run": Case(of_session, ask_again, answers),
    "export": Case(of_disk, lambda world, turn: list(export_all(world.disk / f"export-{turn}-again")), exported),
    "rights": Case(of_outsider, give_again, rights),
    "source": Case(of_source, read_again, World.passages),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> World:
    settings.SOURCE_FOLDERS = (str(tmp_path / "opened"),)
    monkeypatch.setattr(consistency, "YOUNG", timedelta(seconds=-60))  # every file counts
    return World(tmp_path)


@contextmanager
def started(world: World, env: Mapping[str, str]) -> Iterator[Victim]:
    folders = {"COPILOT_SOURCE_FOLDERS": str(world.disk / "opened")}
    with running("tests.integration.faults.victim", env={**folders, **env}) as process:
        yield Victim(process)


@pytest.fixture
def victim(world: World) -> Iterator[Victim]:
    with started(world, {}) as victim:
        yield victim


def require_whole(world: World, action: str) -> None:
    """Nothing contradicts itself, and nobody sees more. A killed upload may leave its file, which the check names."""
    left = [
        name for name in consistency._find_lost_files()[1] if str(world.base.pk) in name
    ]  # workers share the folder
    assert len(left) <= (MOMENTS if action in {"upload", "source"} else 0)
    bad = {result.name: result.detail for result in check_consistency() if not result.ok}
    assert bad.keys() <= {"versions of files"}, bad
    assert not Document.objects.visible_to(Principal.of(world.outsider)).exists()


@pytest.mark.parametrize("fault", ["kill", "cut", "flush"])
@pytest.mark.parametrize("action", CASES)
def test_a_fault_at_any_moment_costs_at_most_another_try(world: World, victim: Victim, action: str, fault: str) -> None:
    case = CASES[action]
    code, moments = victim.do(action, "none", 0, case.words(world, 0))
    assert code == 0
    case.again(world, 0)
    whole = case.outcome(world, 0)
    met = []
    for turn in range(1, MOMENTS + 1):
        at = max(1, moments * turn // (MOMENTS + 1))
        code, lived = victim.do(action, fault, at, case.words(world, turn))
        met.append(lived >= at)
        if fault == "kill":
            assert code == (-9 if met[-1] else 0)
        require_whole(world, action)
        world.work()
        case.again(world, turn)
        assert case.outcome(world, turn) == whole, (turn, at, moments)
        require_whole(world, action)
    assert sum(met) >= MOMENTS - 2, "faults came; how often a run's reader looks at rights varies with its time"


@contextmanager
def slow() -> Iterator[dict[str, str]]:
    with ways(lambda: None, delay_s=0.005) as (database, valkey):
        yield {"DATABASE_URL": database, "REDIS_URL": valkey}


@contextmanager
def without_valkey() -> Iterator[dict[str, str]]:
    with ways(lambda: 0) as (_database, valkey):
        yield {"REDIS_URL": valkey}


@contextmanager
def without_connections() -> Iterator[dict[str, str]]:
    """As where all are in use, for everybody but who is there already."""
    name = connection.settings_dict["NAME"]
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        try:
            yield {}
        finally:
            other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())


@contextmanager
def ways(most_bytes: Callable[[], int | None], *, delay_s: float = 0) -> Iterator[tuple[str, str]]:
    """Addresses of PostgreSQL and Valkey on lines that break or are slow."""
    found, valkey = connection.settings_dict, urlsplit(os.environ["REDIS_URL"])
    with (
        cutting(f"http://{found['HOST']}:{found['PORT']}", most_bytes, delay_s=delay_s) as one,
        cutting(f"http://127.0.0.1:{valkey.port}", most_bytes, delay_s=delay_s) as other,
    ):
        yield (
            f"postgresql://{found['USER']}:{found['PASSWORD']}@{one.removeprefix('http://')}/{found['NAME']}",
            valkey._replace(netloc=f"{valkey.netloc.rpartition(':')[0]}:{other.rpartition(':')[2]}").geturl(),
        )


@contextmanager
def clock(offset: str) -> Iterator[dict[str, str]]:
    yield {"LD_PRELOAD": str(FAKETIME), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager[dict[str, str]]]] = {
    "slow": slow,
    "without Valkey": without_valkey,
    "without connections": without_connections,
    "an hour ahead": partial(clock, "+1h"),
    "an hour behind": partial(clock, "-1h"),
}


@pytest.mark.needs("libfaketime")
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_odd_surroundings_cost_at_most_another_try(world: World, name: str) -> None:
    held = claim_version(newest_version(make_document(make_folder(world.base))).pk)
    assert held is not None
    wholes = {}
    for turn, (action, case) in enumerate(CASES.items(), start=1):
        case.words(world, turn)
        case.again(world, turn)
        wholes[action] = case.outcome(world, turn)
    with hold_lease(held), SURROUNDINGS[name]() as env, started(world, env) as victim:
        codes = {
            action: victim.do(action, "none", 0, case.words(world, -turn))[0]
            for turn, (action, case) in enumerate(CASES.items(), start=1)
        }
        assert victim.do("import", "none", 0, [str(held.pk)])[0] == codes["import"]
    expected = dict.fromkeys(CASES, int(name == "without connections"))
    assert codes | {"run": 0} == expected | {"run": 0}
    held.refresh_from_db()
    assert (held.attempts, held.parse_status) == (1, ParseStatus.PROCESSING), "its worker lives"
    world.work()
    for turn, (action, case) in enumerate(CASES.items(), start=1):
        case.again(world, -turn)
        assert case.outcome(world, -turn) == wholes[action], action
    require_whole(world, "upload")


def test_an_interrupted_migration_goes_on() -> None:
    columns = "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"
    name = f"{connection.settings_dict['NAME']}_interrupted"
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        try:
            with running("tests.integration.faults.victim", env={"DATABASE_URL": url}) as process:
                ends = [Victim(process).do("migrate", "kill", at, [])[0] for at in (60, 700, 0)]
            with psycopg.connect(url) as migrated, connection.cursor() as cursor:
                cursor.execute(columns)
                assert migrated.execute(columns.encode()).fetchall() == cursor.fetchall()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    assert ends == [-9, -9, 0]
