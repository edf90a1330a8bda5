"""Measuring a way from question to SQL: right, wrong, or handed on, for each database and language.

A gold answer may have several statements (`;`) and alternative columns (`{a, b}`: any one of them, repeated where `{}` stands).
An answer is right when the columns of one gold result are all among its own, with the same rows in any order.
"""

import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

from authz.principal import Principal
from business.address import Address
from business.execute import Access, Answer, run_sql
from business.guard.refusal import SqlRefused
from business.introspect import draft_layer, fill_values
from business.jsonl import read_jsonl
from business.postgres_session import reading
from business.scratch_database import scratch_database
from business.semantic_layer.model import OrgUnit, SemanticLayer
from business.semantic_layer.rights import policy_of
from business.semantic_layer.yaml_io import read_layer
from copilot_site.lib.commands import read_text
from copilot_site.lib.errors import InvalidInput

MOST_GOLDS = 24  # alternatives of one question that are looked at, where none of them is run
Value = str | float | None
_PERIOD = re.compile(r"(?P<year>\d{4})(?:-(?P<month>0[1-9]|1[0-2])|[- ]?Q(?P<quarter>[1-4]))")
Table = tuple[tuple[Value, ...], ...]
_HAN = re.compile(r"[\u3400-\u9fff]")


class NotAnswered(Exception):
    """A way hands a question on; the text says why."""


@dataclass(frozen=True)
class Statement:
    sql: str


@dataclass(frozen=True)
class Way:
    """write: the statement of a question; raises NotAnswered. repair: once more, of one that was refused (question, sql, why).

    waited_s: how long it has waited for a language model in all.
    """

    write: Callable[[str], Awaitable[Statement]]
    repair: Callable[[str, str, str], Awaitable[Statement]] | None = None
    waited_s: Callable[[], float] = float


@dataclass(frozen=True)
class Asked:
    id: str
    question: str
    gold: str
    database: str
    is_answerable: bool


@dataclass
class Scores:
    """Of one database, or language. handed_on: not answered; rightly so where the question has no answer there.

    ms: of each question, from its words to a statement, without a
    model's time.
    """

    answerable: int = 0
    right: int = 0
    wrong: int = 0
    handed_on: int = 0
    refused: int = 0
    unanswerable: int = 0
    abstained: int = 0
    ms: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        asked, answered = self.answerable + self.unanswerable, self.answerable - self.handed_on
        wrong = self.wrong + self.unanswerable - self.abstained
        return asdict(self) | {
            "ms": round(median(self.ms), 2) if self.ms else 0.0,
            "ms_p95": round(sorted(self.ms)[int(0.95 * (len(self.ms) - 1))], 2) if self.ms else 0.0,
            "right_of_answered": round(self.right / answered, 4) if answered else None,
            "execution_accuracy": round(self.right / self.answerable, 4) if self.answerable else None,
            "wrong_rate": round(wrong / asked, 4) if asked else None,
        }


