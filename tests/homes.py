"""Running `manage.py` as a person does: in processes of its own, with a COPILOT_HOME of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from copilot_site.embedded.process import wait_until
from copilot_site.home import Home

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Checkout:
    """A state folder and the command line that works on it. before: words in front of it; extra: environment."""

    root: Path
    extra: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()

    @property
    def home(self) -> Home:
        """Its files."""
        return Home(self.root)

    def environment(self) -> dict[str, str]:
        """Ours without anything that names services, a home or the test settings."""
        dropped = ("COPILOT_", "DATABASE_URL", "REDIS_URL", "PORT", "DJANGO_", "PYTEST_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        return kept | {"COPILOT_HOME": str(self.root), "HOME": str(self.root.parent)} | self.extra

    def command(self, *words: str) -> list[str]:
        """`manage.py` with these words."""
        return [*self.before, sys.executable, str(ROOT / "manage.py"), *words]

    def manage(self, *words: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    @contextmanager
    def started(self, *words: str, until: str, timeout_s: float = 120) -> Iterator[subprocess.Popen[str]]:
        """A running command, once it has printed `until`; ended with SIGTERM. Its output is in `output`."""
        with self.output.open("w") as output:
            process = subprocess.Popen(
                self.command(*words),
                env=self.environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        try:
            wait_until(lambda: process.poll() is not None or until in self.said(), timeout_s=timeout_s)
            assert until in self.said(), f"`manage.py {' '.join(words)}` did not say {until!r}:\n{self.said()}"
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(30)

    @property
    def output(self) -> Path:
        """Where `started` writes what the command prints."""
        return self.root.parent / f"{self.root.name}.out"

    def said(self) -> str:
        """What the started command printed so far."""
        return self.output.read_text()

    def copied(self, root: Path) -> "Checkout":
        """The same state in another folder; nothing may run on it. A copy is all there is to a backup, and quicker than a first start."""
        subprocess.run(["cp", "-a", "--reflink=auto", str(self.root), str(root)], check=True)
        return Checkout(root, self.extra, self.before)

    def processes(self) -> list[str]:
        """Command lines of everything that runs on this home: servers, workers, commands."""
        found = []
        for process in psutil.process_iter():
            try:
                line = " ".join(process.cmdline())
                inside = process.cwd().startswith(str(self.root))  # Valkey overwrites its command line
                if (
                    inside or str(self.root) in line or process.environ().get("COPILOT_HOME") == str(self.root)
                ) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(line)
            except psutil.Error:
                continue
        return found
