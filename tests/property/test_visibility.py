"""Whatever happens to the tree, the groups, the units and the grants: each way to read shows what `rights_model` says.

`few` compares more than 700 decisions (person × document), `many` more than 20,000, and with HYPOTHESIS_PROFILE=nightly more than
200,000; the counts are printed.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from authz.people import units
from authz.permissions import Right
from copilot_site.lib.errors import InvalidInput
from knowledge.models import KnowledgeBase
from knowledge.services import access
from knowledge.services.access_nodes import move_document_with_node
from knowledge.services.folders import rename_and_move_folder
from knowledge.services.removal import remove_document
from tests.property.rights_model import BASES, GROUPS, PEOPLE, UNITS, Holder, Model, Place
from tests.property.rights_rows import Rows
from tests.property.rights_ways import DECISIONS, Ways

pytestmark = pytest.mark.django_db

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
EXAMPLES, STEPS, MIN = (75, 30, 200_000) if NIGHTLY else (8, 24, 20_000)
FOLDERS, DOCUMENTS = 7, 24  # made at the start of an example; more come on the way
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

which = st.integers(0, 99)  # taken modulo what there is
rights = st.sampled_from([Right.VIEW, Right.VIEW, Right.VIEW, Right.MANAGE])


class Company(RuleBasedStateMachine):
    """The model and the rows go through the same history; after each step every person's view of both is compared."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.made = self.step = 0
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.rows = Rows()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    @initialize(seed=st.lists(which, min_size=FOLDERS + DOCUMENTS, max_size=FOLDERS + DOCUMENTS))
    def build(self, seed: list[int]) -> None:
        for number in range(BASES):
            self._add("folder", ("base", number), self.rows.add_root)
        for parent in seed[:FOLDERS]:
            self.add_folder(parent)
        for folder in seed[FOLDERS:]:
            self.add_document(folder)
        for group in range(GROUPS + UNITS):
            self.join_or_leave(group, group)
            self.join_or_leave(2 * group + 1, group)
        for unit in range(1, UNITS):
            self.move_unit(unit, unit - 1)
        for holder in range(PEOPLE + GROUPS + UNITS):
            self.allow(holder, seed[holder], Right.VIEW, False)
        for holder, place in enumerate(seed[10:14]):
            self.allow(holder, place, Right.VIEW, True)
        for number, place in zip(seed[2::10], seed[3::10], strict=False):
            self.break_below_a_grant(number, place)
        for number, place in zip(seed[::4], seed[1::4], strict=False):
            self.deny_around_a_grant(number, place, number + place)
        for at in sorted(self.model.closed)[:1]:  # what a break does not cut
            self._give(("user", 0), at, Right.VIEW)
            self._deny(("user", 0), self.model.above[at], Right.VIEW)
        self.disable_or_enable(PEOPLE - 1)

    @rule(parent=which)
    def add_folder(self, parent: int) -> None:
        self._add("folder", self._one("folder", parent), self.rows.add_folder)

    @rule(folder=which)
    def add_document(self, folder: int) -> None:
        self._add("document", self._one("folder", folder), self.rows.add_document)

    @rule(holder=which, place=which, right=rights, is_over=st.booleans() | st.just(False))
    def allow(self, holder: int, place: int, right: Right, is_over: bool) -> None:
        who, at = self._holder(holder), self._any(place)
        if self._give(who, at, right) and is_over:
            self._end(who, at, right)

    @rule(grant=which)
    def take_back(self, grant: int) -> None:
        if self.model.allowed:
            who, at, right = sorted(self.model.allowed)[grant % len(self.model.allowed)]
            if self._done(
                lambda: access.revoke_place_rights(None, [right], self.rows.row(at), of=self.rows.holder(who))
            ):
                del self.model.allowed[who, at, right]

    @rule(holder=which, place=which, right=rights)
    def deny(self, holder: int, place: int, right: Right) -> None:
        self._deny(self._holder(holder), self._any(place), right)

    @precondition(lambda company: company.has_a_grant())
    @rule(grant=which, place=which, member=which)
    def deny_around_a_grant(self, grant: int, place: int, member: int) -> None:
        """Where a denial matters: above, on or below a grant that counts, for its holder or somebody whom it reaches."""
        who, at, right = self._grant(grant)
        near = list(self.model.way(at)) if place % 2 else [at, *self._below(at)]
        reached = [("user", number) for number in range(PEOPLE) if who in self.model.holders(number)]
        self._deny([who, *reached][member % (len(reached) + 1)], near[place % len(near)], right)

    @precondition(lambda company: company.has_a_grant())
    @rule(grant=which, place=which)
    def break_below_a_grant(self, grant: int, place: int) -> None:
        """Where a break matters: what lies below a grant, the nearest first."""
        if below := self._below(self._grant(grant)[1]):
            self._break(below[place % len(below)], copy=False)

    @precondition(lambda company: company.has_a_grant())
    @rule(grant=which)
    def end_a_grant(self, grant: int) -> None:
        """Let the time of a grant pass; a place whose only manager has an end was never one that has to keep it."""
        who, at, right = self._grant(grant)
        if right is Right.VIEW:
            self._end(who, at, right)

    @rule(denial=which)
    def undeny(self, denial: int) -> None:
        if self.model.denied:
            who, at, right = sorted(self.model.denied)[denial % len(self.model.denied)]
            access.revoke_place_denials(None, [right], self.rows.row(at), of=self.rows.holder(who))
            self.model.denied.discard((who, at, right))

    @rule(place=which, copy=st.booleans())
    def break_inheritance(self, place: int, copy: bool) -> None:
        self._break(self._any(place, besides="base"), copy=copy)

    def _break(self, at: Place, *, copy: bool) -> None:
        reaching = [
            (who, above, right)
            for (who, above, right), counts in self.model.allowed.items()
            if counts and above != at and above in self._reaching(at)
        ]
        if self._done(lambda: access.break_inheritance(None, self.rows.row(at), copy=copy)):
            self.model.closed.add(at)
            if copy:
                self.model.allowed |= {(who, at, right): True for who, _above, right in reaching}

    @rule(place=which)
    def restore_inheritance(self, place: int) -> None:
        at = self._any(place, besides="base")
        access.restore_inheritance(None, self.rows.row(at))
        self.model.closed.discard(at)

    @rule(folder=which, parent=which)
    def move_folder(self, folder: int, parent: int) -> None:
        at, to = self._one("folder", folder), self._one("folder", parent)
        row, by = self.rows.row(at), self.rows.principal(0)
        is_refused = self.model.above[at][0] == "base" or at in self.model.way(to) or self._base(at) != self._base(to)
        done = self._done(
            lambda: rename_and_move_folder(by, folder_id=row.pk, name=row.name, parent_id=self.rows.row(to).pk)
        )
        assert done is not is_refused or self.model.above[at] == to
        if done:
            self.model.above[at] = to

    @rule(document=which, folder=which)
    def move_document(self, document: int, folder: int) -> None:
        if self.model.places("document"):
            at, to = self._one("document", document), self._one("folder", folder)
            if self._base(at) == self._base(to):
                move_document_with_node(self.rows.row(at), self.rows.row(to))
                self.model.above[at] = to

    @rule(document=which)
    def delete_document(self, document: int) -> None:
        if self.model.places("document"):
            self._forget(self._one("document", document), lambda row: remove_document(None, row))

    @rule(folder=which)
    def delete_folder(self, folder: int) -> None:
        at = self._one("folder", folder)
        if at not in self.model.above.values() and self.model.above[at][0] == "folder":
            self._forget(at, lambda row: row.delete())

    @rule(person=which, group=which)
    def join_or_leave(self, person: int, group: int) -> None:
        number, members = person % PEOPLE, self.model.members[group % (GROUPS + UNITS)]
        change = units.remove_member if number in members else units.add_member
        if self._done(lambda: change(None, self.rows.groups[group % (GROUPS + UNITS)], user=self.rows.people[number])):
            members ^= {number}

    @rule(unit=which, parent=which)
    def move_unit(self, unit: int, parent: int) -> None:
        at, to = GROUPS + unit % UNITS, GROUPS + parent % (UNITS + 1)
        above = self.rows.units[to - GROUPS] if to < GROUPS + UNITS else None
        if self._done(lambda: units.move_unit(None, self.rows.units[at - GROUPS], parent=above)):
            self.model.unit_above.pop(at, None)
            if above is not None:
                self.model.unit_above[at] = to

    @rule(person=which)
    def disable_or_enable(self, person: int) -> None:
        number = person % PEOPLE
        self.model.active ^= {number}
        User.objects.filter(pk=self.rows.people[number].pk).update(is_active=number in self.model.active)

    @invariant()
    def every_statement_shows_what_the_model_says(self) -> None:
        for person in range(PEOPLE):
            ways = Ways(self.rows, person)
            expected = self.model.holding(person, Right.VIEW, "document")
            ways.compare(expected, [ways.documents, ways.statements()[(self.step + person) % 7]])
            assert ways.counted() == len(expected), f"{ways.counted()} are counted instead of {len(expected)}"
            self._same(ways.folders(), self.model.holding(person, Right.VIEW, "folder"))
        self.step += 1
        if self.step % 6 == 0:
            self.the_doors_show_what_the_model_says(self.step // 6)
        assert self.rows.nodes() <= len(self.model.places("document"))

    @invariant()
    def the_right_to_manage_is_what_the_model_says(self) -> None:
        person = self.step % PEOPLE
        ways = Ways(self.rows, person)
        ways.compare(self.model.holding(person, Right.MANAGE, "document"), [ways.managed_documents])
        self._same(ways.folders(Right.MANAGE), self.model.holding(person, Right.MANAGE, "folder"))
        self._compare_bases(person)

    @invariant()
    def a_document_without_exceptions_has_no_node(self) -> None:
        special = {at for _who, at, _right in [*self.model.allowed, *self.model.denied]} | self.model.closed
        assert self.rows.nodes() == len({at for at in special if at[0] == "document"})

    @rule(person=which, folder=which)
    def a_token_narrows(self, person: int, folder: int) -> None:
        number, at = person % PEOPLE, self._one("folder", folder)
        narrowed = self.rows.principal(number).narrowed(scopes=frozenset({"search"}), folder_id=self.rows.ids[at])
        seen = self.model.holding(number, Right.VIEW, "document")
        ways = Ways(self.rows, number, narrowed)
        inside = [n for n in seen if at in self.model.way(("document", n))]
        ways.compare(inside, [ways.documents, *ways.statements()])

    @rule(person=which)
    def the_doors_show_what_the_model_says(self, person: int) -> None:
        number = person % PEOPLE
        if number in self.model.active:
            ways = Ways(self.rows, number)
            expected = self.model.holding(number, Right.VIEW, "document")
            ways.compare(expected, ways.doors())
            ways.compare(expected, ways.addresses(), one_by_one=True)
            ways.compare(self.model.holding(number, Right.MANAGE, "document"), [ways.admin_list])

    def _same(self, folders: list[int], expected: list[int]) -> None:
        assert folders == expected, f"folders shows {folders} instead of {expected}"

    def _compare_bases(self, person: int) -> None:
        seen = set(KnowledgeBase.objects.visible_to(self.rows.principal(person)).values_list("pk", flat=True))
        for place in self.model.places("base"):
            inside = [p for p in self.model.above if self._base(p) == place]
            expected = any(self.model.holds(person, Right.VIEW, p) for p in [place, *inside])
            assert (self.rows.ids[place] in seen) is expected, (
                f"{place} is shown instead of hidden, or hidden instead of shown"
            )

    def _add(self, kind: str, above: Place, make: Callable[[int, Place], None]) -> None:
        make(self.made, above)
        self.model.above[kind, self.made] = above
        self.made += 1

    def has_a_grant(self) -> bool:
        """Whether any grant counts: a long history ends them all."""
        return any(self.model.allowed.values())

    def _grant(self, number: int) -> tuple[Holder, Place, Right]:
        """A grant that counts."""
        counting = sorted(key for key, counts in self.model.allowed.items() if counts)
        return counting[number % len(counting)]

    def _give(self, who: Holder, at: Place, right: Right) -> bool:
        is_done = self._done(
            lambda: access.grant_place_rights(None, [right], self.rows.row(at), to=self.rows.holder(who))
        )
        if is_done:
            self.model.allowed[who, at, right] = True
        return is_done

    def _deny(self, who: Holder, at: Place, right: Right) -> None:
        if self._done(lambda: access.deny_place_rights(None, [right], self.rows.row(at), to=self.rows.holder(who))):
            self.model.denied.add((who, at, right))

    def _end(self, who: Holder, at: Place, right: Right) -> None:
        self.rows.end(who, at, f"{right.value}_{'knowledgebase' if at[0] == 'base' else 'folder'}")
        self.model.allowed[who, at, right] = False

    def _below(self, place: Place) -> list[Place]:
        """What lies below a place, the nearest first."""
        inside = [at for at in self.model.above if at != place and place in self.model.way(at)]
        return sorted(inside, key=lambda at: (len(list(self.model.way(at))), at))

    def _forget(self, place: Place, delete: Callable[[Any], object]) -> None:
        delete(self.rows.row(place))
        self.model.remove(place)
        del self.rows.ids[place]

    def _done(self, change: Callable[[], object]) -> bool:
        """Do a change; False when it is refused (a circle, another base, the last manager), and then nothing has changed."""
        try:
            change()
        except InvalidInput:
            return False
        return True

    def _one(self, kind: str, number: int) -> Place:
        places = self.model.places(kind)
        return places[number % len(places)]

    def _any(self, number: int, besides: str = "") -> Place:
        """A place of any kind; folders half of the time, because most happens to them."""
        kinds = [kind for kind in ("base", "folder", "folder", "document") if kind != besides]
        kind = kinds[number % len(kinds)]
        return self._one(kind if self.model.places(kind) else "folder", number // len(kinds))

    def _holder(self, number: int) -> Holder:
        count = number % (PEOPLE + GROUPS + UNITS)
        return ("user", count) if count < PEOPLE else ("group", count - PEOPLE)

    def _base(self, place: Place) -> Place:
        return list(self.model.way(place))[-1]

    def _reaching(self, place: Place) -> list[Place]:
        """The places whose grants reach this one."""
        found = []
        for at in self.model.way(place):
            found.append(at)
            if at in self.model.closed:
                break
        return found


def run(*, examples: int, steps: int, phases: tuple[Phase, ...] = (Phase.generate,)) -> None:
    run_state_machine_as_test(
        Company,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=not NIGHTLY,
            report_multiple_bugs=False,  # the first one is raised as it is
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=QUIET,
        ),
    )


@pytest.mark.parametrize(
    ("examples", "steps", "least"),
    [pytest.param(1, 6, 700, id="few"), pytest.param(EXAMPLES, STEPS, MIN, id="many")],
)
def test_every_way_to_read_shows_what_the_rule_says(
    capsys: pytest.CaptureFixture[str], examples: int, steps: int, least: int
) -> None:
    DECISIONS.clear()
    run(examples=examples, steps=steps)
    with capsys.disabled():
        print(
            f"\n{DECISIONS['documents']:,} decisions (person, document), {DECISIONS.total():,} with every way to read:"
        )
        print(", ".join(f"{way} {count:,}" for way, count in DECISIONS.most_common()))
    assert DECISIONS["documents"] >= least
    doors = {"search", "rest_list", "library_pages", "admin_list", "export", "old_answer", "citation", "page_image"}
    assert doors <= DECISIONS.keys()