@dataclass
class Report:
    databases: dict[str, Scores] = field(default_factory=dict)
    languages: dict[str, Scores] = field(default_factory=dict)
    details: list[dict[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        total = Scores()
        for scores in self.databases.values():
            for name, value in vars(scores).items():
                setattr(total, name, getattr(total, name) + value)
        return {
            "total": total.as_json(),
            "databases": {name: scores.as_json() for name, scores in sorted(self.databases.items())},
            "languages": {name: scores.as_json() for name, scores in sorted(self.languages.items())},
            "details": self.details,
        }


def read_asked(row: dict[str, Any]) -> Asked:
    """A line of a question file; sets of unanswerable questions are called idk, or say `answerable: false`."""
    answerable = bool(row.get("answerable", row.get("set") != "idk"))
    return Asked(str(row["id"]), str(row["question"]), str(row.get("query", "")), str(row["db_name"]), answerable)


def questions_in(folder: Path, pattern: str) -> list[Asked]:
    """The questions of the files of a folder. Raises InvalidInput where none is called so, or with the line that is none."""
    try:
        files = sorted(file for file in folder.glob(pattern) if file.is_file())
    except (ValueError, NotImplementedError) as error:  # empty, or absolute
        raise InvalidInput(
            f"“{pattern}” names no files of a folder ({error}); write something like questions.*.jsonl."
        ) from error
    if not files:
        raise InvalidInput(f"There is no {pattern} in {folder}.")
    keys = ("id", "question", "db_name")
    return [read_asked(row) for f in files for row in read_jsonl(read_text(f).splitlines(), keys=keys, name=f.name)]


def in_short(report: dict[str, Any], file: Path | None) -> str:
    """A report without its single questions; whole it is written to the file."""
    if file:
        file.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n")
    return json.dumps({key: report[key] for key in ("total", "languages", "databases")}, ensure_ascii=False, indent=1)


def language_asked(one: Asked) -> str:
    return "zh" if _HAN.search(one.question) else "en"


@contextmanager
def loaded(
    name: str, folder: Path, seeds: Sequence[Path], *, drafted: bool = False
) -> Iterator[tuple[Address, SemanticLayer]]:
    """A database of the set, and its layer: `layers/<name>.yaml`, else drafted. drafted: in any case, in the same time zone."""
    seed = next((s / f"{name}.sql" for s in seeds if (s / f"{name}.sql").is_file()), None)
    if seed is None:
        raise InvalidInput(f"There is no {name}.sql in {', '.join(map(str, seeds))}.")
    written = folder / "layers" / f"{name}.yaml"
    known = read_layer(read_text(written)) if written.is_file() else None
    with scratch_database(seed) as address:
        if known is not None and not drafted:
            layer = fill_values(address, known)
        else:
            layer = draft_layer(address, "scratch", time_zone=known.time_zone if known else "UTC")
        yield address, opened_to_all(layer)


def opened_to_all(layer: SemanticLayer) -> SemanticLayer:
    """A scratch database is everybody's: every table is read whole, as the gold statements read it."""
    shared = OrgUnit(shared_with="everyone")
    models = tuple(m.model_copy(update={"org_unit": shared}) for m in layer.semantic_models)
    return layer.model_copy(update={"semantic_models": models})


def access_of(address: Address, layer: SemanticLayer, principal: Principal) -> Access:
    """What the person's statements run against."""
    policy = policy_of(layer, principal.org_units, granted=(), source_granted=True)
    return Access(address, policy, time_zone=layer.time_zone)


async def evaluate(asked: Sequence[Asked], access: Access, way: Way, report: Report, *, execute: bool) -> None:
    """Ask every question of one database, and add to the report. Raises ModelError where the way needs a model and it fails."""
    for one in asked:
        found = await _asked(one, access, way, execute=execute)
        for scores in (
            report.databases.setdefault(one.database, Scores()),
            report.languages.setdefault(language_asked(one), Scores()),
        ):
            _count(one, found, scores)
        told = {"id": one.id, "question": one.question}
        report.details.append(told | {"verdict": found.verdict, "sql": found.statement.sql, "note": found.note})


@dataclass
class _Found:
    """What became of a question."""

    verdict: str = ""
    note: str = ""
    statement: Statement = Statement("")
    ms: float = 0.0


async def _asked(one: Asked, access: Access, way: Way, *, execute: bool) -> _Found:
    found = _Found()
    began, waited = time.perf_counter(), way.waited_s()
    try:
        try:
            found.statement = await way.write(one.question)
        finally:
            found.ms = (time.perf_counter() - began - way.waited_s() + waited) * 1000
        answer = await _run(one, found, access, way, execute=execute)
    except NotAnswered as error:
        found.verdict, found.note = "handed on", str(error)
    except SqlRefused as refused:
        found.verdict, found.note = "refused", str(refused)
    else:
        found.verdict, found.note = await _verdict(one, access, answer) if execute else ("answered", "")
    return found


async def _run(one: Asked, found: _Found, access: Access, way: Way, *, execute: bool) -> Answer:
    """The answer; where the statement is refused, of what the way makes of the refusal, once."""
    try:
        return await run_sql(access, found.statement.sql, execute=execute)
    except SqlRefused as refused:
        if way.repair is None:
            raise
        found.statement = await way.repair(one.question, found.statement.sql, str(refused))
    return await run_sql(access, found.statement.sql, execute=execute)


def _count(one: Asked, found: _Found, scores: Scores) -> None:
    scores.answerable += one.is_answerable
    scores.unanswerable += not one.is_answerable
    scores.ms.append(found.ms)
    if found.verdict == "handed on":
        scores.handed_on += one.is_answerable
        scores.abstained += not one.is_answerable
    else:
        scores.right += found.verdict == "right" and one.is_answerable
        scores.wrong += found.verdict == "wrong" and one.is_answerable
        scores.refused += found.verdict == "refused"


async def _verdict(one: Asked, access: Access, answer: Answer) -> tuple[str, str]:
    if not one.is_answerable:
        return "wrong", "answered what cannot be answered"
    rows = answer.rows.rows if answer.rows else ()
    expected = [await _gold_rows(access, gold) for gold in alternatives(one.gold)]
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


def alternatives(gold: str) -> list[str]:
    """Every statement that counts as gold: each of several, with each of its alternative columns."""
    found = []
    for statement in filter(None, (part.strip() for part in gold.split(";"))):
        braces = re.findall(r"\{([^}]+)\}", statement)
        for chosen in itertools.product(*[[c.strip() for c in group.split(",")] for group in braces]):
            text = statement
            for column in chosen:
                text = re.sub(r"\{[^}]+\}", lambda _m, column=column: column, text, count=1)  # type: ignore[misc]
            found.append(text.replace("{}", ", ".join(chosen)))
    return found


def comparable(rows: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]]) -> tuple[Table, Table]:
    """An answer's rows and the gold's as values that can be compared.

    Numbers have nine digits; where gold counted in floating point, six: a sum of `real` is exact to no more, and depends on the
    order of rows.
    """
    digits = 6 if any(isinstance(value, float) for row in gold for value in row) else 9
    return _table(rows, digits), _table(gold, digits)


