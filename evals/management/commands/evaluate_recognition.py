"""`manage.py evaluate_recognition`: characters that are read wrongly from pictures of pages, with the time and memory it takes."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from copilot_site.lib.commands import file_to_write
from evals.documents.recognition import peak_mib, read_pages


class Command(BaseCommand):
    help = "Draw pages of PDFs as a scanner would, read them, and count the characters that differ from the PDFs' own text."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, help="PDFs with text, in one column")
        parser.add_argument("--tilt", type=float, default=0.0, help="degrees")
        parser.add_argument("--noise", type=float, default=0.0, help="standard deviation, of 256 shades")
        parser.add_argument("--json", type=file_to_write, help="write all figures here")

    def handle(self, **options: Any) -> None:
        for path in options["files"]:
            if not path.is_file():
                raise CommandError(f"{path} is no file. Name PDFs that have text.")
        pages = [
            page
            for path in options["files"]
            for page in read_pages(path, tilt_degrees=options["tilt"], noise=options["noise"])
        ]
        if not pages:
            raise CommandError("None of these pages has text to compare with. Name PDFs that have text.")
        wrong, count = sum(page.wrong for page in pages), sum(page.characters for page in pages)
        for page in pages:
            share = 100 * page.wrong / page.characters
            self.stdout.write(f"{page.file} {page.number}: {share:.2f} % of {page.characters}, {page.seconds:.1f} s")
        report = {
            "pages": len(pages),
            "characters": count,
            "wrong_percent": round(100 * wrong / count, 3),
            "seconds_a_page": round(sum(page.seconds for page in pages) / len(pages), 2),
            "peak_mib": peak_mib(),
        }
        self.stdout.write(json.dumps(report))
        if options["json"]:
            text = json.dumps(report | {"each": [asdict(page) for page in pages]}, indent=2, ensure_ascii=False)
            options["json"].write_text(text + "\n", encoding="utf-8")
