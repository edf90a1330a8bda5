"""Read and write JSON lines, for commands."""

from collections.abc import Iterable, Iterator
from typing import Any

from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.text.json_input import NestedTooDeeply, load_json


def read_jsonl(lines: Iterable[str], *, keys: Iterable[str], name: str) -> Iterator[dict[str, Any]]:
    """Yield one object a line, skipping blank lines. Raises InvalidInput with the line if it lacks these keys."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = load_json(line)
        except NestedTooDeeply as error:
            raise InvalidInput(f"{name}, line {number}: this is nested too deeply.") from error
        except ValueError as error:
            raise InvalidInput(f"{name}, line {number}: this is not JSON: {getattr(error, 'msg', error)}.") from error
        missing = [key for key in keys if not isinstance(row, dict) or key not in row]
        if missing:
            raise InvalidInput(f"{name}, line {number}: the key {missing[0]} is missing.")
        yield row
