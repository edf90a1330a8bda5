"""`manage.py restore FOLDER --keys FOLDER`: restore the system of a backup in an empty home and empty databases."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from copilot_site.backup import restore_backup
from copilot_site.config import BASE_DIR
from copilot_site.lib.commands import report_command_errors

AFTER = ("migrate", "verify_audit", "check_consistency")
"""Each in a process of its own: this one was started under another secret key."""


class Command(BaseCommand):
    help = "Restore a backup into an empty home and empty databases, and verify its audit log."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--keys", type=Path, required=True, help="folder of the backup's audit keys")

    def handle(self, *, folder: Path, keys: Path, **options: Any) -> None:
        with report_command_errors():
            for line in restore_backup(folder, keys):
                self.stdout.write(line)
        self.stdout.flush()
        for command in AFTER:
            words = [command, "--verbosity=0"] if command == "migrate" else [command]
            if subprocess.run([sys.executable, str(BASE_DIR / "manage.py"), *words], check=False).returncode:
                raise CommandError(f"`manage.py {command}` failed; the lines above say why.")
        self.stdout.write("Restored. `manage.py up` starts it.")
