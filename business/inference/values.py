"""Find what a column's values mean: yes/no columns, and codes of states and countries with their names."""

from functools import cache
from pathlib import Path

import psycopg
import yaml
from psycopg import sql

from business.inference.catalog import Column, Table, query_column_rows
from business.semantic_layer.model import Value

_WRITTEN = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))
_NAMED = ("is_", "has_", "was_", "are_", "can_", "allow_")
_STATES = ("active", "enabled", "flag", "flg")
_COUNTED = ("num", "number", "count", "cnt", "total")


def build_flag_values(words: tuple[str, ...], yes: str, no: str) -> tuple[Value, ...]:
    """Return the values of a flag with their words: “active”, “final exam”."""
    return (Value(value=yes, synonyms=words), Value(value=no))


def find_text_flag(values: tuple[Value, ...]) -> tuple[str, str] | None:
    """Return a text column's words for yes and no; None for other values or none."""
    found = {value.value.lower(): value.value for value in values}
    for yes, no in _WRITTEN:
        if found and set(found) <= {yes, no}:
            one = next(iter(found.values()))
            return found.get(yes, _match_letter_case(yes, one)), found.get(no, _match_letter_case(no, one))
    return None


def is_numbered_flag(connection: psycopg.Connection, table: Table, column: Column) -> bool:
    """Return whether a number is named as a yes/no or as a past action, and holds both 1 and 0 and nothing else.

    `is_…` and `has_…` may hold only one of them.
    """
    name = column.name.lower()
    is_named = name.startswith(_NAMED)
    is_done = name.endswith(("ed", *_STATES)) and not name.startswith(_COUNTED)
    if column.category != "N" or column.name == table.key or not (is_named or is_done):
        return False
    question = (
        "SELECT bool_and({c} IN (0, 1)) AND count(DISTINCT {c}) >= {least} FROM (SELECT {c} FROM {t} LIMIT {n}) s"
    )
    return query_column_rows(connection, question, table, column, least=sql.Literal(1 if is_named else 2))


def _match_letter_case(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word.capitalize() if like[:1].isupper() else word


@cache
def _load_region_codes() -> dict[str, dict[str, str]]:
    codes: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("region_codes.yaml").read_text())
    return codes


def name_region_codes(column: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return a column's values with their names, if every value is a code of a state or country: “California” finds `CA`."""
    names: dict[str, str] = next((names for kind, names in _load_region_codes().items() if kind in column.lower()), {})
    if not values or not all(value.value in names for value in values):
        return values
    return tuple(value.model_copy(update={"synonyms": (names[value.value],)}) for value in values)
