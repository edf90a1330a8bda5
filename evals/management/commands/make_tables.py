"""`manage.py make_tables DIR --seed N --count M`: random tables as files with their expected.json, for `evaluate_parsing`."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from copilot_site.lib.commands import one_sentence
from evals.documents.tables import make_tables


class Command(BaseCommand):
    help = "Write random tables as HTML, DOCX, XLSX, CSV, Markdown and PPTX in turn, and what is expected of them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="is made; files of the same names are written anew")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--count", type=int, default=60, help="files")

    def handle(self, *, folder: Path, seed: int, count: int, **options: Any) -> None:
        with one_sentence():
            folder.mkdir(parents=True, exist_ok=True)
            expected = make_tables(folder, seed=seed, count=count)
            (folder / "expected.json").write_text(json.dumps(expected, indent=0, ensure_ascii=False), "utf-8")
        self.stdout.write(f"{count} files with {len(expected)} expected cells and parts in {folder}.")
