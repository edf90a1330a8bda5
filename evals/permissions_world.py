"""Make the documents and people of the permissions benchmark. Each document has facts that only it has, and look-alikes around it."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import yaml

SHARES = {"all": 1.0, "tenth": 0.1, "hundredth": 0.01, "thousandth": 0.001}  # of the documents, by person
_MADE_OF = Path(__file__).with_name("permissions_documents.yaml")


@dataclass(frozen=True)
class PermissionsDocument:
    """A document. code: only its text has it; number: only its title has it; question: only it answers it, and names neither."""

    id: str
    language: str
    title: str
    text: str
    question: str
    code: str
    number: str


@dataclass(frozen=True)
class PermissionsWorld:
    """Documents by id, and the ids of the documents that each person may read at the start."""

    documents: Mapping[str, PermissionsDocument]
    people: Mapping[str, frozenset[str]]


def make_permissions_world(count: int, seed: int) -> PermissionsWorld:
    """Make `count` documents, half of them Chinese, and a person for each of SHARES; the same ones for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - repeats a run, hides nothing
    made_of = yaml.safe_load(_MADE_OF.read_text(encoding="utf-8"))
    names = {
        language: sorted({"".join(parts) for parts in product(*part["names"])}) for language, part in made_of.items()
    }
    for known in names.values():
        chance.shuffle(known)
    codes = chance.sample(range(10_000, 100_000), 2 * count)
    documents = {}
    for place in range(count):
        language, number = "zh" if place % 2 else "en", place // 2
        words = {
            "name": names[language][number],
            "code": f"KX-{codes[2 * place]}",
            "number": f"DF-{codes[2 * place + 1]}",
        }
        filled = words | {"hour": chance.randint(5, 20), "hall": chance.randint(1, 40)}
        kind = {field: text.format(**filled) for field, text in made_of[language]["kinds"][number % 3].items()}
        id_ = f"{place:05d}"
        documents[id_] = PermissionsDocument(id_, language, **kind, code=words["code"], number=words["number"])
    order = sorted(documents)
    chance.shuffle(order)
    return PermissionsWorld(
        documents, {person: frozenset(order[: max(1, round(count * share))]) for person, share in SHARES.items()}
    )
