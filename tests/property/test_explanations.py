"""What is explained is what is decided: the rulebook and the statement agree on every person, right and place, after every step.

The histories are those of `test_visibility`, without its own comparisons.
"""

import os
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from authz.explanations.decision_reasons import Fate, Rulebook
from authz.explanations.explain import Reason, explain_decision
from authz.models import FolderUserGrant, PermissionSnapshot
from authz.people.groups import PersonHolders, list_people
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_base_ids, select_folder_ids
from authz.rights.snapshot import take_snapshot
from knowledge.governance.effective_rights import load_person, load_rulebook
from knowledge.models import Folder, KnowledgeBase
from knowledge.services import access
from tests.factories import allow, make_base, make_folder, make_user
from tests.property.rights_model import PEOPLE
from tests.property.test_visibility import Company
from tests.snapshots import folder_ids_in

pytestmark = pytest.mark.django_db

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
EXAMPLES, STEPS, MIN = (60, 40, 100_000) if NIGHTLY else (3, 15, 2_000)
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
CHECKED = {"decisions": 0}


class Explained(Company):
    """After each step: every right of every person on every place, asked of both."""

    def every_statement_shows_what_the_model_says(self) -> None:
        """Compared by `test_visibility`."""

    def a_document_without_exceptions_has_no_node(self) -> None:
        """Compared by `test_visibility`."""

    def the_doors_show_what_the_model_says(self) -> None:
        """Compared by `test_visibility`."""

    def a_token_narrows(self) -> None:
        """Compared by `test_visibility`; an explanation is about a person."""

    @invariant()
    def what_is_explained_is_what_is_decided(self) -> None:
        rules = load_rulebook([base.pk for base in self.rows.bases])
        users = User.objects.filter(pk__in=[user.pk for user in self.rows.people])
        persons = {person.id: person for person in list_people(users)}
        for number in range(PEOPLE):
            person, principal = persons[self.rows.people[number].pk], self.rows.principal(number)
            held = rules.held(person)
            for right in (Right.VIEW, Right.MANAGE):
                decided = _ids(principal, right)
                assert {pk for held_right, pk in held if held_right is right} == decided
                for place_id in rules.places:
                    found = explain_decision(rules.decide(person, right, place_id))
                    assert found.is_allowed == (place_id in decided)
                    assert found.is_allowed == (found.reason is Reason.GRANTED)
                    assert not found.is_allowed or (found.decisive and found.decisive.fate is Fate.ALLOWS)
                    assert found.is_allowed == (person.is_active and _is_shown_by_rows(rules, person, right, place_id))
                    CHECKED["decisions"] += 1
            if person.is_active:
                snapshot = PermissionSnapshot.objects.select_related("folders").get(pk=take_snapshot(principal))
                bases = {base.pk for base in self.rows.bases}
                assert folder_ids_in(snapshot) == _ids(principal, Right.VIEW) - bases


def _ids(principal: Any, right: Right) -> set[Any]:
    """Folders, nodes and bases, as the statements have them."""
    folders = Folder.unscoped.filter(pk__in=select_folder_ids(principal, right))
    bases = KnowledgeBase.unscoped.filter(pk__in=select_base_ids(principal, right))
    return {*folders.values_list("pk", flat=True), *bases.values_list("pk", flat=True)}


def _is_shown_by_rows(rules: Rulebook, person: PersonHolders, right: Right, place_id: UUID) -> bool:
    decision = rules.decide(person, right, place_id)
    return decision.nearest(Fate.ALLOWS) is not None and decision.nearest(Fate.DENIES) is None


@pytest.mark.parametrize(
    ("examples", "steps", "least"),
    [pytest.param(1, 6, 300, id="few"), pytest.param(EXAMPLES, STEPS, MIN, id="many")],
)
def test_explanations_and_statements_agree(examples: int, steps: int, least: int) -> None:
    CHECKED["decisions"] = 0
    run_state_machine_as_test(
        Explained,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=not NIGHTLY,
            database=None,
            suppress_health_check=QUIET,
            phases=(Phase.generate,),
        ),
    )
    print(f"{CHECKED['decisions']:,} decisions explained")
    assert CHECKED["decisions"] > least


def without_breaks(rules: Rulebook) -> Rulebook:
    return Rulebook({pk: replace(place, inherits=True) for pk, place in rules.places.items()}, rules.rows)


def without_denials(rules: Rulebook) -> Rulebook:
    return Rulebook(rules.places, {key: [row for row in rows if not row.is_denial] for key, rows in rules.rows.items()})


def without_ends(rules: Rulebook) -> Rulebook:
    return Rulebook(
        rules.places, {key: [replace(row, has_ended=False) for row in rows] for key, rows in rules.rows.items()}
    )


def test_a_reading_that_forgets_a_rule_disagrees() -> None:
    user, base = make_user(), make_base()
    allow(user, base)
    closed, denied, ended = (make_folder(base, name) for name in ("closed", "denied", "ended"))
    access.break_inheritance(None, closed)
    access.deny_place_rights(None, [Right.VIEW], denied, to=user)
    access.break_inheritance(None, ended)
    allow(user, ended)
    past = timezone.now() - timedelta(days=1)
    FolderUserGrant.objects.filter(user=user, content_object=ended).update(expires_at=past)
    rules, person = load_rulebook([base.pk]), load_person(user)
    decided = _ids(Principal.of(user), Right.VIEW)
    assert {pk for _right, pk in rules.held(person)} == decided
    assert {pk for pk in rules.places if _is_shown_by_rows(rules, person, Right.VIEW, pk)} == decided
    for reading in (without_breaks, without_denials, without_ends):
        other = reading(rules)
        seen = {pk for pk in rules.places if _is_shown_by_rows(other, person, Right.VIEW, pk)}
        assert seen > decided, reading.__name__
