"""Explore: choose a number, what it is broken down by, filters and a time; see table and chart; keep the question under a name."""

from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from audit.actions import Action
from audit.record import record_action
from authz.pages import require_sign_in
from authz.principal import Principal
from business.connections.postgres_session import SourceUnavailable
from business.explore.choices import Choices
from business.explore.defaults import keep_fitting_choices, list_subjects
from business.explore.fields import ExploreFields, explore_url
from business.explore.saved import Saved, delete_query, save_query, saved_queries, saved_query, share_query
from business.guard.refusal import SqlRefused
from business.logical_query.compiler import compile_query
from business.logical_query.query import Inexpressible, LogicalQuery
from business.logical_query.titles import describe_with_title
from business.logical_query.wording import build_query_sentence
from business.presentation.query import build_query_shown
from business.presentation.report import build_export_name, build_export_rows
from business.results.shown_query import QueryShown
from business.sources.services import OpenSource, open_source, open_sources
from business.statements.run_query import run_query
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound, Unavailable
from copilot_site.lib.text.spreadsheets import CsvDownload


@dataclass(frozen=True)
class ExploreRequest:
    principal: Principal
    opened: OpenSource
    fields: ExploreFields
    is_live: bool = False

    @property
    def language(self) -> str:
        return get_language() or "en"

    @cached_property
    def query(self) -> LogicalQuery:
        """Return the form's query. Raises Inexpressible with what is missing."""
        fields = self.fields.complete if self.is_live else self.fields
        return fields.query(self.opened.catalog)

    def compiled(self) -> str:
        """Return the statement. Raises Inexpressible with the reason."""
        return compile_query(self.query, self.opened.catalog, self.opened.today)

    @cached_property
    def sentence(self) -> str:
        return build_query_sentence(self.query, self.opened.catalog, self.language, self.opened.today)

    def run(self) -> QueryShown:
        """Run the query. Raises Inexpressible, and what `run_query` raises."""
        statement = self.compiled()
        meaning = describe_with_title(self.query, self.opened.catalog, self.language, self.opened.today, sql=statement)
        result = async_to_sync(run_query)(self.principal, self.opened, statement)
        return build_query_shown(
            result,
            self.opened,
            question=self.sentence,
            statement=statement,
            meaning=meaning,
            language=self.language,
        )


@require_safe
@require_sign_in
def explore(request: HttpRequest, principal: Principal) -> HttpResponse:
    """Show the form and its result; without a choice, the subjects of the only source or database. live: somebody is still
    choosing, so what does not fit the chosen number any more, or lacks its value, is left out. first: nothing was chosen before.
    """
    name = request.GET.get("source", "")
    sources = open_sources(principal)
    databases = [opened for opened in sources if opened.source.document_id is None]
    only = next((some[0] for some in (sources, databases) if len(some) == 1), None)
    opened = open_source(principal, name) if name else only
    if opened is None:
        return render(request, "business/explore.html", {"sources": sources})
    fields, is_live, is_first = ExploreFields.read(request.GET), "live" in request.GET, "first" in request.GET
    if is_live or is_first:
        fields = keep_fitting_choices(opened, principal.org_units, fields, is_first=is_first)
    return _render_page(request, ExploreRequest(principal, opened, fields, is_live=is_live))


@require_safe
@require_sign_in
def opened_again(request: HttpRequest, principal: Principal, saved_id: UUID) -> HttpResponse:
    """Show a saved question, run again today."""
    opened, saved = saved_query(principal, saved_id)
    assert saved.query is not None
    return _render_page(request, ExploreRequest(principal, opened, ExploreFields.of(saved.query)), saved=saved)


@require_safe
@require_sign_in
def table(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the rows as CSV, from running the question again, as the page shows them."""
    opened = open_source(principal, request.GET.get("source", ""))
    try:
        result = ExploreRequest(principal, opened, ExploreFields.read(request.GET)).run()
    except (Inexpressible, SqlRefused) as error:
        raise InvalidInput(str(error)) from error
    except SourceUnavailable as error:
        raise Unavailable(str(error)) from error
    rows = result.table
    record_action(
        principal,
        Action.RESULT_EXPORTED,
        opened.source,
        detail={"query_id": result.query_id, "rows": len(rows.rows), "total": rows.total},
    )
    return CsvDownload(build_export_rows(result), filename=build_export_name(opened.source.name, result))


@require_POST
@require_sign_in
def save(request: HttpRequest, principal: Principal) -> HttpResponse:
    """Save the page's question and redirect to it; errors are shown on the page it came from."""
    opened = open_source(principal, request.POST.get("source", ""))
    fields = ExploreFields.read(QueryDict(request.POST.get("fields", "")))
    try:
        asking = ExploreRequest(principal, opened, fields)
        asking.compiled()  # only questions that can run are saved
        row = save_query(principal, opened, name=request.POST.get("name", ""), query=asking.query)
    except (Inexpressible, InvalidInput) as error:
        messages.error(request, str(error))
        return redirect(explore_url(opened.source.name, fields) or reverse("explore"))
    messages.success(request, _("Saved. Its times are counted again each time you open it."))
    return redirect("saved-query", row.pk)


@require_POST
@require_sign_in
def share(request: HttpRequest, principal: Principal, saved_id: UUID) -> HttpResponse:
    """Let everybody who may ask the source open it, or nobody else any more."""
    try:
        row = share_query(principal, saved_id, is_shared=request.POST.get("shared") == "on")
    except InvalidInput as error:
        messages.error(request, str(error))
    else:
        message = (
            _("Shared with everyone who can ask this source.")
            if row.is_shared
            else _("No longer shared: only you see it.")
        )
        messages.success(request, message)
    return redirect("saved-query", saved_id)


@require_POST
@require_sign_in
def delete(request: HttpRequest, principal: Principal, saved_id: UUID) -> HttpResponse:
    """Delete one's own saved question."""
    source = delete_query(principal, saved_id)
    messages.success(request, _("Deleted."))
    return redirect(explore_url(source))


def _render_page(request: HttpRequest, asking: ExploreRequest, *, saved: Saved | None = None) -> HttpResponse:
    """Render the whole page, with an error as one sentence above the form."""
    result, error, status = None, "", HTTPStatus.OK
    try:
        if asking.fields != ExploreFields():
            result = asking.run()
    except Inexpressible as found:
        error, status = str(found), HTTPStatus.OK if asking.is_live else HTTPStatus.BAD_REQUEST
    except NotFound:
        raise
    except CopilotError as found:  # refused by guard or sandbox, or the source is down
        error = str(found)
    context = {
        "sources": open_sources(asking.principal),
        "opened": asking.opened,
        "choices": Choices(asking.opened.catalog, asking.principal.org_units, asking.fields, asking.opened.today),
        "fields": asking.fields,
        "saved": saved,
        "saved_queries": saved_queries(asking.principal, asking.opened),
        "result": result,
        "subjects": [] if asking.fields.metrics else list_subjects(asking.opened, asking.principal.org_units),
        "error": error,
        "filled": (asking.fields.complete if asking.is_live else asking.fields).encoded(),
    }
    return render(request, "business/explore.html", context, status=status)
