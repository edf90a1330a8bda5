"""What a confined script costs is bounded, it is told why it was stopped, and what is left of it is what it may leave."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psutil
import pytest

from copilot_site.lib.confinement import running
from copilot_site.lib.confinement.isolation import find_isolation, open_scratch_folder
from copilot_site.lib.confinement.namespaces import NOBODY
from copilot_site.lib.confinement.plan import MIB, ConfinementLimits, Isolation
from copilot_site.lib.confinement.remains import delete_tree, is_over_limits, read_files
from copilot_site.lib.confinement.running import AT_ONCE, Ran, Stopped, run_confined

LIMITS = ConfinementLimits(cpu_s=20, wall_s=30.0)
LONG = "import os\nfor n in range(30): os.mkdir('d' * 250); os.chdir('d' * 250)"  # than the kernel takes for a path


def ran(code: str, limits: ConfinementLimits = LIMITS, *, stdin: bytes = b"") -> Ran:
    found = find_isolation()
    assert found is not None
    return asyncio.run(run_confined(found, {"script.py": code.encode()}, "script.py", limits=limits, stdin=stdin))


@pytest.mark.parametrize(
    ("code", "limits", "stopped"),
    [
        ("import signal, time\nfor n in (2, 15, 24): signal.signal(n, signal.SIG_IGN)\nwhile True: pass", {"cpu_s": 1}, Stopped.TIME),
        ("import sys\nsys.stdout.close(); import os; os.close(1); os.close(2)\nimport time; time.sleep(60)", {"wall_s": 1.0}, Stopped.TIME),
        ("print('x' * 10**6)", {"output_bytes": 1000}, Stopped.OUTPUT),
        ("import sys\nwhile True: sys.stderr.write('x' * 1000)", {"output_bytes": 100_000}, Stopped.OUTPUT),
        ("n = 0\nwhile True: open(str(n), 'w').write('x'); n += 1", {"files": 10}, Stopped.WRITTEN),
        ("for n in range(9): open(str(n), 'wb').write(bytes(2**20))", {"folder_bytes": 4 * MIB}, Stopped.WRITTEN),
        ("for n in range(9): open(f'../tmp/{n}', 'wb').write(bytes(2**20))", {"folder_bytes": 4 * MIB}, Stopped.WRITTEN),
        ("import os\nn = 0\nwhile True: os.mkdir(str(n)); n += 1", {"files": 10}, Stopped.WRITTEN),
        (f"{LONG}\nfor n in range(9): open(str(n), 'wb').write(bytes(2**20))", {"folder_bytes": 4 * MIB}, Stopped.WRITTEN),
    ],
)  # fmt: skip
def test_too_much_is_stopped_and_leaves_nothing(code: str, limits: dict[str, Any], stopped: Stopped) -> None:
    found = ran(code, replace(LIMITS, **limits))
    assert found.stopped is stopped, found
    assert found.files == {}


@pytest.mark.parametrize(
    ("code", "reason", "enough"),
    [
        ("bytes(300 * 2**20)", "MemoryError", {"memory_bytes": 700 * MIB}),
        ("open('big', 'wb').write(bytes(3 * 2**20))", "File too large", {"file_bytes": 4 * MIB}),
        ("[open('/dev/null') for _ in range(60)]", "Too many open files", {"open_files": 100}),
        (
            "import threading, time\n[threading.Thread(target=time.sleep, args=(.2,)).start() for _ in range(40)]",
            "can't start new thread",
            {"threads": 64},
        ),
    ],
)
def test_too_much_fails_inside_and_enough_does_not(code: str, reason: str, enough: dict[str, int]) -> None:
    """The second half is the negative control: the limit is what stops it."""
    tight = replace(LIMITS, memory_bytes=256 * MIB, file_bytes=2 * MIB, open_files=50, threads=16)
    if "threads" in enough:
        tight = replace(tight, memory_bytes=700 * MIB)
    found = ran(code, tight)
    assert (found.status, found.stopped) == (1, None)
    assert reason in found.errors
    wide = replace(LIMITS, memory_bytes=700 * MIB, **{k: v for k, v in enough.items() if k != "memory_bytes"})
    assert ran(code, wide).status == 0


def test_a_script_reads_writes_and_says() -> None:
    code = "import os, sys\nos.mkdir('a'); open('a/b.txt', 'w').write(sys.stdin.read()); print('done', sys.argv[1:]); sys.exit(3)"
    found = ran(code, stdin="中文".encode())
    assert (found.status, found.output, found.errors, found.stopped) == (3, "done []\n", "", None)
    assert found.files == {"a/b.txt": "中文".encode()}


def test_what_is_no_plain_file_is_not_taken_out() -> None:
    """Neither pipes nor links: whoever takes the files out must not wait for one or follow the other."""
    code = """
