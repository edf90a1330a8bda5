"""Compare the rows of an answer with those of gold statements.

A gold answer may have several statements (`;`) and alternative columns (`{a, b}`: any one of them, repeated where `{}` stands).
An answer is right when the columns of one gold result are all among its own, with the same rows in any order.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

Value = str | float | None
Table = tuple[tuple[Value, ...], ...]
_PERIOD = re.compile(r"(?P<year>\d{4})(?:-(?P<month>0[1-9]|1[0-2])|[- ]?Q(?P<quarter>[1-4]))")


def alternatives(gold: str) -> list[str]:
    """Return every statement that counts as gold: each of several, with each of its alternative columns."""
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
    """Return an answer's rows and the gold's as values that can be compared.

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
    """Return a month (2023-04) or a quarter (2023 Q2) as its first day, as `date_trunc` writes it; any other text as it is."""
    found = _PERIOD.fullmatch(text)
    if found is None:
        return text
    month = int(found["month"] or 3 * int(found["quarter"]) - 2)
    return f"{found['year']}-{month:02}-01"


def matches(rows: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]], total: int | None) -> bool:
    """Tell whether an answer has the rows of a gold result. total: of an answer that was cut, and says so: it has the first of as many."""
    if total is not None:
        return total == len(gold) and _is_part(*comparable(rows, gold))
    return contains(*comparable(rows, gold))


def _is_part(answer: Table, gold: Table) -> bool:
    """Tell whether the rows of an answer that was cut are, in some of its columns, rows of the gold."""
    if not answer or not gold:
        return not answer
    chosen = itertools.islice(itertools.permutations(range(len(answer[0])), len(gold[0])), 1_000)
    return any(not Counter(tuple(row[i] for i in columns) for row in answer) - Counter(gold) for columns in chosen)


def contains(answer: Table, gold: Table) -> bool:
    """Tell whether some columns of an answer, in some order, are the gold's, with the same rows."""
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
