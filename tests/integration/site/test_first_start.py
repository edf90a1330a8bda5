"""A first start on a disk that is too small ends with a sentence, however far it came."""

import subprocess
from pathlib import Path

import pytest

from tests.homes import Checkout
from tests.ports import own_port

# A disk of its own, which nobody else sees and which is gone with the command.
ON_SMALL_DISK = 'mount -t tmpfs -o size="$0" tmpfs "$1" && shift && exec "$@"'
NAMESPACE = ("unshare", "--mount", "--map-root-user")
MAY_MOUNT = (
    subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False).returncode
    == 0
)


@pytest.mark.skipif(not MAY_MOUNT, reason="no disk can be mounted here")
@pytest.mark.parametrize(
    ("size", "step"),
    [("16k", "the configuration of the database"), ("3m", "its log"), ("45m", "the model")],
    ids=lambda word: word,
)
def test_a_full_disk_is_named_without_a_traceback(tmp_path: Path, size: str, step: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    before = (*NAMESPACE, "sh", "-c", ON_SMALL_DISK, size, str(disk))
    checkout = Checkout(disk / "home", extra={"PORT": str(own_port())}, before=before)
    done = checkout.manage("up", timeout_s=300)
    assert done.returncode == 1, step
    assert "is full: make room" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert all(len(line) < 200 for line in done.stderr.splitlines())
    assert checkout.processes() == []
