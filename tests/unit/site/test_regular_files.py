"""Files of folders that others write to: only regular ones below the folder are opened, and nobody waits for them without end."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot_site.lib.storage.regular_files import open_regular_file, read_regular_file, run_with_timeout


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "top"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.md").write_text("a")
    (tmp_path / "secret.md").write_text("secret")
    return folder


def pipe(path: Path, _top: Path) -> None:
    os.mkfifo(path)


def link_out(path: Path, top: Path) -> None:
    path.symlink_to(top.parent / "secret.md")


def link_to_a_device(path: Path, _top: Path) -> None:
    path.symlink_to("/dev/zero")


def folder_instead(path: Path, _top: Path) -> None:
    path.mkdir()


REFUSED: dict[Callable[[Path, Path], None], int] = {
    pipe: errno.EINVAL,
    link_out: errno.EXDEV,
    link_to_a_device: errno.EXDEV,
    folder_instead: errno.EINVAL,
}


@pytest.mark.parametrize("make", REFUSED)
def test_what_is_no_regular_file_below_the_folder_is_not_read(top: Path, make: Callable[[Path, Path], None]) -> None:
    make(top / "x.md", top)
    with pytest.raises(OSError, match="it ") as caught:
        read_regular_file(top / "x.md", top=top, most_bytes=10)
    assert caught.value.errno == REFUSED[make]


def test_a_link_within_the_folder_and_a_plain_file_are_read(top: Path) -> None:
    (top / "x.md").symlink_to(top / "deep" / "a.md")
    assert [read_regular_file(top / name, top=top, most_bytes=1) for name in ("x.md", "deep/a.md")] == [b"a", b"a"]
    with pytest.raises(OSError, match="too large"):
        read_regular_file(top / "deep" / "a.md", top=top, most_bytes=0)


@pytest.mark.parametrize("swapped", ["deep", "deep/a.md"])
def test_what_became_a_link_after_it_was_looked_at_is_not_followed(
    top: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    """Between the look at the real path and the opening, somebody puts a link there."""
    outside = top.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "a.md").write_text("secret")
    real = Path.resolve

    def resolve(self: Path, strict: bool = False) -> Path:
        found = real(self, strict)
        (top / swapped).rename(top / "away")
        (top / swapped).symlink_to(outside / swapped)
        return found

    monkeypatch.setattr(Path, "resolve", resolve)
    with pytest.raises(OSError):  # noqa: PT011 - each system has words of its own
        open_regular_file(top / "deep" / "a.md", top=top)


def test_a_pipe_that_comes_after_the_look_does_not_hold_the_reader(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(top / "pipe.md")
    regular = (top / "deep" / "a.md").stat()
    monkeypatch.setattr(os, "stat", lambda *_args, **_more: regular)
    with pytest.raises(OSError, match="not a regular file"):
        open_regular_file(top / "pipe.md", top=top)


def test_a_file_system_that_does_not_answer_is_left(top: Path) -> None:
    never = threading.Event()
    with pytest.raises(TimeoutError, match="does not answer"):
        run_with_timeout(0.01, never.wait)
    never.set()
    assert run_with_timeout(60, lambda: 1) == 1


def test_a_file_that_does_not_answer_is_left_by_its_reader(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never, real = threading.Event(), os.open

    def hanging(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "a.md":
            never.wait()
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", hanging)
    monkeypatch.setattr("copilot_site.lib.storage.regular_files.SILENCE_S", 0.01)
    with pytest.raises(TimeoutError):
        read_regular_file(top / "deep" / "a.md", top=top, most_bytes=1)
    never.set()
