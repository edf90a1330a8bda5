"""Knowledge bases, folders, documents and their versions. Rights on them are on the pages of `knowledge.governance`."""

from typing import Any, Literal, TypeVar

from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Model, OuterRef, Prefetch, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from authz.admin import GuardedModelAdmin
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from copilot_site.lib.text.bilingual import in_language
from knowledge.governance import dry_run_admin  # noqa: F401  # Django looks for admin pages in this file alone
from knowledge.models import Document, DocumentVersion, Folder, FolderKind, KnowledgeBase
from knowledge.services.access import transfer_base
from knowledge.services.folders import add_folder, change_knowledge_base, create_knowledge_base, rename_and_move_folder
from knowledge.services.reindex import list_outdated_versions
from knowledge.webhooks import admin as webhooks_admin  # noqa: F401  # as above

M = TypeVar("M", bound=Model)


class WithRights(GuardedModelAdmin[M]):
    """Rows that rights can be given on: each line and each page leads to them."""

    kind: Literal["base", "folder", "document"]
    change_form_template = "admin/place_change_form.html"

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False  # done on the library pages, where folders and bases are emptied first

    @admin.display(description=_("rights"))
    def rights(self, row: M) -> str:
        return format_html('<a href="{}">{}</a>', self._build_rights_url(row.pk), _("rights"))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        row = kwargs.get("obj")
        context["rights_url"] = self._build_rights_url(row.pk) if row else ""
        return super().render_change_form(request, context, *args, **kwargs)

    def _build_rights_url(self, pk: object) -> str:
        return reverse("rights-place", args=[self.kind, pk])


