"""Filters of the list of answers: person, run, date, ending, and duration."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from agent.models import Message
from agent.oversight.statistics import ENDING_WORDS, SLOW_MS, answered_since, ended_as, first_day

ANY = ("", _("all"))


def _endings() -> list[tuple[str, Any]]:
    return [ANY, *((name, capfirst(str(word))) for name, word in ENDING_WORDS.items())]


class AnswerFilter(forms.Form):
    """An invalid value filters nothing, except an invalid run id, which matches no answer."""

    user = forms.CharField(label=_("Person"), required=False)
    run = forms.CharField(label=_("Run"), required=False)
    day = forms.DateField(
        label=_("Day"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    days = forms.IntegerField(required=False, min_value=1, max_value=366, widget=forms.HiddenInput)
    ending = forms.ChoiceField(label=_("How it ended"), required=False, choices=_endings)
    slow = forms.BooleanField(label=_("slow ones only"), required=False)

    def narrow(self, rows: QuerySet[Message]) -> QuerySet[Message]:
        given = self._given()
        if user := given.get("user"):
            rows = rows.filter(session__user__username=user)
        if run := given.get("run"):
            rows = rows.filter(pk__in=_uuids(run))
        if day := given.get("day"):
            rows = rows.filter(created_at__date=day)
        if days := given.get("days"):
            rows = rows.filter(pk__in=answered_since(first_day(days)).order_by().values("pk"))
        if ending := given.get("ending"):
            rows = rows.filter(ended_as(ending))
        return rows.filter(duration_ms__gte=SLOW_MS) if given.get("slow") else rows

    @property
    def query(self) -> str:
        """Return the query string for links within this list."""
        given = {name: "on" if value is True else value for name, value in self._given().items() if value}
        return f"&{urlencode(given)}" if given else ""

    def _given(self) -> dict[str, Any]:
        self.is_valid()
        return self.cleaned_data


def _uuids(text: str) -> list[UUID]:
    """Return a list with the id; empty for an invalid one, which matches nothing."""
    with suppress(ValueError):
        return [UUID(text)]
    return []
