"""The isolation that this machine offers: each way is tried with a real script, best first; failing ones are not used."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from secrets import randbelow
from tempfile import gettempdir, mkdtemp

from . import landlock, seccomp
from .child import DEVICES
from .namespaces import NOBODY
from .plan import ConfinementLimits, Isolation, Namespaces, ScriptPlan
from .remains import delete_tree

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from confinement.child import main; del sys.path[0]; main(sys.argv[2])"
_LIBRARY = str(Path(__file__).resolve().parents[1])
_SHARED = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/etc/mime.types")
_FIRST_PASSING_USER, _PASSING_USERS = 61_184, 4_336  # where systemd, too, takes users for one run from
_TRY_S = 30.0  # on a machine that is busy
_ENOUGH = "print('inside', flush=True)"


@cache
def find_isolation() -> Isolation | None:
    """Return the best isolation that works here; None without any: nothing may run. Tried once, in about 0.2 s."""
    return next(filter(_can_run_script, _iterate_candidates()), None)


def explain_missing_isolation() -> str:
    """Return what this machine lacks, in one sentence for the operator."""
    if not seccomp.is_known_machine():
        return "Scripts are confined by Linux on x86_64 or aarch64 alone."
    return (
        "The kernel gives this user neither namespaces of its own nor Landlock of version 3: use Linux 6.2 or newer, allow unprivileged "
        "user namespaces, or install bubblewrap."
    )


def _iterate_candidates() -> Iterator[Isolation]:
    if not seccomp.is_known_machine():
        return
    abi = landlock.find_abi_version()
    yield Isolation(Namespaces.OWN, abi)
    if shutil.which("bwrap"):
        yield Isolation(Namespaces.BUBBLEWRAP, abi)
    if abi >= landlock.HOLDS_ALONE:
        yield Isolation(Namespaces.NONE, abi)


def _can_run_script(candidate: Isolation) -> bool:
    with open_scratch_folder(candidate) as folder:
        script = folder / "in" / "script.py"
        script.write_text(_ENOUGH, encoding="utf-8")
        plan = build_plan(folder, script, (), candidate, ConfinementLimits())
        try:
            done = subprocess.run(
                build_command(plan),
                env=build_environment(folder),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRY_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and done.stdout == b"inside\n"


@contextmanager
def open_scratch_folder(within: Isolation) -> Iterator[Path]:
    """Yield a temporary folder with `in` (read only inside), `out` and `tmp` (may be written), `root` (for namespaces)."""
    folder = Path(mkdtemp(prefix="confined-", dir=os.path.realpath(gettempdir())))
    try:
        folder.chmod(0o711)
        user = _FIRST_PASSING_USER + randbelow(_PASSING_USERS)
        for item in ("in", "out", "tmp", "root"):
            (folder / item).mkdir(mode=0o755)
            if item != "in" and within.namespaces is Namespaces.OWN and os.geteuid() == 0:
                os.chown(folder / item, user, user)
        yield folder
    finally:
        delete_tree(folder)


def build_plan(
    folder: Path, script: Path, arguments: tuple[str, ...], within: Isolation, limits: ConfinementLimits
) -> ScriptPlan:
    """Return a plan. folder: from `open_scratch_folder`; script: below its `in`."""
    return ScriptPlan(
        script=str(script),
        arguments=arguments,
        search_path=_list_search_path(),
        readable=(str(folder / "in"), *_list_search_path(), *(path for path in _SHARED if Path(path).exists())),
        writable=(str(folder / "out"), str(folder / "tmp")),
        isolation=within,
        limits=limits,
    )


@cache
def _list_search_path() -> tuple[str, ...]:
    """Return the paths of Python's modules and the installed libraries; never the product's code, settings or data."""
    found = [sysconfig.get_path("stdlib"), str(sysconfig.get_config_var("DESTSHARED"))]
    found += [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return tuple(path for path in dict.fromkeys(map(os.path.realpath, found)) if Path(path).exists())


def build_command(plan: ScriptPlan) -> list[str]:
    """Return the command that starts the process of a plan."""
    python = [sys.executable, "-I", "-S", "-B", "-c", _BOOT, _LIBRARY, plan.to_json()]
    return [*_build_bubblewrap_command(plan), *python] if plan.isolation.namespaces is Namespaces.BUBBLEWRAP else python


def build_environment(folder: Path) -> dict[str, str]:
    """Return a script's whole environment, with nothing of ours. Threads are limited, as each takes address space."""
    place = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp")}
    return {**place, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _build_bubblewrap_command(plan: ScriptPlan) -> list[str]:
    given = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--unshare-user",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]
    given += ["--uid", str(NOBODY), "--gid", str(NOBODY)]
    for path in (*plan.readable, sys.executable, f"{_LIBRARY}/confinement"):
        given += ["--ro-bind", path, path]
    for path in plan.writable:
        given += ["--bind", path, path]
    for path in DEVICES:
        given += ["--dev-bind-try", path, path]
    return given
