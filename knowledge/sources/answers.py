"""Answers of services that speak JSON, taken apart without trust in their shape."""

from typing import Any

from copilot_site.lib.json_input import loads_answer
from knowledge.sources.http import Answer


def read_json(answer: Answer) -> Any:
    """An object or a list; None for anything else."""
    try:
        said = loads_answer(answer.body)
    except ValueError:
        return None
    return said if isinstance(said, dict | list) else None


def dug(said: Any, *names: str) -> Any:
    """What lies at the end of these names; None where one of them is not there."""
    for name in names:
        said = said.get(name) if isinstance(said, dict) else None
    return said


def listed(said: Any, *names: str) -> list[dict[str, Any]]:
    """The objects of a list at the end of these names; empty where there is none."""
    found = dug(said, *names)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
