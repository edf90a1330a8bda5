"""Nobody gets out: every attempt in every way of confining that this machine has; and bare, the same attempts succeed."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from copilot_site.lib.confinement import landlock
from copilot_site.lib.confinement.isolation import find_isolation
from copilot_site.lib.confinement.plan import ConfinementLimits, Isolation, Namespaces
from copilot_site.lib.confinement.running import Ran, Stopped, run_confined
from tests.integration.confinement.attempts import EVERY, ORDINARY, script

TEXT = "the salary of the managing director"


@dataclass
class World:
    """What is out of reach, and whether it was reached."""

    told: dict[str, Any]
    secret: Path
    victim: "subprocess.Popen[bytes]"
    guests: list[str]

    def assert_untouched(self) -> None:
        """Nothing changed outside, whatever a script says of itself."""
        assert self.secret.read_text() == TEXT
        assert self.secret.stat().st_mode & 0o7777 == 0o644
        assert self.secret.stat().st_mtime > 1_000
        assert sorted(path.name for path in self.secret.parent.iterdir()) == ["secret", "socket"]
        assert self.victim.poll() is None
        assert os.getpriority(os.PRIO_PROCESS, self.victim.pid) == os.getpriority(os.PRIO_PROCESS, 0)
        assert self.guests == []


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Readable by everybody on the machine, so that no right of files is what keeps a script out."""
    place = Path("/tmp") / f"outside-{uuid4().hex}"
    place.mkdir(mode=0o777)
    secret = place / "secret"
    secret.write_text(TEXT)
    secret.chmod(0o644)
    guests: list[str] = []
    name = f"copilot-{uuid4().hex}"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        doors = [_listening(stack, socket.AF_INET, ("127.0.0.1", 0), guests)]
        doors.append(_listening(stack, socket.AF_UNIX, str(place / "socket"), guests))
        _listening(stack, socket.AF_UNIX, f"\0{name}", guests)
        victim = stack.enter_context(subprocess.Popen(["sleep", "60"]))
        stack.callback(victim.kill)
        told = {
            "secret": str(secret), "tcp": doors[0].getsockname()[1], "unix": str(place / "socket"), "abstract": name,
            "victim": victim.pid, "product": str(Path(__file__).resolve().parents[3] / "manage.py"),
        }  # fmt: skip
        yield World(told, secret, victim, guests)


def _listening(stack: ExitStack, family: int, address: Any, guests: list[str]) -> socket.socket:
    """A service of ours that remembers who came."""
    door = stack.enter_context(socket.socket(family))
    door.bind(address)
    door.listen()

    def serve() -> None:
        with suppress(OSError):
            while True:
                door.accept()[0].close()
                guests.append(str(address))

    threading.Thread(target=serve, daemon=True).start()
    stack.callback(door.shutdown, socket.SHUT_RDWR)
    return door


WAYS = [
    pytest.param(Namespaces.OWN, id="own namespaces"),
    pytest.param(Namespaces.BUBBLEWRAP, id="bubblewrap", marks=pytest.mark.needs("bubblewrap")),
    pytest.param(Namespaces.NONE, id="Landlock alone"),
]


def within(way: Namespaces) -> Isolation:
    return Isolation(way, landlock.find_abi_version())


def confined(within: Isolation, code: bytes, *arguments: str, limits: ConfinementLimits | None = None) -> Ran:
    return asyncio.run(run_confined(within, {"script.py": code}, "script.py", arguments, limits=limits))


def test_there_are_at_least_sixty_attempts() -> None:
    assert len(ORDINARY) >= 60
    assert len(EVERY) >= 90


def assert_kept_in(world: World, name: str, way: Namespaces) -> None:
    ran = confined(within(way), script(EVERY[name]), json.dumps(world.told))
    assert "ESCAPED" not in ran.output, (name, ran.output)
    assert "kept in" in ran.output or ran.status != 0, (name, ran.errors)
    assert ran.stopped is not Stopped.NOT_CONFINED, (name, ran.errors)
    assert "not confined" not in ran.errors
    world.assert_untouched()


def kinds(attempts: Iterable[str]) -> list[list[str]]:
    """Group attempts by what they are about."""
    return [list(names) for _kind, names in groupby(attempts, key=lambda name: name.split(":")[0])]


@pytest.mark.parametrize("way", WAYS)
def test_two_attempts_of_each_kind_are_kept_in(world: World, way: Namespaces) -> None:
    """Other ones in each way."""
    begin = list(Namespaces).index(way)
    for name in [name for names in kinds(EVERY) for name in names[begin::3][:2]]:
        assert_kept_in(world, name, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EVERY)
def test_every_attempt_is_kept_in(world: World, name: str, way: Namespaces) -> None:
    assert_kept_in(world, name, way)


def assert_escapes_bare(world: World, name: str, place: Path) -> None:
    """The negative control: what keeps the script in is the sandbox, and nothing else on this machine."""
    own = place / "script.py"
    own.write_bytes(script(ORDINARY[name]))
    words = [sys.executable, str(own), json.dumps(world.told)]
    bare = subprocess.run(words, cwd=place, check=False, env={"SECRET": "x"}, capture_output=True, text=True)
    assert "ESCAPED" in bare.stdout, (name, bare.stdout + bare.stderr)


def test_an_attempt_of_each_kind_succeeds_without_confinement(world: World, tmp_path: Path) -> None:
    for names in kinds(ORDINARY):
        assert_escapes_bare(world, names[0], tmp_path)


@pytest.mark.parametrize("name", ORDINARY)
def test_every_attempt_succeeds_without_confinement(world: World, name: str, tmp_path: Path) -> None:
    assert_escapes_bare(world, name, tmp_path)


def test_this_machine_can_isolate_and_the_best_is_used() -> None:
    found = find_isolation()
    assert found is not None
    assert found.landlock == landlock.find_abi_version()


def test_where_a_layer_does_not_hold_nothing_runs(world: World) -> None:
    """Asked for a Landlock that this kernel has not, the process ends before the script."""
    ran = confined(Isolation(Namespaces.NONE, 0), script(ORDINARY["read: a secret"]), json.dumps(world.told))
    assert ran.stopped is Stopped.NOT_CONFINED
    assert ran.output == ""
