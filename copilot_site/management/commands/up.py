"""Start everything: services, migrations, model, demo data, workers, beat, web server; stop it on Ctrl-C or SIGTERM."""

import os
import subprocess
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.chain.db_owner import use_owner_role
from audit.chain.keys import ensure_signing_key
from copilot_site import doctor
from copilot_site.backup import MANIFEST, create_backup
from copilot_site.checks import nobody_signs_in_with_a_public_password
from copilot_site.config import BASE_DIR, load_config
from copilot_site.database_version import find_version_conflict, is_upgraded
from copilot_site.embedded import serve, services
from copilot_site.embedded.supervisor import Supervisor
from copilot_site.lib.commands import report_command_errors
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.version import VERSION
from copilot_site.startup_checks import require_safe_config


class Command(BaseCommand):
    """`manage.py up`. manage.py starts the embedded services before Django is loaded; we prepare, then become what serves."""

    help = "Start the whole system and stop it on Ctrl-C or SIGTERM. PORT=8001 chooses another port."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options for parts and addresses."""
        parser.add_argument("--services-only", action="store_true", help="Only the embedded PostgreSQL and Valkey.")
        parser.add_argument("--demo", action="store_true", help="Fill the database with the demo company.")
        parser.add_argument("--no-backup", action="store_true", help="Upgrade a database without a backup of it first.")
        parser.add_argument("--port", type=int, default=load_config().port, help="Port of the web server (or PORT=).")

    def handle(self, *, services_only: bool, demo: bool, no_backup: bool, port: int, **_: Any) -> None:
        """Start everything; return only with `services_only`."""
        if services_only:
            self._hold_services(Supervisor(settings.HOME.root / "processes.json"))
            return
        require_safe_config(load_config())
        host = load_config().host
        with serve.hold_single_instance(settings.HOME):
            Supervisor(settings.HOME.root / "processes.json").end_leftovers()
            serve.open_listening_socket(host, port).close()  # a port that is taken is known before minutes of work
            self._prepare_system(demo=demo, no_backup=no_backup)
        serve.replace_process(host, port, demo=demo)

    def _hold_services(self, supervisor: Supervisor) -> None:
        with supervisor.until_signal():
            for name in ("DATABASE_URL", "REDIS_URL"):
                self.stdout.write(f"export {name}={os.environ.get(name, '')}")
            self.stdout.write("PostgreSQL and Valkey answer. Ctrl-C stops them.")
            self.stdout.flush()
            supervisor.keep(services.list_service_parts(settings.HOME))

    def _prepare_system(self, *, demo: bool, no_backup: bool) -> None:
        """Prepare everything that processes need before they start; each step is quick when already done."""
        for found in (
            doctor.check_postgres(),
            doctor.check_connections(),
            doctor.check_pgvector(),
            doctor.check_broker(),
        ):
            if not found.ok:
                raise CommandError(f"{found.name}: {found.detail}. {found.mend}")
        self.upgrade(no_backup=no_backup)
        try:
            ensure_signing_key()
        except CopilotError as error:  # nothing is signed until somebody acts; the log itself goes on
            self._print_line(f"Audit: {error}")
        if settings.EMBEDDER == "bundled" and not (doctor.check_embedding_model().ok and doctor.check_word_list().ok):
            self._print_line("Model and dictionary: converting …")
            self._run_command("prepare_model")
        if demo:
            self._fill_demo()
        for danger in nobody_signs_in_with_a_public_password(databases=["default"]):
            raise CommandError(f"{danger.msg} {danger.hint}")
        if not (found := doctor.check_search_index()).ok:
            self._print_line(f"Index: {found.detail}. {found.mend}")

    def upgrade(self, *, no_backup: bool) -> None:
        """Apply migrations; before those of another version, make a backup."""
        with use_owner_role():
            if reason := find_version_conflict():
                raise CommandError(reason)
            is_due = is_upgraded() and not no_backup
        folder = settings.HOME.root / "backups" / f"before-{VERSION}-{timezone.localdate()}"
        if is_due and not (folder / MANIFEST).exists():  # a start that failed after its backup makes no second one
            self._print_line(f"Backup before the upgrade to {VERSION}: {folder} (`--no-backup` leaves it out) …")
            with report_command_errors():
                for line in create_backup(folder, folder.with_name(f"{folder.name}-keys")):
                    self._print_line(line)
        self._print_line("Database: applying migrations …")
        call_command("migrate", verbosity=0, interactive=False)

    def _fill_demo(self) -> None:
        from demo.unfinished import is_unfinished

        if is_unfinished():  # nothing is there, or an earlier start was interrupted
            self._print_line("Demo company: people, rights, documents …")
            self._run_command("seed_demo")

    def _run_command(self, command: str) -> None:
        """Run a command in a process of its own, so that this one, which stays, does not keep its memory."""
        done = subprocess.run([sys.executable, str(BASE_DIR / "manage.py"), command], check=False)
        if done.returncode:
            raise CommandError(f"`manage.py {command}` failed; the lines above say why.")

    def _print_line(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
