"""Pages of evaluation: sets of questions with the people they are asked as; background runs; comparison of two runs."""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agent.models import AgentProfile, Case, SetRun
from agent.oversight.replay import get_answer
from agent.question_sets import services
from agent.question_sets.selectors import compare_runs, compute_run_figures, list_question_sets
from agent.question_sets.upload import parse_question_lines, read_uploaded_text
from agent.runs.start import QUESTION_LENGTH
from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import require_oversight
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound
from copilot_site.lib.http.forms import find_first_fault
from knowledge.governance.parameters import list_holder_names

PAGE_SIZE = 50
FILES_ID = "id_file_%s"  # the form of a question stands on the same page, and names a person, too


class CaseForm(forms.Form):
    question = forms.CharField(label=gettext_lazy("Question"), max_length=QUESTION_LENGTH)
    person = forms.CharField(
        label=gettext_lazy("Asked as"),
        max_length=150,
        help_text=gettext_lazy("Sign-in name. The question is asked with this person's rights."),
        widget=forms.TextInput(attrs={"list": "people", "autocomplete": "off"}),
    )
    is_answerable = forms.TypedChoiceField(
        label=gettext_lazy("What is expected"),
        choices=[("1", gettext_lazy("an answer")), ("0", gettext_lazy("no answer")), ("", gettext_lazy("anything"))],
        coerce=lambda value: value == "1",
        empty_value=None,
        required=False,
    )
    answers = forms.CharField(
        label=gettext_lazy("The answer says one of"), required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("One per line."),
    )  # fmt: skip
    documents = forms.CharField(
        label=gettext_lazy("and cites one of these documents"), required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("File names or titles, one per line."),
    )  # fmt: skip
    forbidden = forms.CharField(
        label=gettext_lazy("and never says"), required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("What this person must not learn, one per line; saying it is a leak."),
    )  # fmt: skip


def build_case_form(case: Case) -> CaseForm:
    lists = {name: "\n".join(getattr(case, name)) for name in ("answers", "documents", "forbidden")}
    answerable = "" if case.is_answerable is None else str(int(case.is_answerable))
    return CaseForm(
        initial={"question": case.question, "person": case.person.username, "is_answerable": answerable, **lists}
    )


