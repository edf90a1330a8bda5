"""The page about backup and restore, run as it is written: what comes back is whole, and its audit log can show it."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.homes import ROOT, Checkout

PAGE = ROOT / "docs" / "how-to" / "backup-and-restore.md"
MODEL = re.compile(r"prepare_model|manage\.py ask")  # needs the model, which is not part of a backup


def commands(heading: str) -> str:
    """The shell commands under a heading of the page, without those that need the model."""
    found = re.search(rf"## {heading}\n.*?```\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return "".join(line for line in found[1].splitlines(keepends=True) if not MODEL.search(line))


def run(script: str, checkout: Checkout, folders: dict[str, Path]) -> subprocess.CompletedProcess[str]:
    """A script in a home, its folders moved to a test's own; ends at the first command that fails."""
    for name, folder in (folders | {".venv/bin/python": Path(sys.executable)}).items():
        script = re.sub(rf"(?<![\w./]){re.escape(name)}(?=[/\s\"]|$)", str(folder), script, flags=re.MULTILINE)
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=ROOT, env=checkout.environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], str]:
    """A backup of a system whose log was signed, made while it ran: its folders, and the public key."""
    folder = tmp_path_factory.mktemp("backup")
    source = Checkout(folder / "home")
    folders = {".copilot": source.root, "/backup": folder / "backup", "/safe": folder / "safe"}
    with source.started("up", "--services-only", until="PostgreSQL and Valkey answer."):
        assert source.manage("migrate").returncode == 0
        key = source.manage("audit_key").stdout.strip()
        (source.home.root / "files").mkdir(exist_ok=True)
        done = run(commands("Beside a running system"), source, folders)
        assert done.returncode == 0, done.stderr
    return folders, key


Change = Callable[[str], str]


def without_keys(script: str) -> str:
    """As the page said before."""
    return script.replace(" /safe/audit-keys /safe/audit-checkpoints", "")


def restored(
    backup: dict[str, Path], root: Path, change: Change = str
) -> tuple[Checkout, subprocess.CompletedProcess[str]]:
    """A home made from a backup by the commands of the page."""
    checkout = Checkout(root)
    tools = re.search(r"^PG=.*$", commands("Beside a running system"), re.MULTILINE)
    assert tools
    script = f"{tools[0]}\n{change(commands('Restore into an empty home'))}"
    return checkout, run(script, checkout, backup | {"/srv/copilot-restored": root})


def test_a_restored_system_verifies_and_goes_on_signing(backed_up: tuple[dict[str, Path], str], tmp_path: Path) -> None:
    folders, key = backed_up
    checkout, done = restored(folders, tmp_path / "restored")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Every hash and every signature is right." in done.stdout
    assert checkout.manage("audit_key").stdout.strip() == key


def test_a_restore_that_forgets_the_keys_says_so(backed_up: tuple[dict[str, Path], str], tmp_path: Path) -> None:
    """The control: it is these folders that the log needs."""
    folders, _key = backed_up
    checkout, done = restored(folders, tmp_path / "restored", without_keys)
    assert done.returncode != 0
    assert "restore it from your backup" in done.stderr
    said = checkout.manage("verify_audit")
    assert (said.returncode, "First bad sequence number" in said.stderr) == (1, True), said.stderr
