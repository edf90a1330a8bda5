"""Pages for keepers of verified answers: the list, a form for one, and export and import."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.presentation.visibility import show_visible_messages
from agent.models import Message
from agent.oversight.replay import find_stored_question, get_answer
from agent.privacy import record_conversation_view
from agent.question_sets.upload import read_uploaded_text
from agent.run_state.cited_answer import join_sentences
from agent.verified_answers import csv_files
from agent.verified_answers.selectors import (
    get_managed_answer,
    iterate_shown_answers,
    managed_answers_of,
    record_answers_shown,
)
from agent.verified_answers.services import (
    KeeperInput,
    VerifiedSpan,
    change_wordings,
    confirm_verified_answer,
    delete_verified_answer,
    save_verified_text,
)
from audit.actions import Action
from audit.record import record_action
from authz.pages import require_sign_in
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import require_oversight
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound
from copilot_site.lib.http.forms import validate_form
from copilot_site.lib.text.spreadsheets import CsvDownload
from knowledge.documents.places import find_fillable_folders
from knowledge.models import Document, Folder

PAGE_SIZE = 50
MAX_FOLDERS = 200  # to choose from, by name


def _make_text_area(label: Any, help_text: Any = "", *, rows: int = 3, required: bool = True) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(label=label, help_text=help_text, widget=widget, required=required)


class WordingsForm(forms.Form):
    wordings = _make_text_area(gettext_lazy("Other ways to ask it"), gettext_lazy("One per line."), required=False)
    expires_on = forms.DateField(
        label=gettext_lazy("Valid until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=gettext_lazy("Empty: until someone changes it."),
    )

    def lines(self) -> list[str]:
        return [line for line in self.cleaned_data["wordings"].splitlines() if line.strip()]


class AnswerForm(WordingsForm):
    question = _make_text_area(gettext_lazy("Question"), rows=2)
    text = _make_text_area(gettext_lazy("Answer"), rows=8)
    documents = _make_text_area(
        gettext_lazy("Documents it uses"),
        gettext_lazy("Address or number of each document, one per line."),
        required=False,
    )
    data_sources = forms.CharField(
        label=gettext_lazy("Data sources it uses"),
        required=False,
        help_text=gettext_lazy("Names separated by spaces. Empty: none."),
    )
    folder = forms.ChoiceField(
        label=gettext_lazy("Folder"),
        help_text=gettext_lazy("People who can read this folder and all of its sources see the answer."),
    )
    field_order = ("question", "wordings", "text", "documents", "data_sources", "folder", "expires_on")

    def __init__(self, principal: Principal, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        places = find_fillable_folders(principal, "", most=MAX_FOLDERS, right=Right.MANAGE)
        choices = {str(pk): " › ".join(path) for pk, path in places}
        kept = Folder.objects.reachable_by(principal, Right.MANAGE)
        if chosen := kept.filter(pk=self.initial["folder"]).first() if "folder" in self.initial else None:
            choices.setdefault(str(chosen.pk), chosen.name)
        self.fields["folder"].choices = list(choices.items())  # type: ignore[attr-defined]

    def clean_documents(self) -> list[UUID]:
        return [
            _parse_document_id(line.strip()) for line in self.cleaned_data["documents"].splitlines() if line.strip()
        ]

    def given(self, passages: tuple[VerifiedSpan, ...]) -> KeeperInput:
        cleaned = self.cleaned_data
        named = set(cleaned["documents"])
        return KeeperInput(
            cleaned["question"],
            cleaned["text"],
            self.lines(),
            cleaned["expires_on"],
            cleaned["documents"],
            cleaned["data_sources"].split(),
            tuple(passage for passage in passages if passage.document_id in named),
        )


class ImportForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("CSV file"))


def _parse_document_id(line: str) -> UUID:
    """Return the id from a document's address, or from the id itself."""
    for part in reversed(line.split("?", maxsplit=1)[0].split("/")):
        try:
            return UUID(part)
        except ValueError:
            continue
    raise forms.ValidationError(_("“%(line)s” names no document.") % {"line": line[:100]})


@require_safe
@require_sign_in
def answers(request: HttpRequest, principal: Principal) -> HttpResponse:
    """List the answers that this person keeps, those to review first.

    `?source=` the id of a data source, for its queries only.
    """
    rows = managed_answers_of(principal)
    if source := request.GET.get("source", ""):
        rows = rows.filter(source_id=_parse_answer_id(source))
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "answers": list(iterate_shown_answers(list(page.object_list))), "source": source}
    return render(request, "agent/verified/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def new(request: HttpRequest, principal: Principal) -> HttpResponse:
    """Create an answer; `?message=`: from this answer of a conversation, with its citations."""
    taken = _find_question_and_answer(request, principal, given) if (given := request.GET.get("message", "")) else None
    initial, passages = (_build_initial_values(*taken), _list_cited_passages(taken[1])) if taken else ({}, ())
    form = AnswerForm(principal, request.POST or None, initial=initial)
    return _save_text_form(request, principal, form, passages, title=_("New verified answer"))


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def edit(request: HttpRequest, principal: Principal, verified_id: UUID) -> HttpResponse:
    """Change an answer, confirm it (`do=again`), or delete it (`do=retire`)."""
    get_managed_answer(principal, verified_id)
    (shown,) = iterate_shown_answers(managed_answers_of(principal).filter(pk=verified_id))
    record_answers_shown(principal, [shown])
    do = request.POST.get("do", "")
    if do in {"again", "retire"}:
        return _apply_decision(request, principal, verified_id, do)
    row = shown.row
    initial: dict[str, Any] = {"wordings": "\n".join(shown.others), "expires_on": row.expires_on}
    title = _("Verified answer")
    if row.source is not None:
        form: WordingsForm = WordingsForm(request.POST or None, initial=initial)
        return _save_wordings_form(request, principal, form, verified_id, {"title": title, "answer": shown})
    initial |= {"question": row.question, "text": row.text, "folder": row.folder_id}
    initial["documents"] = "\n".join(str(document.pk) for document in shown.documents)
    initial["data_sources"] = " ".join(source.name for source in shown.data_sources)
    written = AnswerForm(principal, request.POST or None, initial=initial)
    return _save_text_form(request, principal, written, (), title=title, answer_id=verified_id, answer=shown)


@require_safe
@require_sign_in
def export(_request: HttpRequest, principal: Principal) -> HttpResponseBase:
    return CsvDownload(csv_files.export_answers(principal), filename="verified-answers.csv")


@require_POST
@require_sign_in
def import_file(request: HttpRequest, principal: Principal) -> HttpResponse:
    """Import the answers of a CSV file, all or none."""
    try:
        n = csv_files.import_answers(
            principal, read_uploaded_text(validate_form(ImportForm(request.POST, request.FILES))["file"])
        )
    except CopilotError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, ngettext("One answer was saved.", "%(n)d answers were saved.", n) % {"n": n})
    return redirect("verified-answers")


