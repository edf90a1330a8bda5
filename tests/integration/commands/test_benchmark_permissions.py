"""`manage.py benchmark permissions`: nothing of ours leaks, and a system that leaks is counted."""

import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from evals.permissions_benchmark import measure
from evals.permissions_systems import Shown
from evals.permissions_world import PermissionsWorld, make_permissions_world


class Careless:
    """A system that searches every document, shows its source to anybody, and tells how many documents there are."""

    name = "careless"

    def load(self, world: PermissionsWorld) -> None:
        self.world = world

    def grant(self, person: str, documents: Sequence[str]) -> None:
        pass

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        pass

    def ask(self, person: str, question: str, meanwhile: Callable[[], None] | None = None) -> Shown:
        found = next(one for one in self.world.documents.values() if one.question == question)
        if meanwhile:
            meanwhile()
        return Shown({"answer": found.text, "titles": found.title}, [found.id], [len(self.world.documents)])


def test_a_careless_system_is_counted_in_every_column() -> None:
    world = make_permissions_world(1_000, seed=3)
    found = measure(Careless(), world, questions=5, revocations=2, seed=3)
    assert {person: (tally.readable, tally.recalled) for person, tally in found.items()} == {
        "all": (5, 5), "tenth": (5, 5), "hundredth": (5, 5), "thousandth": (1, 1),
    }  # fmt: skip
    assert found["all"].leaks == {}
    assert found["all"].overcounted == 0
    assert found["hundredth"].leaks == {"answer": 5, "titles": 5, "sources": 5}
    assert found["hundredth"].overcounted == 10
    assert found["all"].late == {"answer": 2, "titles": 2, "sources": 2}


def test_names_codes_and_questions_of_the_world_are_one_document_s_alone() -> None:
    world = make_permissions_world(1_000, seed=3)
    made = world.documents.values()
    for values in ([one.question for one in made], [one.code for one in made], [one.number for one in made]):
        assert len(set(values)) == len(made)
    assert not any(one.code in other.text for one in list(made)[:50] for other in made if other is not one)
    assert world == make_permissions_world(1_000, seed=3)


@pytest.mark.django_db(transaction=True)
def test_nothing_leaks_and_everything_readable_is_found(tmp_path: Path) -> None:
    report = tmp_path / "permissions.json"
    words = ["--documents", "6", "--questions", "2", "--revocations", "1", "--json", str(report)]
    call_command("benchmark", "permissions", *words, stdout=StringIO())
    rows = {row["name"]: (row["ours"], row["peer"]) for row in json.loads(report.read_text())["rows"]}
    assert rows["sees 100.0%: found"] == (100, 100)
    assert {ours for name, (ours, _peer) in rows.items() if "found" not in name} == {0}
    assert rows["sees 10.0%: leaks after a revocation"] == (0, 3), "the baseline shows what it read before"
