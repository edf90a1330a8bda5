"""A parser in the child can harm nobody: limits, isolation, and processes that end when they should."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from select import select

import pytest

from knowledge.parsers.base import MIB, ParseFailed, ParseLimits, UnreadableFile, parsers
from knowledge.parsers.sandbox import parse_in_child, render_page_in_child, servers
from tests.integration.pages.house import two_pages

LIMITS = ParseLimits(cpu_s=60, wall_s=120.0, memory_bytes=200 * MIB, written_bytes=8 * MIB, result_bytes=4 * MIB)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Call with the name of an action of the hostile parser: the text of the document it gave."""
    parsers._items.pop("hostile", None)
    from tests.integration.parsers import hostile

    parsers._items.pop("hostile", None)
    monkeypatch.setitem(parsers._items, "hostile", hostile.PARSER)
    servers.stop()  # those of other tests do not know this parser

    def parse(action: str, limits: ParseLimits = LIMITS) -> str:
        path = tmp_path / action
        path.write_text(action)
        return parse_in_child(path, filename="a.hostile", limits=limits).text

    yield parse
    servers.stop()


def code_of(act: Callable[..., str], action: str, limits: ParseLimits = LIMITS) -> str:
    with pytest.raises(ParseFailed) as failed:
        act(action, limits)
    return failed.value.code


def wait_for_end(pid: int) -> bool:
    """Whether the process ends within ten seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select([handle], [], [], 10)[0])
    finally:
        os.close(handle)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_reader_that_was_killed_reads_once_more(act: Callable[..., str]) -> None:
    assert act("crash_once") == "read"


HARMFUL = [
    ("allocate", "memory", LIMITS),
    ("crash", "crashed", LIMITS),
    ("leave", "crashed", LIMITS),
    ("talk", "too_much_text", LIMITS),
    ("spin", "time", replace(LIMITS, cpu_s=1)),
    ("wait", "time", replace(LIMITS, wall_s=0.5)),
]


def test_a_harmful_parser_is_stopped_and_the_next_file_is_read(act: Callable[..., str]) -> None:
    for action, code, limits in HARMFUL:
        assert code_of(act, action, limits) == code, action
        assert act("say") == "said"


def test_without_its_limit_the_same_action_succeeds(act: Callable[..., str]) -> None:
    """The negative control of the limits above: they are what stops it, not an accident."""
    assert act("allocate", replace(LIMITS, memory_bytes=2048 * MIB)) == str(600 * MIB)
    assert len(act("talk", replace(LIMITS, result_bytes=64 * MIB))) > 4 * MIB
    assert act("write", replace(LIMITS, written_bytes=64 * MIB)) == "allowed"


def test_network_programs_disk_and_secrets_are_out_of_reach(
    act: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@host/db")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    for action in ("connect", "look_up", "start_program"):
        assert "is not allowed while a file is parsed" in act(action)
    assert act("write").startswith("OSError: [Errno 27]")
    names = act("environment").split()
    assert "PATH" in names
    assert not {"DATABASE_URL", "OPENAI_API_KEY", "DJANGO_SETTINGS_MODULE"} & set(names)


def test_missing_file_is_not_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        parse_in_child(tmp_path / "gone", filename="a.md")


def test_no_process_is_left_after_a_file_and_a_killed_server_is_replaced(act: Callable[..., str]) -> None:
    act("say")
    code_of(act, "wait", replace(LIMITS, wall_s=0.3))
    (before,) = servers.pids()
    assert children_of(before) == []
    os.kill(before, signal.SIGKILL)
    assert act("say") == "said"
    (server,) = servers.pids()
    assert server != before
    servers.stop()
    assert wait_for_end(server)


def test_server_and_child_end_with_a_killed_worker(tmp_path: Path) -> None:
    path = tmp_path / "action"
    path.write_text("wait")
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert worker.stdout is not None
    with worker.stdout:
        server = int(worker.stdout.readline())
        child = next(pid for _ in iter(int, 1) for pid in children_of(server))  # until the server forked
    worker.kill()
    worker.wait()
    assert wait_for_end(child)
    assert wait_for_end(server)


WORKER = """
import sys, threading
from pathlib import Path
from knowledge.parsers.sandbox import parse_in_child, servers
from tests.integration.parsers import hostile
good = Path(sys.argv[1]).with_name("good")
good.write_text("say")
parse_in_child(good, filename="a.hostile")
print(*servers.pids(), flush=True)
parse_in_child(Path(sys.argv[1]), filename="a.hostile")
"""


def _in_daemon(path: Path, answer: "multiprocessing.connection.Connection") -> None:
    try:
        answer.send(parse_in_child(path, filename="a.md").title)
    except UnreadableFile as problem:
        answer.send(str(problem))
    finally:
        servers.stop()


def test_daemonic_forked_process_parses_with_a_server_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("# Title\n\nText.")
    assert parse_in_child(path, filename="a.md").title == "Title"
    ours = servers.pids()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_in_daemon, args=(path, sender), daemon=True)
    process.start()
    assert receiver.poll(30)
    assert receiver.recv() == "Title"
    process.join(10)
    receiver.close()
    sender.close()
    assert parse_in_child(path, filename="a.md").title == "Title"
    assert servers.pids() == ours


def test_a_page_is_drawn_in_the_child_under_its_limits(tmp_path: Path) -> None:
    path = tmp_path / "pages.pdf"
    path.write_bytes(two_pages())
    png = render_page_in_child(path, filename="pages.pdf", page=2)
    assert png is not None
    assert png.startswith(b"\x89PNG")
    assert render_page_in_child(path, filename="pages.pdf", page=3) is None
    with pytest.raises(ParseFailed):  # the image alone takes 8 MB
        render_page_in_child(path, filename="pages.pdf", page=1, limits=replace(LIMITS, memory_bytes=1 * MIB))
    assert render_page_in_child(path, filename="pages.pdf", page=1) is not None
    path.write_bytes(b"%PDF-1.4 nothing behind it")
    with pytest.raises(ParseFailed) as failed:
        render_page_in_child(path, filename="pages.pdf", page=1)
    assert failed.value.code == "damaged"
