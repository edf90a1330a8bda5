"""Measure a way from question to SQL: right, wrong, or handed on, for each database and language."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from business.connections.postgres_session import reading
from business.execute import Access, StatementResult, run_sql
from business.guard.refusal import SqlRefused
from evals.data.questions import Asked
from evals.data.rows import comparable, contains, is_part
from evals.data.ways import NotAnswered, Way

Detail = Mapping[str, Any]


async def ask_all(asked: Sequence[Asked], access: Access, way: Way) -> list[Detail]:
    """Ask the questions of one database; return what became of each. Raises ModelError where the way's model fails."""
    return [await _ask(one, access, way) for one in asked]


def report_of(details: Sequence[Detail]) -> dict[str, Any]:
    """Return the scores over all, of each database and of each language, and the details."""
    return {
        "total": _scores(details),
        "databases": _scores_by("database", details),
        "languages": _scores_by("language", details),
        "details": details,
    }


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
    if answer.total is not None:  # cut to the first rows, and said so: those must be gold's, and the number must be
        is_right = any(len(gold) == answer.total and is_part(*comparable(rows, gold)) for gold in expected)
        return ("right", "") if is_right else ("wrong", f"{answer.total} rows ≠ {len(expected[0])}")
    if any(contains(*comparable(rows, gold)) for gold in expected):
        return "right", ""
    mine, first = comparable(rows, expected[0])
    return "wrong", f"{mine[:3]} ≠ {first[:3]}"


async def _gold_rows(access: Access, sql: str) -> Sequence[Sequence[Any]]:
    async with reading(access.admin, time_zone=access.time_zone) as connection:
        await connection.execute("SET LOCAL search_path = public")
        cursor = await connection.execute(sql, prepare=True)  # type: ignore[arg-type,unused-ignore]  # the set's own
        return await cursor.fetchall()


def _scores_by(name: str, details: Sequence[Detail]) -> dict[str, dict[str, Any]]:
    groups = sorted({detail[name] for detail in details})
    return {group: _scores([detail for detail in details if detail[name] == group]) for group in groups}


def _scores(details: Sequence[Detail]) -> dict[str, Any]:
    """Count the verdicts. abstained: questions without an answer in the data that were rightly not answered."""
    verdicts = Counter(detail["verdict"] for detail in details if detail["is_answerable"])
    others = Counter(detail["verdict"] for detail in details if not detail["is_answerable"])
    answerable, unanswerable = verdicts.total(), others.total()
    answered, abstained = answerable - verdicts["handed on"], others["handed on"]
    wrong = verdicts["wrong"] + unanswerable - abstained
    ms = sorted(detail["ms"] for detail in details)
    return {
        "answerable": answerable,
        "right": verdicts["right"],
        "wrong": verdicts["wrong"],
        "handed_on": verdicts["handed on"],
        "refused": verdicts["refused"] + others["refused"],
        "unanswerable": unanswerable,
        "abstained": abstained,
        "ms": round(median(ms), 2) if ms else 0.0,
        "ms_p95": round(ms[int(0.95 * (len(ms) - 1))], 2) if ms else 0.0,
        "right_of_answered": round(verdicts["right"] / answered, 4) if answered else None,
        "execution_accuracy": round(verdicts["right"] / answerable, 4) if answerable else None,
        "wrong_rate": round(wrong / len(details), 4) if details else None,
    }
