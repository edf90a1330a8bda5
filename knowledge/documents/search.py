"""Finding documents by words and facts, out of what a person may read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import Case, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from authz.people.groups import find_accounts_by_name
from authz.permissions import Right
from authz.principal import Principal
from knowledge.documents.metadata_forms import build_filter_fields, read_filter_conditions
from knowledge.embedding.base import EmbeddingError
from knowledge.library import PAGE_SIZE, UNFINISHED, DocumentRow, build_document_rows
from knowledge.models import Document, DocumentField, DocumentVersion, Folder, KnowledgeBase, ParseStatus
from knowledge.parsers.base import load_parsers, parsers
from knowledge.retrieval.conditions import FieldCondition, build_document_filter
from knowledge.retrieval.search import Scope, search_knowledge
from knowledge.services.mails import AHEAD

BY_TEXT = 50  # passages that are looked at for what they say
BY_MEANING = 5  # of them, the first ones count even where they hold none of the words
ANY = ("", _("any"))
AGES = (7, 30, 365)  # days
STATES: Mapping[str, Any] = {
    "ready": _("ready"),
    "unfinished": _("being read"),
    "failed": _("failed"),
    "review": _("review is due"),
    "review-soon": _("review within a week"),
    "superseded": _("superseded"),
    "unapproved": _("not approved"),
}
UNAPPROVED = {
    "knowledge_base__is_approval_wanted": True,
    "current_version__isnull": False,
    "current_version__approved_at": None,
}
SORTS: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
    "title": (_("title"), ("title", "pk")),
    "newest": (_("newest first"), ("-changed_at", "pk")),
    "oldest": (_("oldest first"), ("changed_at", "pk")),
    "largest": (_("largest first"), (F("size_bytes").desc(nulls_last=True), "pk")),
}


def _list_type_choices() -> list[tuple[str, Any]]:
    load_parsers()
    return [ANY, *((parser.extensions[0], parser.extensions[0].lstrip(".").upper()) for parser in parsers)]


def _list_age_choices() -> list[tuple[str, Any]]:
    """Return the choices of age, anew for each form: a text with a number is in the language of that moment."""
    return [ANY, *((str(days), _("in the last %(days)s days") % {"days": days}) for days in AGES)]


class FindForm(forms.Form):
    """Words and filters. An invalid filter is ignored; an invisible base or folder holds nothing."""

    q = forms.CharField(label=_("Words"), required=False, max_length=300)
    base = forms.UUIDField(required=False, widget=forms.HiddenInput)
    folder = forms.UUIDField(required=False, widget=forms.HiddenInput)
    type = forms.ChoiceField(label=capfirst(_("type")), required=False, choices=_list_type_choices)
    owner = forms.CharField(label=capfirst(_("owner")), required=False, max_length=150)
    age = forms.TypedChoiceField(
        label=_("Changed"), required=False, coerce=int, empty_value=None,
        choices=_list_age_choices,
    )  # fmt: skip
    state = forms.ChoiceField(label=capfirst(_("state")), required=False, choices=[ANY, *STATES.items()])
    sort = forms.ChoiceField(
        label=_("Sorted by"),
        required=False,
        choices=[("", _("relevance")), *((n, w) for n, (w, _o) in SORTS.items())],
    )

    def __init__(self, *args: Any, of: Sequence[DocumentField] = (), **kwargs: Any) -> None:
        """Add a filter for each of `of`, the fields of the chosen base."""
        super().__init__(*args, **kwargs)
        self._of = of
        self.fields.update(build_filter_fields(of))

    @property
    def conditions(self) -> tuple[FieldCondition, ...]:
        """Return the conditions on the base's fields."""
        return read_filter_conditions(self._of, self.given)

    @property
    def given(self) -> dict[str, Any]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}

    @property
    def narrows(self) -> bool:
        """Tell whether a filter or an order is chosen besides the words."""
        return bool(self.given.keys() - {"q", "base", "folder"})

    @property
    def query(self) -> str:
        """Return the query that the other pages of the list repeat."""
        return f"&{urlencode(self.given)}" if self.given else ""


@dataclass(frozen=True)
class FoundDocuments:
    """is_by_text: False where the model that reads texts did not answer: then titles and names alone were searched.

    holds_words: whether one holds some of the words; False where those there are only come close to what they mean.
    changeable, superseded: ids of the shown documents that the person may change, and whose successor they may see.
    """

    page: Page[DocumentRow]
    is_by_text: bool
    holds_words: bool
    changeable: frozenset[UUID]
    superseded: frozenset[UUID]


