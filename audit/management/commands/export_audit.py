"""`manage.py export_audit FILE --format jsonl`: the log as a file, and beside it the program that checks it."""

import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from audit import verify_export
from audit.export import export_entries, find_export_format
from audit.exports import FORMATS
from audit.selectors import EntryFilter
from copilot_site.lib.commands import check_output_file, report_command_errors
from copilot_site.lib.errors import Conflict


class Command(BaseCommand):
    help = "Export the audit log; recorded. jsonl holds all hashes and comes with its offline verifier."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=check_output_file)
        parser.add_argument("--format", dest="name", default="jsonl", help=f"one of {', '.join(FORMATS.names())}")

    def handle(self, *, file: Path, name: str, **options: Any) -> None:
        with report_command_errors():
            form = find_export_format(name)
            if file.exists():
                raise Conflict(_("%(file)s already exists. Choose another name.") % {"file": file})
            part = file.with_name(f"{file.name}.part")
            with part.open("wb") as out:
                out.writelines(export_entries(None, chosen=EntryFilter(), form=form))
            part.replace(file)
        self.stdout.write(f"Wrote {file}.")
        if form.name == "jsonl":
            program = shutil.copy(Path(verify_export.__file__), file.parent / "verify_export.py")
            self.stdout.write(f"Check it with: python3 {program} {file}")
