"""The words that questions are asked with and that answers hold: patterns by name, as `wording.yaml` lists their parts."""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

_FILE: Final = Path(__file__).with_name("wording.yaml")


@cache
def _kept() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return loaded


def pattern(group: str, name: str) -> re.Pattern[str]:
    """Raises KeyError for a name that the file does not have."""
    return _compiled(parts(group, name))


def parts(group: str, name: str) -> list[str]:
    """What a list of the file holds, as it stands there."""
    found: list[str] = _kept()[group][name]
    return found


def patterns(group: str, name: str) -> dict[str, re.Pattern[str]]:
    """Several by their own names, in the order of the file."""
    return {each: _compiled(listed) for each, listed in _kept()[group][name].items()}


def _compiled(listed: list[str]) -> re.Pattern[str]:
    whole = "|".join(listed)
    for name, fragment in _kept()["fragments"].items():
        whole = whole.replace(f"<{name}>", fragment)
    return re.compile(whole, re.IGNORECASE)
