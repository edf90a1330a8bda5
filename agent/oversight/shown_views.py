"""The page "Who was shown this", for auditors: each look at it and each file of it is recorded."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from agent.oversight.shown import (
    ShownLine,
    ShownSubject,
    find_subject,
    find_subjects,
    iterate_shown_lines,
    list_subject_rows,
)
from audit.actions import Action, How
from audit.models import Shown
from audit.record import record_action
from audit.shown import compute_shown_totals
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import may_oversee
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.text.spreadsheets import CsvDownload

PAGE_SIZE = 50
COLUMNS = (
    "at", "document_id", "document", "how", "person_id", "person", "on_behalf_of", "right", "perm_snapshot_id", "through",
    "run_id", "entry_id",
)  # fmt: skip


def _make_date_field(label: Any) -> forms.DateField:
    return forms.DateField(
        label=label, required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


class ShownForm(forms.Form):
    """Filters of the page. of: the chosen subject's key, which counts while `q` is its name. An invalid value filters nothing."""

    q = forms.CharField(label=gettext_lazy("Document, folder or person"), required=False)
    of = forms.CharField(required=False, widget=forms.HiddenInput)
    since = _make_date_field(gettext_lazy("from"))
    until = _make_date_field(gettext_lazy("until"))
    how = forms.ChoiceField(
        label=gettext_lazy("How"), required=False, choices=[("", gettext_lazy("all ways")), *How.choices]
    )

    def given(self) -> dict[str, Any]:
        self.is_valid()
        return self.cleaned_data

    def period(self) -> tuple[datetime | None, datetime | None]:
        """Return the first moment, and the first one after the last day, in the site's time zone."""
        since, until = self.given().get("since"), self.given().get("until")
        return _convert_to_midnight(since), _convert_to_midnight(until and until + timedelta(days=1))


def _convert_to_midnight(day: Any) -> datetime | None:
    return timezone.make_aware(datetime.combine(day, time())) if day else None


@require_safe
@admin_page
def shown_list(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List who was shown a document, or what a person was shown; `?file=csv` sends all lines as a file."""
    if not request.user.has_perm("audit.view_entry"):
        raise PermissionDenied(_("Only auditors read the audit log."))
    form = ShownForm(request.GET)
    subject, found = _resolve_subject(principal, form.given())
    context: dict[str, Any] = {"title": _("Who was shown this"), "form": form, "subject": subject, "found": found}
    if subject is None:
        return render_admin_page(request, "admin/oversight/shown.html", context)
    since, until = form.period()
    how = form.given().get("how", "")
    rows = list_subject_rows(principal, subject, since=since, until=until, how=how)
    chosen = {"of": subject.key, "since": form.given().get("since"), "until": form.given().get("until"), "how": how}
    chosen = {name: str(value) for name, value in chosen.items() if value}
    if request.GET.get("file") == "csv":
        return _export_csv(request, principal, subject, rows, chosen)
    times, people, documents = compute_shown_totals(rows)
    record_action(
        principal, Action.AUDIT_READ, detail={"shown": chosen, "times": times} | _build_document_detail(subject)
    )
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    may_replay = may_oversee(request.user)
    context |= {
        "form": ShownForm(chosen | {"q": subject.name}),
        "times": times,
        "people": people,
        "headline": _format_headline(subject, times, people, documents),
        "page": page,
        "page_query": f"&{urlencode(chosen)}",
        "lines": list(iterate_shown_lines(list(page.object_list), may_replay=may_replay)),
        "may_replay": may_replay,
        "may_export": request.user.has_perm("audit.export_entry"),
    }
    return render_admin_page(request, "admin/oversight/shown.html", context)


def _build_document_detail(subject: ShownSubject) -> dict[str, list[str]]:
    """Return the document, for the entry's title in the log."""
    return {"documents": [subject.id]} if subject.kind == "document" else {}


def _format_headline(subject: ShownSubject, times: int, people: int, documents: int) -> str:
    if not times:
        return _("Nothing shown") if subject.kind == "person" else _("Not shown to anybody")
    if subject.kind == "person":
        what = ngettext("one document", "%(n)s documents", documents) % {"n": documents}
        return ngettext("Saw %(what)s once", "Saw %(what)s, %(n)s times in all", times) % {"what": what, "n": times}
    whom = ngettext("one person", "%(n)s people", people) % {"n": people}
    return ngettext("Shown once to %(whom)s", "Shown %(n)s times to %(whom)s", times) % {"whom": whom, "n": times}


def _resolve_subject(
    principal: Principal, given: dict[str, Any]
) -> tuple[ShownSubject | None, list[ShownSubject] | None]:
    """Return the chosen subject, or what the words can mean; both None where nothing was asked. Raises NotFound."""
    words, key = given.get("q", ""), given.get("of", "")
    if key:
        subject = find_subject(principal, key)
        if not words or words == subject.name:
            return subject, None
    if not words:
        return None, None
    found = find_subjects(principal, words)
    return (found[0], None) if len(found) == 1 else (None, found)


def _export_csv(
    request: HttpRequest, principal: Principal, subject: ShownSubject, rows: QuerySet[Shown], chosen: dict[str, str]
) -> HttpResponseBase:
    if not request.user.has_perm("audit.export_entry"):
        raise PermissionDenied(_("Only auditors who can export do this."))
    record_action(
        principal, Action.AUDIT_EXPORTED, detail={"format": "csv", "shown": chosen} | _build_document_detail(subject)
    )
    found = iterate_shown_lines(rows, may_replay=False)
    name = f"shown-{timezone.localdate():%Y-%m-%d}.csv"
    return CsvDownload((row for part in ([COLUMNS], map(_format_csv_row, found)) for row in part), filename=name)


def _format_csv_row(line: ShownLine) -> list[object]:
    at = timezone.localtime(line.at).isoformat(sep=" ", timespec="seconds")
    return [at, *(getattr(line, "title" if name == "document" else name) for name in COLUMNS[1:])]
