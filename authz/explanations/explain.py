"""Explain in words why somebody has a right on a place or not, from the rows that decide it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import TextChoices
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from authz.explanations.decision_reasons import Considered, Decision, Fate, GrantPlace
from authz.people.groups import GroupKind, Membership, PersonHolders
from authz.permissions import Right


class Reason(TextChoices):
    """The reason for a yes or no."""

    GRANTED = "granted", gettext_lazy("a grant allows it")
    DENIED = "denied", gettext_lazy("a denial forbids it, whatever is granted")
    INACTIVE = "inactive", gettext_lazy("the account is disabled")
    ENDED = "ended", gettext_lazy("the grant has ended")
    CUT = "cut", gettext_lazy("a folder on the way does not inherit rights")
    MISSING = "missing", gettext_lazy("nothing is granted")


class StepKind(StrEnum):
    """The kind of a point on the path, for icons and programs."""

    PERSON = "person"
    GROUP = "group"
    ROLE = "role"
    UNIT = "unit"
    ROW = "row"
    PLACE = "place"


@dataclass(frozen=True)
class PathStep:
    """A point on the path from a person to a place. text: its full wording for people."""

    kind: StepKind
    name: str
    text: str


@dataclass(frozen=True)
class Explanation:
    """A decision with its reason. decisive: the row that decides the answer; None where there is none."""

    decision: Decision
    reason: Reason
    decisive: Considered | None

    @property
    def person(self) -> PersonHolders:
        return self.decision.person

    @property
    def right(self) -> Right:
        return self.decision.right

    @property
    def place(self) -> GrantPlace:
        return self.decision.way[0]

    @property
    def is_allowed(self) -> bool:
        return self.decision.is_allowed

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence."""
        return SENTENCES[self.reason] % self._build_placeholders()

    @property
    def path(self) -> list[PathStep]:
        """Return the person, the groups, the row, and the places it is inherited through; without a row the person."""
        return list(iterate_path_steps(self.decision, self.decisive))

    @property
    def others(self) -> list[Considered]:
        """Return the other rows that concern this person here, nearest first."""
        return [row for row in self.decision.considered if row is not self.decisive]

    def _build_placeholders(self) -> dict[str, object]:
        row = self.decisive.row if self.decisive else None
        return {
            "person": self.person.name or self.person.username,
            "right": self.right.word,
            "place": self.place.name,
            "holder": row.holder_name if row else "",
            "there": self.decisive.place.name if self.decisive else "",
            "ended": _format_moment(row.ends_at) if row and row.ends_at else "",
            "break": self.decisive.cut_by.name if self.decisive and self.decisive.cut_by else "",
            "groups": len(self.person.memberships),
        }


SENTENCES = {
    Reason.GRANTED: gettext_lazy(
        "Yes: %(person)s holds “%(right)s” on “%(place)s”, granted to %(holder)s on “%(there)s”."
    ),
    Reason.DENIED: gettext_lazy(
        "No: “%(right)s” is denied to %(holder)s on “%(there)s”, and a denial wins over every grant there and below."
    ),
    Reason.INACTIVE: gettext_lazy("No: the account of %(person)s is disabled, so no grant counts."),
    Reason.ENDED: gettext_lazy("No: the grant of “%(right)s” to %(holder)s on “%(there)s” ended on %(ended)s."),
    Reason.CUT: gettext_lazy(
        "No: the grant of “%(right)s” to %(holder)s on “%(there)s” does not reach “%(place)s”, because "
        "“%(break)s” does not inherit rights."
    ),
    Reason.MISSING: gettext_lazy(
        "No: “%(right)s” on “%(place)s” is granted neither to %(person)s by name nor to one of the %(groups)s groups, roles "
        "and units that count for them."
    ),
}


def explain_decision(decision: Decision) -> Explanation:
    """Return a decision with its reason. For a no: the row that forbids it, else the one nearest to a yes."""
    if not decision.person.is_active:
        return Explanation(decision, Reason.INACTIVE, None)
    if decision.is_allowed:
        return Explanation(decision, Reason.GRANTED, decision.nearest(Fate.ALLOWS))
    for reason, fate in ((Reason.DENIED, Fate.DENIES), (Reason.CUT, Fate.CUT), (Reason.ENDED, Fate.ENDED)):
        if row := decision.nearest(fate):
            return Explanation(decision, reason, row)
    return Explanation(decision, Reason.MISSING, None)


def iterate_path_steps(decision: Decision, considered: Considered | None) -> Iterator[PathStep]:
    """Yield the path from the person through the groups to the row, and down to the place."""
    person = decision.person
    yield PathStep(StepKind.PERSON, person.username, person.name or person.username)
    if considered is None:
        return
    row = considered.row
    kind, holder_id = row.holder
    if kind == "group":
        yield from _iterate_group_steps(person.memberships[holder_id])
    yield PathStep(StepKind.ROW, considered.place.name, format_row(considered))
    for place in reversed(decision.way[: decision.way.index(considered.place)]):
        if place.is_root and place is not decision.way[0]:
            continue
        yield PathStep(StepKind.PLACE, place.name, _format_place(place))


def format_row(considered: Considered) -> str:
    """Return a row in words, with since when and by whom."""
    row = considered.row
    words = {"right": row.right.word, "place": considered.place.name, "since": _format_moment(row.since), "by": row.by}
    if row.is_denial:
        text = _("“%(right)s” denied on “%(place)s” since %(since)s") % words
    else:
        text = _("“%(right)s” granted on “%(place)s” since %(since)s") % words
    if row.by:
        text += _(", by %(by)s") % words
    if row.ends_at:
        text += _(", until %(end)s") % {"end": _format_moment(row.ends_at)}
    return text


def _iterate_group_steps(membership: Membership) -> Iterator[PathStep]:
    """Yield the person's own group first, the one that holds the row last."""
    for name in reversed(membership.below):
        yield PathStep(StepKind.UNIT, name, _("member of the unit %(name)s") % {"name": name})
    if membership.kind is GroupKind.ROLE:
        text = _("has the role %(name)s")
    elif membership.kind is GroupKind.GROUP:
        text = _("member of the group %(name)s")
    else:
        text = _("and so of the unit %(name)s") if membership.below else _("member of the unit %(name)s")
    yield PathStep(StepKind(membership.kind.value), membership.name, text % {"name": membership.name})


def _format_place(place: GrantPlace) -> str:
    name = {"name": place.name}
    return _("the document “%(name)s”") % name if place.kind == "document" else _("inherited by “%(name)s”") % name


def _format_moment(moment: datetime) -> str:
    return date_format(localtime(moment), "DATETIME_FORMAT")
