"""The words of both languages, from their data file, that questions use besides the layer's."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from business.parsing.reader.units import key_of

FILE = Path(__file__).parent / "words.yaml"
Key = tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """roles: by the units of a phrase, the roles it may have; `currency:EUR`, `grain:month`, `each_grain:month`, and `state` for what is
    made of small words and means something. changes: how a question leans on the one before it.
    """

    roles: dict[Key, tuple[str, ...]]
    times: dict[str, Any]
    numbers: dict[str, int]
    scales: dict[str, int]
    changes: dict[str, frozenset[Key]]
    steps: dict[int, tuple[str, ...]]


@cache
def words() -> Words:
    data = word_lists()
    roles: dict[Key, tuple[str, ...]] = {}
    for role, phrases in data["roles"].items():
        for phrase in phrases:
            key = key_of(phrase)
            roles[key] = (*roles.get(key, ()), role)
    for grain, forms in data["times"]["grains"].items():
        roles |= {key_of(phrase): (f"grain:{grain}",) for phrase in forms["noun"]}
        roles |= {key_of(phrase): (f"each_grain:{grain}",) for phrase in forms["each"]}
    for kind, listed in (("currency", data["currencies"]), ("unit", data["units"])):
        roles |= {key_of(phrase): (f"{kind}:{code}",) for code, phrases in listed.items() for phrase in phrases}
    roles |= {key_of(phrase): ("state",) for phrase in data["states"]}
    changes = {name: frozenset(map(key_of, data["changes"][name])) for name in ("begins", "refers", "asks")}
    steps = {-1: tuple(data["changes"]["earlier"]), 1: tuple(data["changes"]["later"])}
    return Words(roles, data["times"], data["numbers"], data["scales"], changes, steps)


@cache
def word_lists() -> dict[str, Any]:
    """Return the data file's content."""
    data: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return data
