"""Data sources in the admin: the connection, the semantic layer as YAML, and who may ask."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from authz.admin import GuardedModelAdmin
from authz.admin_pages import OnOwnPage
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from business.connections.postgres_session import SourceUnavailable
from business.guard.policy import is_system_schema
from business.models import DataSource, SourceEngine, SourceGrant
from business.sandbox.sql_views import drop_all_sandboxes
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.rights import require_allowed_schemas
from business.semantic_layer.yaml_io import read_layer
from business.sources.checks import build_unchecked_message, check_source
from business.sources.connection_rights import (
    FIELDS,
    LIMITS,
    change_connection,
    delete_source,
    list_seen_sources,
    may_connect,
)
from business.sources.grants import grant, revoke_right
from business.sources.services import save_layer
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.outgoing.addresses import AddressRefused, build_service_policy, require_plausible_host


class DataSourceForm(forms.ModelForm[DataSource]):
    password: forms.CharField | None = forms.CharField(
        label=_("Password"),
        required=False,
        widget=forms.PasswordInput(render_value=False),
        help_text=_(
            "Stored encrypted, for this address only. Leave empty to keep the stored one while the address stays the same."
        ),
    )
    layer_yaml: forms.CharField | None = forms.CharField(
        label=_("Semantic layer"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "cols": 110, "spellcheck": "false"}),
        help_text=_("YAML. On the page “Semantic layer” it is drafted from the database, imported and exported."),
    )

    class Meta:
        model = DataSource
        fields = FIELDS
        help_texts = {
            "name": _("Letters, digits, - and _, without spaces. People read it behind each number."),
            "is_dedicated": _("In PostgreSQL: takes away the rights on system functions that everyone has there."),
        }

    def __init__(self, *args: Any, is_tried: bool = True, **kwargs: Any) -> None:
        """Build the form. is_tried: False if the caller tries the source itself."""
        super().__init__(*args, **kwargs)
        self.is_tried = is_tried

    def clean_layer_yaml(self) -> SemanticLayer | None:
        text = self.cleaned_data["layer_yaml"]
        if not text.strip():
            return None
        try:
            layer = read_layer(text)
        except InvalidInput as error:
            raise ValidationError(str(error)) from error
        if layer.name != self.cleaned_data.get("name", self.instance.name):
            raise ValidationError(_("The name in the semantic layer must be the name of the data source."))
        try:
            require_allowed_schemas(layer, self.cleaned_data.get("schemas", self.instance.schemas))
        except InvalidInput as error:
            raise ValidationError(str(error)) from error
        return layer

    def clean_host(self) -> str:
        host: str = self.cleaned_data["host"].strip()
        if not host:
            raise ValidationError(_("Enter the server's host: the product's own server is never a data source."))
        try:
            return require_plausible_host(host, build_service_policy())
        except AddressRefused as error:
            raise ValidationError(str(error)) from error

    def clean_schemas(self) -> list[str]:
        names = [name.strip() for name in self.cleaned_data["schemas"]]
        for name in names:
            if is_system_schema(name):
                raise ValidationError(_("%(name)s is a system schema, which no data source can use.") % {"name": name})
        return names

    def clean(self) -> dict[str, Any]:
        """Fill empty limits with their defaults; MySQL has one schema, the database itself."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("engine") == SourceEngine.MYSQL and "database" in given:
            given["schemas"] = [given["database"]]
        empty = [name for name in LIMITS if name in given and given[name] is None]
        return given | {name: getattr(DataSource(), name) for name in empty}

    def _post_clean(self) -> None:
        """Try an enabled source before it is saved: its server, account, tables and a sandbox."""
        super()._post_clean()  # type: ignore[misc]  # untyped in Django
        is_asked = self.cleaned_data.get("is_active", self.instance.is_active)
        if not self.is_tried or self.errors or not is_asked or not {*FIELDS, "password"} & set(self.changed_data):
            return
        if self.cleaned_data.get("password"):
            self.instance.set_password(self.cleaned_data["password"])
        try:
            for fault in check_source(self.instance):
                self.add_error(None, str(fault))
        except CopilotError as error:
            self.add_error(None, str(error))


class ConnectionForm(DataSourceForm):
    """The connection of an existing source; its layer has pages of its own, which detect concurrent saves."""

    layer_yaml = None


class RightsForm(ConnectionForm):
    """The form for people who may not set the connection."""

    password = None


class ReachChoice(forms.Select):
    """The table of a right. On read-only rows the admin asks a widget marked so for the text, else shows “-”."""

    read_only = True

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        if renderer is None:  # a read-only row, not a form
            return conditional_escape(dict(self.choices).get(value, value))
        return super().render(name, value, attrs, renderer)