def _table(rows: Sequence[Sequence[Any]], digits: int) -> Table:
    return tuple(tuple(_value(value, digits) for value in row) for row in rows)


def _value(value: Any, digits: int) -> Value:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float | Decimal):
        return float(f"{float(value):.{digits}g}")
    if isinstance(value, datetime) and (value.hour, value.minute, value.second) == (0, 0, 0):
        return value.date().isoformat()
    return _day_of(str(value).strip())


def _day_of(text: str) -> str:
    """A month (2023-04) or a quarter (2023 Q2) as the first day of it, as `date_trunc` writes it; any other text as it is."""
    found = _PERIOD.fullmatch(text)
    if found is None:
        return text
    month = int(found["month"] or 3 * int(found["quarter"]) - 2)
    return f"{found['year']}-{month:02}-01"


def is_part(answer: Table, gold: Table) -> bool:
    """Whether the rows of an answer that was cut are, in some of its columns, rows of the gold."""
    if not answer or not gold:
        return not answer
    chosen = itertools.islice(itertools.permutations(range(len(answer[0])), len(gold[0])), 1_000)
    return any(not Counter(tuple(row[i] for i in columns) for row in answer) - Counter(gold) for columns in chosen)


def contains(answer: Table, gold: Table) -> bool:
    """Whether some columns of an answer, in some order, are the gold's, with the same rows."""
    if len(answer) != len(gold):
        return False
    if not gold:
        return True
    columns = list(zip(*answer, strict=True))
    wanted = list(zip(*gold, strict=True))
    counted = [Counter(column) for column in columns]
    fits = [[i for i, have in enumerate(counted) if have == Counter(want)] for want in wanted]
    rows = Counter(gold)
    for chosen in itertools.islice(itertools.product(*fits), 1_000):
        if len(set(chosen)) == len(chosen) and Counter(tuple(row[i] for i in chosen) for row in answer) == rows:
            return True
    return False
