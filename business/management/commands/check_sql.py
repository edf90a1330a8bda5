"""Check statements with guard and sandbox: JSON lines in, JSON lines out."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand

from authz.principal import Principal
from business.jsonl import read_jsonl
from business.sources.services import open_source
from business.statements.run_query import judge_statement
from copilot_site.lib.commands import read_text_file, report_command_errors


class Command(BaseCommand):
    help = "Read {id, sql} as JSON lines and write {id, verdict, reason, rewritten, rows?, error?} for one person."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="JSON lines; without it they come from standard input")
        parser.add_argument("--datasource", required=True, help="name of the data source")
        parser.add_argument("--as", dest="username", required=True, help="sign-in name of the person")
        parser.add_argument("--execute", action="store_true", help="run what is allowed and print its rows")

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            principal = Principal.named(options["username"])
            opened = open_source(principal, options["datasource"])
            lines = read_text_file(options["file"]).splitlines() if options["file"] else sys.stdin
            name = options["file"].name if options["file"] else "standard input"
            for row in read_jsonl(lines, keys=("id", "sql"), name=name):
                found = async_to_sync(judge_statement)(principal, opened, str(row["sql"]), execute=options["execute"])
                line = {"id": row["id"], **found.as_json()}
                self.stdout.write(json.dumps(line, ensure_ascii=False, default=str))
