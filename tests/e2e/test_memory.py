"""What the whole system holds in memory once every process of it that embeds texts has done so."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from copilot_site.config import load_config
from copilot_site.embedded.process import wait_until
from knowledge.embedding.model_files import WEIGHTS
from tests.demo_home import READY, demo_home
from tests.e2e.conftest import System

IDLE_MB = 950  # PostgreSQL included
USED_MB = 1500
BASE = "Kubernetes"  # of the demo company: still empty, and his to fill
PAGES = 40  # enough for every process of the bulk worker
QUESTIONS = ("How long do access tokens live?", "年假有多少天？", "Which approvals does a purchase need?")
TEXT = "# Shift {number}\n\n" + "The night shift of berth {number} hands its log to the morning shift. " * 60


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A demo of this test alone: how much others asked before must not decide."""
    checkout = demo_home(tmp_path_factory.mktemp("memory") / "home")
    shared = checkout.home.models.resolve()
    checkout.home.models.unlink()
    shutil.copytree(shared, checkout.home.models)  # what other processes have of the same file would count half
    with checkout.started("up", "--demo", until=READY):
        yield System(checkout, f"http://127.0.0.1:{checkout.extra['PORT']}")


@pytest.fixture
def pieter(system: System) -> Iterator[httpx.Client]:
    """The API as he uses it, signed in."""
    with system.signed_in("pieter") as client:
        yield client


def test_system_takes_little_memory_idle_and_used(system: System, pieter: httpx.Client, tmp_path: Path) -> None:
    assert wait_until(lambda: len(_with_model(system)) <= 2, timeout_s=120), (
        "more than two hold the model of an idle system"
    )
    assert wait_until(lambda: _megabytes(system) < IDLE_MB, timeout_s=60), f"idle it holds {_megabytes(system):.0f} MB"
    _import(system, tmp_path)
    _upload(pieter)
    system.ask("pieter", *QUESTIONS)
    assert len(_with_model(system)) <= 2 + load_config().worker_concurrency, (
        "web, the interactive worker, the bulk worker's children"
    )
    assert _megabytes(system) < USED_MB
    assert wait_until(lambda: len(_with_model(system)) == 2, timeout_s=90), "the bulk worker keeps the model"


def _with_model(system: System) -> list[psutil.Process]:
    """Who holds the embedding model."""
    found = []
    for process in _family(system):
        with suppress(psutil.NoSuchProcess):
            if any(Path(m.path).name == WEIGHTS for m in process.memory_maps()):
                found.append(process)
    return found


def _megabytes(system: System) -> float:
    """What its processes hold; one that ends while it is looked at holds nothing."""
    total = 0
    for process in _family(system):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total / 1e6


def _import(system: System, folder: Path) -> None:
    for number in range(PAGES):
        (folder / f"shift-{number}.md").write_text(TEXT.format(number=number))
    done = system.checkout.manage("import_folder", str(folder), "--kb", BASE, "--as", "pieter", timeout_s=300)
    assert f"{PAGES} completed, 0 failed" in done.stdout, done.stderr


def _upload(pieter: httpx.Client) -> None:
    base = next(b for b in pieter.get("/api/v1/knowledge-bases").json()["results"] if b["name"] == BASE)
    folder = pieter.get("/api/v1/folders", params={"knowledge_base": base["id"]}).json()["results"][0]
    files = {"file": ("note.md", TEXT.format(number="N"))}
    upload = pieter.post(f"/api/v1/folders/{folder['id']}/documents", files=files).raise_for_status().json()
    done = f"/api/v1/documents/{upload['document']['id']}"
    assert wait_until(lambda: pieter.get(done).json()["parse_status"] == "completed", timeout_s=120), (
        "the upload is not read"
    )


def _family(system: System) -> Iterator[psutil.Process]:
    """Every process of the system: what runs on its home and all that those started, the parsers of its workers, too."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            inside = process.cwd().startswith(str(system.checkout.root)) or str(system.checkout.root) in line
            if inside or process.environ().get("COPILOT_HOME") == str(system.checkout.root):
                found |= {child.pid: child for child in (process, *process.children(recursive=True))}
        except psutil.Error:
            continue
    yield from found.values()