@admin.register(KnowledgeBase)
class KnowledgeBaseAdmin(WithRights[KnowledgeBase]):
    kind = "base"
    list_display = ("__str__", "org_unit", "rights", "created_at")
    list_select_related = ("org_unit",)
    search_fields = ("name",)
    fieldsets = (
        (None, {"fields": ("name", "description", "org_unit")}),
        (
            _("Advanced"),
            {"fields": ("is_approval_wanted", "is_hidden_text_indexed", "recognition"), "classes": ("collapse",)},
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def save_model(self, request: HttpRequest, obj: KnowledgeBase, form: Any, change: bool) -> None:
        by = Principal.of(request.user)
        if not change:
            made = create_knowledge_base(
                by,
                name=obj.name,
                description=obj.description,
                is_approval_wanted=obj.is_approval_wanted,
                is_hidden_text_indexed=obj.is_hidden_text_indexed,
                recognition=obj.recognition,
            )
            obj.pk = made.pk
            obj._state.adding = False
        elif {"name", "description", "is_approval_wanted", "is_hidden_text_indexed", "recognition"} & set(
            form.changed_data
        ):
            change_knowledge_base(by, obj)
            if {"is_hidden_text_indexed", "recognition"} & set(form.changed_data):
                self._warn_of_outdated_versions(request, obj)
        if "org_unit" in form.changed_data:
            transfer_base(by, obj, to=obj.org_unit)

    def _warn_of_outdated_versions(self, request: HttpRequest, base: KnowledgeBase) -> None:
        count = list_outdated_versions(base).count()
        if count:
            messages.warning(
                request,
                ngettext(
                    (
                        "%(count)s document version is being read again and is not used in answers until then. If it stays "
                        "so, run `manage.py reread`."
                    ),
                    (
                        "%(count)s document versions are being read again and are not used in answers until then. If they "
                        "stay so, run `manage.py reread`."
                    ),
                    count,
                )
                % {"count": count},
            )


class BaseFilter(admin.RelatedOnlyFieldListFilter):
    """Filter by base, under the label of bases: the column's own name is not translated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = KnowledgeBase._meta.verbose_name


@admin.register(Folder)
class FolderAdmin(WithRights[Folder]):
    """The tree, a row for each folder with its path; the rights on a folder hold for everything below it."""

    kind = "folder"
    list_display = ("path", "knowledge_base", "rights", "chunk_count")
    list_filter = (("knowledge_base", BaseFilter),)
    list_select_related = ("knowledge_base",)
    search_fields = ("name",)
    autocomplete_fields = ("parent",)
    ordering = ("knowledge_base__name", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Folder]:
        """Return the rows with the names of the parent folders that this person governs; others are not revealed."""
        mine = filter_governed_rows(Folder, Principal.of(request.user)).filter(
            descendant_links__descendant=OuterRef("pk")
        )
        names = ArraySubquery(mine.order_by("-descendant_links__depth").values("name"))
        return super().get_queryset(request).filter(kind=FolderKind.FOLDER).annotate(names=names)

    @admin.display(description=_("folder"))
    def path(self, folder: Folder) -> str:
        names: list[str] = folder.names  # type: ignore[attr-defined]  # of the queryset
        return " / ".join(map(in_language, names))

    def get_fields(self, request: HttpRequest, obj: Folder | None = None) -> Any:
        return ("parent", "name") if obj is None else ("path", "name")

    def get_readonly_fields(self, request: HttpRequest, obj: Folder | None = None) -> Any:
        """Return the fields not edited here: a folder is moved on its rights page, which previews the effects."""
        if obj is None:
            return ()
        return ("path", "name") if obj.parent_id is None else ("path",)

    def get_form(self, request: HttpRequest, obj: Folder | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        if "parent" in form.base_fields:
            form.base_fields["parent"].required = True
        return form

    def save_model(self, request: HttpRequest, obj: Folder, form: Any, change: bool) -> None:
        by = Principal.of(request.user)
        if change:
            rename_and_move_folder(by, folder_id=obj.pk, name=obj.name, parent_id=None)
            return
        assert obj.parent is not None  # the form requires it
        made = add_folder(by, obj.parent, obj.name)
        obj.pk, obj.knowledge_base_id = made.pk, made.knowledge_base_id
        obj._state.adding = False


@admin.register(Document)
class DocumentAdmin(WithRights[Document]):
    """List documents and their state; their content is read on the library pages, with the right to view."""

    kind = "document"
    list_display = ("title", "filename", "folder", "rights", "status", "updated_at")
    list_filter = (("knowledge_base", BaseFilter),)
    list_select_related = ("folder", "current_version")
    search_fields = ("title", "filename")
    readonly_fields = ("title", "filename", "folder", "language", "created_at", "updated_at")
    fields = readonly_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Return the documents outside the trash and conversations, each with its newest version."""
        versions = DocumentVersion.unscoped.order_by("document_id", "-number").distinct("document_id")
        documents = super().get_queryset(request).filter(trashed_at=None).exclude(folder__kind=FolderKind.ATTACHED)
        return documents.prefetch_related(Prefetch("versions", versions, to_attr="newest"))

    @admin.display(description=_("status"))
    def status(self, document: Document) -> str:
        newest: list[DocumentVersion] = document.newest  # type: ignore[attr-defined]  # of the queryset
        return " ".join(f"{version.get_parse_status_display()} {version.failure_reason}".strip() for version in newest)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


QUEUES = {"interactive": _("single uploads"), "bulk": _("imports")}


class QueueFilter(admin.SimpleListFilter):
    """Filter by the queue that a version waits in, in words."""

    title = _("queue")
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return list(QUEUES.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[DocumentVersion]) -> QuerySet[DocumentVersion]:
        return queryset.filter(queue=self.value()) if self.value() in QUEUES else queryset


@admin.register(DocumentVersion)
class IngestionAdmin(GuardedModelAdmin[DocumentVersion]):
    """Ingestion health: every version with its state, attempts and reason of failure."""

    list_display = (
        "of_document",
        "number",
        "parse_status",
        "why_failed",
        "attempts",
        "waits_in",
        "created_at",
        "published_at",
    )
    list_filter = ("parse_status", QueueFilter)
    list_select_related = ("document",)
    ordering = ("-created_at",)
    fields = readonly_fields = list_display

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentVersion]:
        return super().get_queryset(request).select_related("document")

    @admin.display(description=_("document"), ordering="document__title")
    def of_document(self, version: DocumentVersion) -> str:
        return str(version.document)

    @admin.display(description=_("reason of failure"))
    def why_failed(self, version: DocumentVersion) -> str:
        return version.failure_reason

    @admin.display(description=_("queue"), ordering="queue")
    def waits_in(self, version: DocumentVersion) -> str:
        return str(QUEUES.get(version.queue, version.queue))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: DocumentVersion | None = None) -> bool:
        return False
