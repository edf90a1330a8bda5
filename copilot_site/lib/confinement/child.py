"""The process that shuts itself in and then becomes the script. Started by `running`; imports nothing of the product.

Whatever keeps a layer from holding ends it before the script: it never runs bare.
"""

import os
import resource
import runpy
import sys
from contextlib import suppress
from pathlib import Path

from . import landlock, namespaces, rlimits, seccomp
from .kernel import CannotConfine, drop_capabilities
from .plan import Namespaces, ScriptPlan

NOT_CONFINED = 97
"""Exit status: a layer does not hold, and nothing ran."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")


def main(text: str) -> None:
    try:
        plan = ScriptPlan.from_json(text)
        rlimits.die_with_parent()
        sys.path[:] = plan.search_path
        _confine_process(plan)
        _check_confinement()
    except (CannotConfine, OSError, ValueError, KeyError, TypeError) as error:
        print(f"not confined: {error}", file=sys.stderr, flush=True)
        os._exit(NOT_CONFINED)
    sys.argv = [plan.script, *plan.arguments]
    sys.path.insert(0, str(Path(plan.script).parent))
    runpy.run_path(plan.script, run_name="__main__")


def _confine_process(plan: ScriptPlan) -> None:
    isolation, limits = plan.isolation, plan.limits
    devices = [path for path in DEVICES if Path(path).exists()]
    if isolation.namespaces is Namespaces.OWN:
        root = str(Path(plan.writable[0]).parent / "root")
        namespaces.enter_namespaces(root, readable=plan.readable, writable=plan.writable, devices=devices)
    os.chdir(plan.writable[0])
    rlimits.set_limits(
        cpu_s=limits.cpu_s, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes, open_files=limits.open_files
    )
    if isolation.namespaces is not Namespaces.NONE:  # where it is counted for this process alone
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.threads, limits.threads))
    if isolation.landlock:
        landlock.restrict_file_access(
            isolation.landlock, readable=plan.readable, writable=plan.writable, devices=devices
        )
    drop_capabilities()
    seccomp.restrict_system_calls()


def _check_confinement() -> None:
    """Check the confinement. Raises CannotConfine where something forbidden is within reach."""
    for path in ("/etc/passwd", "/proc/self/environ"):
        with suppress(OSError), Path(path).open("rb"):
            raise CannotConfine(f"{path} can be read")
    with suppress(OSError):
        os.kill(os.getppid(), 0)
        raise CannotConfine("other processes can be signalled")