import os
for make in (lambda: os.mkfifo('pipe'), lambda: os.symlink('/etc/passwd', 'link'), lambda: os.symlink('/', 'folder')):
    try: make()
    except OSError: pass
open('plain', 'w').close()
"""
    assert set(ran(code).files) == {"plain"}


def test_libraries_of_the_installation_work() -> None:
    code = "import docx, openpyxl\ndocx.Document().save('a.docx'); openpyxl.Workbook().save('b.xlsx')"
    found = ran(code)
    assert found.status == 0, found.errors
    assert {path: data[:2] for path, data in found.files.items()} == {"a.docx": b"PK", "b.xlsx": b"PK"}


@pytest.mark.parametrize("code", ["print(1)", "import time; time.sleep(60)", LONG])
def test_nothing_is_left_behind(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    @contextmanager
    def noted(within: Isolation) -> Iterator[Path]:
        with open_scratch_folder(within) as folder:
            made.append(folder)
            yield folder

    monkeypatch.setattr(running, "open_scratch_folder", noted)
    ran(code, replace(LIMITS, wall_s=1.0))
    assert [folder.exists() for folder in made] == [False]
    assert confined() == []


def confined() -> list[int]:
    """The confined processes below this one. What has ended and was not waited for yet, such as a parser's idle server, is none."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            found += [one.pid] if "confinement" in " ".join(one.cmdline()) else []
    return found


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of somebody who is not root, as whom the test runs."""
    place = Path(mkdtemp(dir="/tmp"))
    if os.geteuid():
        yield place
    else:
        os.chown(place, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield place
        finally:
            os.seteuid(0)
    shutil.rmtree(place, ignore_errors=True)


def test_what_its_rights_hide_is_too_much_and_thrown_away(place: Path) -> None:
    """Root looks past the rights of a folder, others do not: a script could fill the disk behind them."""
    folder = place / "confined"
    (folder / "out" / "locked").mkdir(parents=True)
    assert not is_over_limits((folder / "out",), LIMITS)
    (folder / "out" / "locked" / "big").write_bytes(b"x")
    (folder / "out" / "locked" / "inner").mkdir(mode=0o300)
    (folder / "out" / "locked").chmod(0o300)
    assert is_over_limits((folder / "out",), LIMITS)
    delete_tree(folder)
    assert not folder.exists()


def test_a_file_that_cannot_be_read_is_left_out(place: Path) -> None:
    (place / "shut").write_bytes(b"x")
    (place / "open").write_bytes(b"y")
    (place / "shut").chmod(0)
    assert read_files(place) == {"open": b"y"}


async def test_who_is_cancelled_leaves_no_process() -> None:
    found = find_isolation()
    assert found is not None
    task = asyncio.create_task(run_confined(found, {"s.py": b"import time; time.sleep(60)"}, "s.py"))
    async with asyncio.timeout(10):
        while not confined():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert confined() == []


async def test_who_is_cancelled_while_it_starts_ends_and_leaves_no_process() -> None:
    """At every step of its beginning."""
    found = find_isolation()
    assert found is not None
    for steps in range(12):
        task = asyncio.create_task(run_confined(found, {"s.py": b"import time; time.sleep(60)"}, "s.py"))
        for _step in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        ended, _rest = await asyncio.wait({task}, timeout=10)
        assert ended, f"cancelled after {steps} steps it goes on"
        assert task.cancelled()
        assert confined() == []


def test_no_more_than_a_few_run_at_once() -> None:
    code = "import time; began = time.time(); time.sleep(0.5); print(began, time.time())"

    async def several() -> list[Ran]:
        found = find_isolation()
        assert found is not None
        files = {"script.py": code.encode()}
        return await asyncio.gather(
            *(run_confined(found, files, "script.py", limits=LIMITS) for _ in range(AT_ONCE + 1))
        )

    spans = [tuple(map(float, item.output.split())) for item in asyncio.run(several())]
    at_once = [sum(begun <= moment < over for begun, over in spans) for moment, _over in spans]
    assert max(at_once) <= AT_ONCE