class SourceGrantInline(admin.TabularInline[SourceGrant, DataSource]):
    model = SourceGrant
    extra = 0
    fields = ("table", "user", "group", "right", "expires_at")
    autocomplete_fields = ("user", "group")

    def get_formset(self, request: HttpRequest, obj: DataSource | None = None, **kwargs: Any) -> Any:
        """Offer the tables of the semantic layer."""
        formset = super().get_formset(request, obj, **kwargs)
        names = [model.name for model in obj.semantic_layer.semantic_models] if obj else []
        formset.form.base_fields["table"] = forms.ChoiceField(
            label=_("table"),
            required=False,
            widget=ReachChoice,
            choices=[("", _("the whole source")), *((name, name) for name in names)],
        )
        return formset

    def has_add_permission(self, request: HttpRequest, obj: DataSource | None = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: DataSource | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: DataSource | None = None) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: DataSource | None = None) -> bool:
        return True


@admin.register(DataSource)
class DataSourceAdmin(OnOwnPage[DataSource], GuardedModelAdmin[DataSource]):
    own_page = "data-sources"
    form = DataSourceForm
    list_display = ("name", "database", "is_active", "changed_at")
    search_fields = ("name",)
    inlines = (SourceGrantInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DataSource]:
        return list_seen_sources(Principal.of(request.user), request.user).order_by("name").defer("encrypted_password")

    def get_form(self, request: HttpRequest, obj: DataSource | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Show the connection only to people who may set it; a database that the product made has none."""
        if not may_connect(request.user) or (obj and obj.is_embedded):
            kwargs["form"] = RightsForm
        elif obj:
            kwargs["form"] = ConnectionForm
        return super().get_form(request, obj, change, **kwargs)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Add connects: whether the form has a connection that this person may try before saving."""
        obj = kwargs.get("obj")
        connects = may_connect(request.user) and not (obj and obj.is_embedded)
        return super().render_change_form(request, {**context, "connects": connects}, *args, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: DataSource | None = None) -> Any:
        if not may_connect(request.user):
            return FIELDS
        return [name for name in FIELDS if name not in ("is_active", *LIMITS)] if obj and obj.is_embedded else ()

    def get_fieldsets(self, request: HttpRequest, obj: DataSource | None = None) -> Any:
        """Collapse the limits, and the YAML, which imports an existing layer: drafts are edited table by table."""
        names = list(self.get_fields(request, obj))
        if "password" in names and "username" in names:
            names.remove("password")
            names.insert(names.index("username") + 1, "password")
        folded = [name for name in names if name in LIMITS], [name for name in names if name == "layer_yaml"]
        shown = [name for name in names if name not in {*folded[0], *folded[1]}]
        titles = _("Limits"), _("Semantic layer as YAML")
        parts = [
            (title, {"fields": item, "classes": ["collapse"]})
            for title, item in zip(titles, folded, strict=True)
            if item
        ]
        return [(None, {"fields": shown}), *parts]

    def get_inlines(self, request: HttpRequest, obj: DataSource | None) -> Any:
        return self.inlines if obj and self._manages_source(request, obj) else ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff and may_connect(request.user))

    def has_delete_permission(self, request: HttpRequest, obj: DataSource | None = None) -> bool:
        may_connect_and_keeps = may_connect(request.user) and (obj is None or self._manages_source(request, obj))
        return super().has_delete_permission(request, obj) and may_connect_and_keeps

    def _manages_source(self, request: HttpRequest, source: DataSource) -> bool:
        """Return whether this person manages the layer and who may ask."""
        return filter_governed_rows(DataSource, Principal.of(request.user)).filter(pk=source.pk).exists()

    def save_model(self, request: HttpRequest, obj: DataSource, form: Any, change: bool) -> None:
        if may_connect(request.user) and change_connection(
            request.user, obj, password=form.cleaned_data.get("password", "")
        ):
            messages.warning(
                request,
                _(
                    "The stored password was for the old address and has been removed. Enter the one for the new address."
                ),
            )
        layer = form.cleaned_data.get("layer_yaml")
        if layer is not None and not save_layer(Principal.of(request.user), obj, layer):
            messages.warning(request, build_unchecked_message())

    def response_add(self, request: HttpRequest, obj: DataSource, post_url_continue: str | None = None) -> HttpResponse:
        """Redirect to the semantic layer of a new source: without one, the source answers nothing."""
        if {"_addanother", "_continue"} & request.POST.keys() or not self._manages_source(request, obj):
            return super().response_add(request, obj, post_url_continue)
        message = _("%(name)s is connected. Next: what its tables mean, then who can ask.") % {"name": obj.name}
        messages.success(request, message)
        return redirect("source-layer", obj.pk)

    def delete_model(self, request: HttpRequest, obj: DataSource) -> None:
        """Delete the source and its database's sandboxes; if that does not answer they stay, and the page says so."""
        try:
            if obj.engine == SourceEngine.POSTGRESQL:
                drop_all_sandboxes(obj.address)
        except (SourceUnavailable, InvalidInput) as error:
            self.refused(request, error)
        delete_source(request.user, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[DataSource]) -> None:
        for source in queryset:
            self.delete_model(request, source)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        by = Principal.of(request.user)
        formset.save(commit=False)
        for row in formset.deleted_objects:
            revoke_right(by, form.instance, of=row.user or row.group, table=row.table, right=Right(row.right))
        for row in formset.new_objects:
            holder = row.user or row.group
            grant(by, form.instance, to=holder, table=row.table, right=Right(row.right), expires_at=row.expires_at)