def find_documents(
    principal: Principal,
    given: Mapping[str, Any],
    number: int | str = 1,
    *,
    conditions: tuple[FieldCondition, ...] = (),
) -> FoundDocuments:
    """Return a page of the matching documents. given, conditions: of FindForm. Searches titles, file names and texts; the search is
    recorded, never its words.

    Raises InvalidInput (too many words).
    """
    documents = _filter_documents(principal, given).filter(build_document_filter(conditions))
    order: tuple[Any, ...] = SORTS[given.get("sort") or "title"][1]
    is_by_text = holds_words = True
    if words := given.get("q", "").strip():
        try:
            by_text, holds_words = _search_document_texts(principal, words, given, conditions)
        except EmbeddingError:
            by_text, is_by_text = [], False
        named = Q(title__icontains=words) | Q(filename__icontains=words)
        holds_words = holds_words or documents.filter(named).exists()
        documents = documents.filter(named | Q(pk__in=by_text))
        if not given.get("sort"):
            places = [When(named, then=Value(-1)), *(When(pk=pk, then=Value(at)) for at, pk in enumerate(by_text))]
            documents = documents.annotate(place=Case(*places, output_field=IntegerField()))
            order = ("place", "title", "pk")
    paginator = Paginator(documents.order_by(*order), PAGE_SIZE)
    page = paginator.get_page(number)
    rows = build_document_rows(page.object_list.select_related("folder", "knowledge_base", "owner", "created_by"))  # type: ignore[attr-defined]
    rows = _add_row_places(principal, rows)
    ids = [row.document.pk for row in rows]
    shown = Document.objects.visible_to(principal).filter(pk__in=ids).values_list("pk", flat=True)
    changeable = Document.objects.reachable_by(principal, Right.CHANGE).filter(pk__in=ids).values_list("pk", flat=True)
    superseded = shown.filter(_build_superseded_filter(principal))
    return FoundDocuments(
        Page(rows, page.number, paginator),  # type: ignore[arg-type]
        is_by_text,
        holds_words,
        frozenset(changeable),
        frozenset(superseded),
    )


def _add_row_places(principal: Principal, rows: list[DocumentRow]) -> list[DocumentRow]:
    """Add its base and folder to each row; a folder that the person does not see is not named."""
    above = Folder.objects.visible_to(principal).filter(parent__isnull=False)
    names = {row.pk: str(row) for row in above.filter(pk__in={row.document.folder_id for row in rows})}
    ways = [(str(row.document.knowledge_base), names.get(row.document.folder_id, "")) for row in rows]
    return [replace(row, place=" / ".join(filter(None, way))) for row, way in zip(rows, ways, strict=True)]


def _search_document_texts(
    principal: Principal, words: str, given: Mapping[str, Any], conditions: tuple[FieldCondition, ...]
) -> tuple[list[UUID], bool]:
    """Return documents whose texts hold some words or come close in meaning, best first; and whether one holds any."""
    scope = Scope(
        knowledge_base_ids=(given["base"],) if "base" in given else (),
        folder_ids=(given["folder"],) if "folder" in given else (),
        metadata=conditions,
    )
    hits = search_knowledge(principal, words, scope=scope, top_k=BY_TEXT).hits
    fitting = [hit for place, hit in enumerate(hits) if place < BY_MEANING or hit.scores.lexical_rank is not None]
    holds_words = any(hit.scores.lexical_rank is not None for hit in hits)
    return list(dict.fromkeys(hit.passage.document_id for hit in fitting)), holds_words


def _filter_documents(principal: Principal, given: Mapping[str, Any]) -> QuerySet[Document]:
    newest = DocumentVersion.objects.visible_to(principal).filter(document=OuterRef("pk")).order_by("-number")
    documents = Document.objects.visible_to(principal).annotate(
        changed_at=Subquery(newest.values("created_at")[:1]),
        size_bytes=Subquery(newest.values("size_bytes")[:1]),
        newest_status=Subquery(newest.values("parse_status")[:1]),
    )
    for name, value in given.items():
        if name in FILTERS:
            documents = documents.filter(FILTERS[name](principal, value))
    return documents


def _build_folder_filter(principal: Principal, folder_id: UUID) -> Q:
    seen = Folder.objects.visible_to(principal).filter(pk=folder_id)
    return Q(folder__ancestor_links__ancestor__in=seen)


def _build_state_filter(principal: Principal, state: str) -> Q:
    if state == "review":
        return Q(review_on__lt=timezone.localdate())
    if state == "review-soon":
        return Q(review_on__lte=timezone.localdate() + AHEAD)
    if state == "unapproved":
        return Q(**UNAPPROVED)
    if state == "superseded":
        return _build_superseded_filter(principal)
    statuses = {"ready": [ParseStatus.COMPLETED], "failed": [ParseStatus.FAILED], "unfinished": list(UNFINISHED)}
    return Q(newest_status__in=statuses[state])


def _build_superseded_filter(principal: Principal) -> Q:
    """Return ids of documents with a successor that this person may see; the existence of others is not revealed."""
    return Q(superseded_by__in=Document.objects.visible_to(principal))


FILTERS: Mapping[str, Callable[[Principal, Any], Q]] = {
    "base": lambda principal, pk: Q(knowledge_base__in=KnowledgeBase.objects.visible_to(principal).filter(pk=pk)),
    "folder": _build_folder_filter,
    "type": lambda _principal, suffix: Q(filename__iendswith=suffix),
    "owner": lambda _principal, name: (
        Q(owner__in=find_accounts_by_name(name)) | Q(owner=None, created_by__in=find_accounts_by_name(name))
    ),
    "age": lambda _principal, days: Q(changed_at__gte=timezone.now() - timedelta(days=days)),
    "state": _build_state_filter,
}