class FilesForm(forms.Form):
    questions = forms.FileField(
        label=gettext_lazy("Questions"),
        help_text=gettext_lazy(
            "JSON lines with “text” or “question”; also person, answerable, answers, documents, must_not."
        ),
    )
    judgements = forms.FileField(
        label=gettext_lazy("Judgements"),
        required=False,
        help_text=gettext_lazy("Optional: query id, document and score with tabs between, below a head (qrels)."),
    )
    person = forms.CharField(
        label=gettext_lazy("Asked as"),
        max_length=150,
        help_text=gettext_lazy("For lines that name nobody."),
        widget=forms.TextInput(attrs={"list": "people", "autocomplete": "off"}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def set_list(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List the sets; a POST creates one by its `name`."""
    require_oversight(request.user)
    problem = ""
    if request.method == "POST":
        try:
            return redirect("evaluation", services.create_question_set(request.user, request.POST.get("name", "")).pk)
        except InvalidInput as error:
            problem = str(error)
    context = {
        "title": _("Evaluation"),
        "sets": list_question_sets(),
        "problem": problem,
        "name": request.POST.get("name", ""),
    }
    return render_admin_page(request, "admin/evaluation/list.html", context, status=400 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def set_page(request: HttpRequest, principal: Principal, set_id: UUID) -> HttpResponseBase:
    """Show a set with its questions and runs, and the form for `case`; a POST performs the action `do`."""
    within = services.find_question_set(request.user, set_id)
    given, do = request.POST or request.GET, request.POST.get("do", "")
    case = (
        services.find_case(within, _parse_set_id(given["case"])) if "case" in given and do in {"", "change"} else None
    )
    case_form = build_case_form(case) if case else CaseForm()
    files_form = FilesForm(initial={"person": principal.username}, auto_id=FILES_ID)
    problem = ""
    if request.method == "POST":
        case_form = CaseForm(request.POST) if do in {"add", "change"} else case_form
        files_form = FilesForm(request.POST, request.FILES, auto_id=FILES_ID) if do == "upload" else files_form
        try:
            return _apply_set_action(request, within.pk, case_form, files_form)
        except CopilotError as error:
            problem = str(error)
    page = Paginator(within.cases.select_related("person"), PAGE_SIZE).get_page(request.GET.get("page"))
    _record_question_view(principal, {*page.object_list, *([case] if case else [])})
    context = {
        "title": _("Evaluation set %(name)s") % {"name": within.name},
        "set": within,
        "page": page,
        "runs": compute_run_figures(within.runs.select_related("started_by", "profile")[:PAGE_SIZE]),
        "case": case,
        "is_adding": "more" in request.GET,
        "case_form": case_form,
        "files_form": files_form,
        "profiles": AgentProfile.objects.all(),
        "people": list_holder_names()["people"],
        "problem": problem,
    }
    return render_admin_page(request, "admin/evaluation/set.html", context, status=400 if problem else 200)


def _apply_set_action(
    request: HttpRequest, set_id: UUID, case_form: CaseForm, files_form: FilesForm
) -> HttpResponseBase:
    """Perform the action `do` and redirect to its result. Raises InvalidInput, NotFound, Conflict."""
    user, given = request.user, request.POST
    back = redirect("evaluation", set_id)

    def add() -> HttpResponseBase:
        services.add_case(user, set_id, **_validate_form(case_form))
        return redirect(f"{reverse('evaluation', args=[set_id])}?more=1#question")

    def change() -> HttpResponseBase:
        services.change_case(user, set_id, _parse_set_id(given.get("case", "")), **_validate_form(case_form))
        messages.success(request, _("The question is changed."))
        page = urlencode({"page": request.GET.get("page", "1")})
        return redirect(f"{reverse('evaluation', args=[set_id])}?{page}")

    def upload() -> HttpResponseBase:
        files = _validate_form(files_form)
        lines = parse_question_lines(
            read_uploaded_text(files["questions"]),
            read_uploaded_text(files["judgements"]) if files["judgements"] else "",
        )
        n = services.add_uploaded_questions(user, set_id, lines, person=files["person"])
        messages.success(request, ngettext("One question was added.", "%(n)d questions were added.", n) % {"n": n})
        return back

    def remove() -> HttpResponseBase:
        services.remove_case(user, set_id, _parse_set_id(given.get("case", "")))
        return back

    def start() -> HttpResponseBase:
        language = get_language() or "en"
        run = services.start_run(user, set_id, language=language, profile_id=given.get("profile", ""))
        return redirect(f"{reverse('evaluation-runs', args=[set_id])}?second={run.pk}")

    def stop() -> HttpResponseBase:
        services.stop_run(user, set_id, _parse_set_id(given.get("run", "")))
        return back

    def delete() -> HttpResponseBase:
        services.delete_question_set(user, set_id)
        messages.success(request, _("The set is deleted, with its runs."))
        return redirect("evaluations")

    known: dict[str, Callable[[], HttpResponseBase]] = {
        "add": add, "change": change, "upload": upload, "remove": remove, "start": start, "stop": stop, "delete": delete,
    }  # fmt: skip
    return known.get(given.get("do", ""), lambda: back)()


@require_safe
@admin_page
def run_page(request: HttpRequest, principal: Principal, set_id: UUID) -> HttpResponseBase:
    """Show the run `second` compared with `first`, by default the one before."""
    within = services.find_question_set(request.user, set_id)
    runs = list(within.runs.select_related("started_by", "profile")[:PAGE_SIZE])
    second = _find_run(runs, request.GET.get("second", "")) or next(iter(runs), None)
    if second is None:
        raise NotFound(_("There is no such run."))
    earlier = [run for run in runs if run.started_at < second.started_at]
    first = _find_run(runs, request.GET.get("first", "")) or next(iter(earlier), None)
    lines = compare_runs(first, second) if first else compare_runs(second, None)
    page = Paginator(lines, PAGE_SIZE).get_page(request.GET.get("page"))
    _record_question_view(principal, [line.case for line in page.object_list])
    context = {
        "title": _("Runs over %(name)s") % {"name": within.name},
        "set": within,
        "figures": compute_run_figures([run for run in (first, second) if run]),
        "is_pair": first is not None,
        "changed": sum(line.is_changed for line in lines),
        "runs": runs,
        "first": first,
        "second": second,
        "page": page,
        "page_query": f"&second={second.pk}" + (f"&first={first.pk}" if first else ""),
    }
    return render_admin_page(request, "admin/evaluation/runs.html", context)


@require_POST
@admin_page
def take_answer(request: HttpRequest, _principal: Principal, message_id: UUID) -> HttpResponseBase:
    """Add the question of an answer to the set `set`, and redirect to the answer, or to the page `from`."""
    require_oversight(request.user)
    message = get_answer(message_id)
    try:
        services.add_answered_question(request.user, _parse_set_id(request.POST.get("set", "")), message)
    except CopilotError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The question is in the set now."))
    return redirect("ratings") if request.POST.get("from") == "ratings" else redirect("replay", message.pk)


def _find_run(runs: list[SetRun], given: str) -> SetRun | None:
    return next((run for run in runs if str(run.pk) == given), None)


def _parse_set_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFound(_("There is no such evaluation set.")) from error


def _validate_form(form: forms.Form) -> dict[str, Any]:
    if not form.is_valid():
        raise InvalidInput(find_first_fault(form))
    return form.cleaned_data


def _record_question_view(principal: Principal, cases: Iterable[Case]) -> None:
    """Audit whose words are about to be shown, for questions taken from conversations."""
    if read := [str(case.message_id) for case in cases if case.message_id]:
        record_action(principal, Action.QUESTIONS_READ, detail={"answers": read})