def _apply_decision(request: HttpRequest, principal: Principal, answer_id: UUID, do: str) -> HttpResponse:
    try:
        if do == "again":
            confirm_verified_answer(principal, answer_id)
        else:
            delete_verified_answer(principal, answer_id)
    except NotFound:
        raise
    except CopilotError as error:
        messages.error(request, str(error))
        return redirect("verified-answer", answer_id)
    messages.success(request, _("Verified again.") if do == "again" else _("Deleted. It is no longer used in answers."))
    return redirect("verified-answers")


def _save_text_form(
    request: HttpRequest,
    principal: Principal,
    form: AnswerForm,
    passages: tuple[VerifiedSpan, ...],
    *,
    answer_id: UUID | None = None,
    **context: Any,
) -> HttpResponse:
    if form.is_valid():
        folder_id = UUID(form.cleaned_data["folder"])
        try:
            save_verified_text(principal, form.given(passages), folder_id=folder_id, answer_id=answer_id)
        except CopilotError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved. It answers the question from now on."))
            return redirect("verified-answers")
    cited = Document.objects.visible_to(principal).filter(pk__in=form.initial.get("documents", "").split())
    return render(
        request,
        "agent/verified/answer.html",
        {"form": form, "cited": cited, **context},
        status=400 if form.errors else 200,
    )


def _save_wordings_form(
    request: HttpRequest, principal: Principal, form: WordingsForm, answer_id: UUID, context: dict[str, Any]
) -> HttpResponse:
    if form.is_valid():
        try:
            change_wordings(principal, answer_id, wordings=form.lines(), expires_on=form.cleaned_data["expires_on"])
        except CopilotError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved."))
            return redirect("verified-answers")
    context |= {"form": form}
    return render(request, "agent/verified/answer.html", context, status=400 if form.errors else 200)


def _find_question_and_answer(request: HttpRequest, principal: Principal, given: str) -> tuple[str, ShownMessage]:
    """Return an answer with its question, as readable now: one's own, or anybody's for those who oversee answers."""
    message_id = _parse_answer_id(given)
    own = Message.objects.filter(pk=message_id, session__user_id=principal.user_id, role="assistant")
    message = own.select_related("parent").first()
    if message is None:
        require_oversight(request.user)
        message = get_answer(message_id)
        with transaction.atomic():
            record_conversation_view(principal, message.session)
            record_action(principal, Action.QUESTIONS_READ, detail={"answers": [str(message.pk)]})
    (shown,) = show_visible_messages(principal, [message])
    return find_stored_question(message), _select_best_passage(shown)


def _build_initial_values(question: str, shown: ShownMessage) -> dict[str, Any]:
    """Return the initial values of the form. Raises InvalidInput for an answer that cannot be saved as a text."""
    documents = dict.fromkeys(str(citation.passage.document_id) for citation in shown.citations)
    return {"question": question, "text": _extract_answer_text(shown), "documents": "\n".join(documents)}


def _select_best_passage(shown: ShownMessage) -> ShownMessage:
    """Return the first of the passages that were found, without our own words; another answer as it is."""
    if not shown.kind:
        return shown
    best = next((sentence.citations for sentence in shown.sentences if sentence.citations), ())
    sentences = tuple(sentence for sentence in shown.sentences if sentence.citations and sentence.citations == best)
    return replace(shown, sentences=sentences, citations=tuple(one for one in shown.citations if one.number in best))


def _extract_answer_text(message: ShownMessage) -> str:
    """Return the text of an answer, to be saved. Raises InvalidInput for one that cannot be verified as a text."""
    if message.queries:
        raise InvalidInput(
            _("This answer has figures that change. Verify its query instead, under “Verify or correct”.")
        )
    if message.masked_count or not message.citations or message.pages:
        raise InvalidInput(_("You can only save an answer from documents, and only if you can open all of them."))
    return join_sentences((sentence.gap or " ", sentence.text) for sentence in message.sentences)


def _list_cited_passages(shown: ShownMessage) -> tuple[VerifiedSpan, ...]:
    return tuple(
        VerifiedSpan(item.passage.document_id, item.passage.chunk_id, item.start, item.end) for item in shown.citations
    )


def _parse_answer_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFound(_("There is no such verified answer.")) from error
