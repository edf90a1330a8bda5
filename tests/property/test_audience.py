"""In front of others, each way to read shows what all of them may read, as `rights_model` says it of each: no more, and no less.

The company and its history are those of `test_visibility`; who stands before whom changes with every step.
"""

from dataclasses import replace

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

import authz.rights.folders
from authz.permissions import Right
from authz.principal import Principal
from tests.property.rights_model import PEOPLE
from tests.property.rights_ways import DECISIONS, Ways
from tests.property.test_visibility import QUIET, Company

pytestmark = pytest.mark.django_db

STEPS = 12


class Gathering(Company):
    """The same history, looked at together; what each sees alone is compared elsewhere."""

    every_statement_shows_what_the_model_says = None  # type: ignore[assignment]
    the_right_to_manage_is_what_the_model_says = None  # type: ignore[assignment]
    a_document_without_exceptions_has_no_node = None  # type: ignore[assignment]
    a_token_narrows = None  # type: ignore[assignment]
    the_doors_show_what_the_model_says = None  # type: ignore[assignment]

    @invariant()
    def a_group_sees_what_all_of_it_see(self) -> None:
        self.step += 1
        for size in range(1, PEOPLE + 1):
            people = [(self.step + place) % PEOPLE for place in range(size)]
            ways = Ways(self.rows, people[0], self._before(people))
            expected = self._together(people, Right.VIEW, "document")
            ways.compare(expected, [ways.documents, ways.statements()[(self.step + size) % len(ways.statements())]])
            assert ways.counted() == len(expected), f"{ways.counted()} are counted instead of {len(expected)}"
            self._same(ways.folders(), self._together(people, Right.VIEW, "folder"))
            ways.compare(self._together(people, Right.MANAGE, "document"), [ways.managed_documents])

    def _before(self, people: list[int]) -> Principal:
        others = frozenset(self.rows.people[number].pk for number in people[1:])
        return replace(self.rows.principal(people[0]), audience=others)

    def _together(self, people: list[int], right: Right, kind: str) -> list[int]:
        return sorted(set.intersection(*(set(self.model.holding(number, right, kind)) for number in people)))


def run(examples: int) -> None:
    run_state_machine_as_test(
        Gathering,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            derandomize=True,
            report_multiple_bugs=False,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=QUIET,
        ),
    )


@pytest.mark.parametrize(("examples", "least"), [pytest.param(1, 600, id="few"), pytest.param(6, 4_000, id="many")])
def test_what_a_group_sees_is_the_intersection(examples: int, least: int) -> None:
    DECISIONS.clear()
    run(examples)
    assert DECISIONS["documents"] >= least


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("count(*) = (SELECT count(*) FROM one)", "count(*) >= 1"),
        ("WHERE (SELECT count(*) FROM person) = cardinality({people})", "WHERE true"),
    ],
    ids=["one is enough", "who is gone does not count"],
)
def test_a_statement_with_a_mistake_is_caught(monkeypatch: pytest.MonkeyPatch, right: str, wrong: str) -> None:
    assert right in authz.rights.folders._ALL
    monkeypatch.setattr(authz.rights.folders, "_ALL", authz.rights.folders._ALL.replace(right, wrong))
    with pytest.raises(AssertionError, match="instead of"):
        run(6)
