"""`manage.py evaluate_sql DIR --as USER`: measure the way from questions to SQL on sets of questions with their databases."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from asgiref.sync import async_to_sync
from django.core.management.base import CommandParser

from agent.providers.base import ModelError
from agent.providers.configured import connect, require_served_model
from authz.principal import Principal
from business.connections.postgres_session import open_read_only
from business.execute import Access, StatementResult, run_sql
from business.guard.refusal import SqlRefused
from business.logical_query.catalog import Catalog
from copilot_site.lib.errors import InvalidInput
from evals.command import Detail, by_group
from evals.question_sets import Asked, QuestionSetCommand, access_of, loaded, questions_by_database, stored_linker
from evals.report import percentile
from evals.rows import comparable, matches
from evals.sql_ways import ModelWay, NotAnswered, Way, WordsWay, examples_for, served_gold


class Command(QuestionSetCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--as", dest="username", required=True, help="sign-in name of the person")
        parser.add_argument(
            "--today", type=date.fromisoformat, help="date that “last month” is counted from; default: today"
        )
        parser.add_argument(
            "--way", choices=("reader", "model"), default="reader", help="which way reads the questions"
        )
        parser.add_argument(
            "--replies",
            choices=("gold-sql",),
            default="",
            help="what replies instead of the configured language model: the gold statement",
        )
        parser.add_argument("--drafted", action="store_true", help="draft every layer, also where one is written")

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        principal, details = Principal.named(options["username"]), list[Detail]()
        for name, asked in questions_by_database(options):
            with loaded(name, options["folder"], options["databases"], drafted=options["drafted"]) as (address, layer):
                access = access_of(address, layer, principal)
                today = options["today"] or datetime.now(ZoneInfo(layer.time_zone)).date()
                if options["way"] == "reader":
                    details += async_to_sync(_ask_all)(asked, access, WordsWay(Catalog.of(layer), today))
                else:
                    replies = served_gold(asked) if options["replies"] else nullcontext(require_served_model())
                    with replies as served, stored_linker(layer) as linker:
                        way = ModelWay(connect(served), linker, examples_for(principal, asked), today)
                        details += async_to_sync(_ask_model)(asked, access, way)
        return {
            "total": _scores(details),
            "databases": by_group(details, _scores, "database"),
            "languages": by_group(details, _scores, "language"),
            "details": details,
        }


async def _ask_model(asked: Sequence[Asked], access: Access, way: ModelWay) -> list[Detail]:
    """Ask the questions of one database of a model. Raises InvalidInput where it fails."""
    try:
        return await _ask_all(asked, access, way)
    except ModelError as error:
        raise InvalidInput(f"The language model fails: {error}.") from error
    finally:
        await way.model.aclose()


async def _ask_all(asked: Sequence[Asked], access: Access, way: Way) -> list[Detail]:
    return [await _ask(one, access, way) for one in asked]


async def _ask(one: Asked, access: Access, way: Way) -> Detail:
    """Ask one question. ms: from its words to a statement, without a model's time."""
    sql, began, waited_s = "", time.perf_counter(), way.waited_s
    try:
        try:
            sql = await way.write(one.question)
        finally:
            ms = (time.perf_counter() - began - way.waited_s + waited_s) * 1000
        sql, answer = await _run(one, sql, access, way)
        verdict, note = await _verdict(one, access, answer)
    except NotAnswered as error:
        verdict, note = "handed on", str(error)
    except SqlRefused as refused:
        verdict, note = "refused", str(refused)
    known = {"id": one.id, "question": one.question, "database": one.database, "language": one.language}
    found = {"verdict": verdict, "sql": sql, "note": note, "ms": ms}
    return known | {"is_answerable": one.is_answerable} | found


async def _run(one: Asked, sql: str, access: Access, way: Way) -> tuple[str, StatementResult]:
    """Run a statement; where it is refused, run once what the way makes of the refusal."""
    try:
        return sql, await run_sql(access, sql)
    except SqlRefused as refused:
        repaired = await way.repair(one.question, sql, refused)
    return repaired, await run_sql(access, repaired)


async def _verdict(one: Asked, access: Access, answer: StatementResult) -> tuple[str, str]:
    """Compare an answer with the gold rows; return right or wrong, and how it differs."""
    if not one.is_answerable:
        return "wrong", "answered what cannot be answered"
    rows = answer.rows.rows if answer.rows else ()
    expected = [await _gold_rows(access, gold) for gold in one.golds]
    if any(matches(rows, gold, answer.total) for gold in expected):
        return "right", ""
    mine, first = comparable(rows, expected[0])
    return "wrong", f"{answer.total or len(mine)} rows, {mine[:3]} ≠ {len(first)} rows, {first[:3]}"


async def _gold_rows(access: Access, sql: str) -> Sequence[Sequence[Any]]:
    async with open_read_only(access.admin, time_zone=access.time_zone) as connection:
        await connection.execute("SET LOCAL search_path = public")
        cursor = await connection.execute(sql, prepare=True)  # type: ignore[arg-type,unused-ignore]  # the set's own
        return await cursor.fetchall()


def _scores(details: Sequence[Detail]) -> dict[str, Any]:
    """Count the verdicts. abstained: questions without an answer in the data that were rightly not answered."""
    verdicts = Counter(detail["verdict"] for detail in details if detail["is_answerable"])
    others = Counter(detail["verdict"] for detail in details if not detail["is_answerable"])
    answerable, unanswerable = verdicts.total(), others.total()
    answered, abstained = answerable - verdicts["handed on"], others["handed on"]
    wrong = verdicts["wrong"] + unanswerable - abstained
    ms = [detail["ms"] for detail in details]
    return {
        "answerable": answerable,
        "right": verdicts["right"],
        "wrong": verdicts["wrong"],
        "handed_on": verdicts["handed on"],
        "refused": verdicts["refused"] + others["refused"],
        "unanswerable": unanswerable,
        "abstained": abstained,
        "ms": round(percentile(ms, 50), 2),
        "ms_p95": round(percentile(ms, 95), 2),
        "right_of_answered": round(verdicts["right"] / answered, 4) if answered else None,
        "execution_accuracy": round(verdicts["right"] / answerable, 4) if answerable else None,
        "wrong_rate": round(wrong / len(details), 4) if details else None,
    }
