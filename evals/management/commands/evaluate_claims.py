"""`manage.py evaluate_claims FILE [--judge NAME] [--json OUT]`: sentences that people judged; what was wrong is listed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from json import dumps
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandParser

from agent.providers.configured import connect, required_model
from agent.providers.openai_compatible import ServedModel
from business.jsonl import read_jsonl
from copilot_site.lib.commands import file_to_write, one_sentence, read_text
from evals.answers.claims import Claim, ClaimReport, measured, scripted_judge
from evals.model.scripted_service import scripted_service

KEYS = ("id", "kind", "lang", "question", "evidence", "sentence", "supported")


class Command(BaseCommand):
    help = "Check the sentences of a file of claims, and count which right and wrong ones would be shown."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one claim a line, as JSON")
        parser.add_argument("--json", type=file_to_write, help="write the counts and every sentence to this file")
        parser.add_argument(
            "--judge",
            choices=("none", "scripted", "credulous", "model"),
            default="none",
            help="who reads what facts leave open: nobody, a script that is right, one that supports all, or the configured model",
        )
        parser.add_argument(
            "--today",
            type=date.fromisoformat,
            default=date(2026, 11, 21),
            help="the day that relative times count from",
        )

    def handle(self, *, file: Path, json: Path | None, judge: str, today: date, **options: Any) -> None:
        with one_sentence():
            rows = read_jsonl(read_text(file).splitlines(), keys=KEYS, name=file.name)
            claims = [Claim.model_validate(row) for row in rows]
            with _served(judge, claims) as served:
                report = async_to_sync(_measured)(claims, today, served).as_json()
        if json is not None:
            json.write_text(dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
        for name, sides in [*sorted(report["groups"].items()), ("all", report)]:
            told = "   ".join(
                f"{side} " + " ".join(f"{key} {sides[side][key]:>3}" for key in ("n", "kept", "marked", "dropped"))
                for side in ("right", "wrong")
            )
            self.stdout.write(f"{name:<16} {told}")
        for each in (each for each in report["details"] if each["is_wrong"]):
            side = "right" if each["supported"] else "wrong"
            self.stdout.write(
                f"{each['id']}: {side}, {each['outcome']} ({each['why'] or each['trap']}): {each['sentence']}"
            )


@contextmanager
def _served(judge: str, claims: Sequence[Claim]) -> Iterator[ServedModel | None]:
    """The judge that is asked for. Raises InvalidInput where no model is configured."""
    if judge in ("scripted", "credulous"):
        with scripted_service(scripted_judge(claims, believes_all=judge == "credulous")) as served:
            yield served
    elif judge == "model":
        yield required_model()
    else:
        yield None


async def _measured(claims: Sequence[Claim], today: date, served: ServedModel | None) -> ClaimReport:
    model = connect(served) if served else None
    try:
        return await measured(claims, today=today, judge=model)
    finally:
        if model is not None:
            await model.aclose()
