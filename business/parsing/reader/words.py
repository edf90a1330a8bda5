"""The words of a language, from its data file: what questions say besides the layer's own words."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from business.parsing.reader.units import key_of

FOLDER = Path(__file__).parent / "words"
LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Words:
    """roles: by the units of a phrase, the roles it may have, in the file's order; of `currency:EUR` also what stands before the colon.

    earlier, later: forms of a step from the time that stands, with {unit}.
    """

    roles: dict[tuple[str, ...], tuple[str, ...]]
    times: dict[str, Any]
    numbers: dict[str, int]
    scales: dict[str, int]
    begins: frozenset[tuple[str, ...]]
    refers: frozenset[tuple[str, ...]]
    earlier: tuple[str, ...]
    later: tuple[str, ...]


def entries(language: str) -> list[dict[str, Any]]:
    """The phrases of a language as the file has them: role, example, say."""
    found: list[dict[str, Any]] = _file(language)["phrases"]
    return found


@cache
def words_of(language: str) -> Words:
    data = _file(language)
    roles: dict[tuple[str, ...], tuple[str, ...]] = {}
    for entry in data["phrases"]:
        for phrase in entry["say"]:
            key = key_of(str(phrase))
            if key:
                own = (entry["role"].partition(":")[0], entry["role"])
                roles[key] = tuple(dict.fromkeys((*roles.get(key, ()), *own)))
    for grain, forms in data["times"]["grains"].items():
        for kind in ("each", "noun"):
            for phrase in forms[kind]:
                role = f"{'each_' if kind == 'each' else ''}grain:{grain}"
                roles[key_of(phrase)] = (role, *roles.get(key_of(phrase), ()))
    roles |= {key_of(phrase): ("state",) for phrase in data["states"]}
    changes = data["changes"]
    return Words(
        roles,
        data["times"],
        {str(word): number for word, number in data["numbers"].items()},
        {str(word): number for word, number in data["scales"].items()},
        frozenset(key_of(phrase) for phrase in changes["begins"]),
        frozenset(key_of(phrase) for phrase in changes["refers"]),
        tuple(changes["earlier"]),
        tuple(changes["later"]),
    )


@cache
def currencies() -> frozenset[str]:
    """The codes of the currencies that have a word."""
    said = (entry["role"].partition(":") for language in LANGUAGES for entry in entries(language))
    return frozenset(code for role, _colon, code in said if role == "currency" and code)


@cache
def _file(language: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    return data
