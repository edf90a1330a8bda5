"""Forms for the requests of the library's pages. The services validate names and files."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from authz.people.groups import find_accounts_by_name
from copilot_site.lib.http.forms import PickedInput
from knowledge.documents.text import OpenedPassage
from knowledge.library import PAGE_SIZE
from knowledge.models import Document
from knowledge.rendering import Span
from knowledge.services.folders import NAME_LENGTH
from knowledge.services.metadata import StatedMetadata

MAX_OFFERED = 200  # names that a field offers while somebody types
MAX_OFFSET = 999_999_999  # characters into a text, parts of a document


class UploadForm(forms.Form):
    """One file, with the folders it came in; no `path` for none."""

    file = forms.FileField(allow_empty_file=True, error_messages={"required": _("Choose a file first.")})
    path = forms.CharField(required=False, strip=False)


class FolderNameForm(forms.Form):
    name = forms.CharField(required=False, strip=False)


class FolderPlaceForm(forms.Form):
    parent = forms.UUIDField()


class OpeningForm(forms.Form):
    """The place to open a document at: a passage and span, or a part; and its version. Invalid values are left out."""

    chunk = forms.UUIDField(required=False)
    start = forms.IntegerField(required=False, min_value=0, max_value=MAX_OFFSET)
    end = forms.IntegerField(required=False, min_value=0, max_value=MAX_OFFSET)
    part = forms.IntegerField(required=False, min_value=0, max_value=MAX_OFFSET)
    version = forms.IntegerField(required=False, min_value=1, max_value=MAX_OFFSET)

    @property
    def span(self) -> Span | None:
        start, end = self._read_number("start"), self._read_number("end")
        return Span(start, end) if start is not None and end is not None and start < end else None

    @property
    def cited(self) -> OpenedPassage | None:
        self.is_valid()
        chunk_id = self.cleaned_data.get("chunk")
        return OpenedPassage(chunk_id, self.span) if chunk_id else None

    @property
    def asked_part(self) -> int | None:
        return self._read_number("part")

    @property
    def asked_version(self) -> int | None:
        return self._read_number("version")

    def _read_number(self, name: str) -> int | None:
        self.is_valid()
        number: int | None = self.cleaned_data.get(name)
        return number


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        return [super(FilesField, self).clean(item, initial) for item in data or ()]


class NewBaseForm(forms.Form):
    """A knowledge base, who may read it, and its first files."""

    name = forms.CharField(label=capfirst(_("name")), max_length=NAME_LENGTH)
    description = forms.CharField(
        label=_("What is in it"), max_length=500, required=False, help_text=_("One sentence that helps people find it.")
    )
    readers = forms.ModelMultipleChoiceField(
        label=_("Who may read it"),
        queryset=Group.objects.order_by("name"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Nobody else can see it. You can set finer rights later."),
    )
    first_files = FilesField(
        label=_("First files"), required=False, help_text=_("More, and whole folders, can be dropped on the next page.")
    )


class FactsForm(forms.Form):
    """A document's metadata. owner: a name; superseded_by: the file name or title of another one of its base."""

    title = forms.CharField(label=capfirst(_("title")), max_length=NAME_LENGTH)
    owner = forms.CharField(
        label=capfirst(_("owner")),
        required=False,
        help_text=_("Name or sign-in name of the person responsible for its content."),
    )
    review_on = forms.DateField(
        label=capfirst(_("to be reviewed by")),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    superseded_by = forms.CharField(
        label=capfirst(_("superseded by")),
        required=False,
        help_text=_("File name or title of the document that replaces this one. Answers prefer it."),
    )

    has_mistake = False  # shown again, as it was sent

    def __init__(self, *args: Any, others: QuerySet[Document], **kwargs: Any) -> None:
        """Offer `others`, the documents of the base that the person may see."""
        super().__init__(*args, **kwargs)
        self._others = others

    def offer(self, owners: QuerySet[User], successors: QuerySet[Document]) -> None:
        """Set the choices to pick from, MAX_OFFERED of each; every other name can be typed."""
        people = owners.order_by("username")[:MAX_OFFERED]
        documents = successors.order_by("title", "pk").values_list("filename", "title")[:MAX_OFFERED]
        self.fields["owner"].widget = PickedInput([(person.username, person.get_full_name()) for person in people])
        self.fields["superseded_by"].widget = PickedInput(documents)

    def clean_owner(self) -> User | None:
        name: str = self.cleaned_data["owner"].strip()
        if not name:
            return None
        found = list(find_accounts_by_name(name).filter(is_active=True)[:2])
        if not found:
            raise forms.ValidationError(gettext("There is no active account “%(name)s”.") % {"name": name})
        if len(found) > 1:
            raise forms.ValidationError(
                gettext("Several people are called “%(name)s”; give the sign-in name.") % {"name": name}
            )
        return found[0]

    def clean_superseded_by(self) -> Document | None:
        name: str = self.cleaned_data["superseded_by"].strip()
        if not name:
            return None
        found = list(self._others.filter(filename=name)[:2]) or list(self._others.filter(title=name)[:2])
        if len(found) == 1:
            return found[0]
        if found:
            raise forms.ValidationError(
                gettext("Several documents are called “%(name)s”; give a file name that only one has.") % {"name": name}
            )
        raise forms.ValidationError(
            gettext("There is no document “%(name)s” in this knowledge base that you can see.") % {"name": name}
        )

    @property
    def facts(self) -> StatedMetadata:
        return StatedMetadata(**self.cleaned_data)


class ReplaceForm(forms.Form):
    file = forms.FileField(label=_("The new file"), allow_empty_file=True)


class PlaceForm(forms.Form):
    folder = forms.UUIDField()


class IdsField(forms.Field):
    """Ids of rows; anything else is an error."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[UUID]:
        found = [forms.UUIDField().clean(item) for item in value or ()]
        if not found:
            raise forms.ValidationError(gettext("Choose at least one document."))
        if len(found) > PAGE_SIZE:
            raise forms.ValidationError(gettext("Choose at most %(most)s documents at once.") % {"most": PAGE_SIZE})
        return list(dict.fromkeys(found))


class ChosenForm(forms.Form):
    """Several documents."""

    documents = IdsField()


class SelectionForm(ChosenForm):
    """Several documents, what is done to them, and the query of the list that they were chosen in."""

    what = forms.ChoiceField(choices=[("move", ""), ("rights", ""), ("trash", ""), ("restore", "")])
    folder = forms.UUIDField(required=False)
    back = forms.CharField(required=False, max_length=2_000)
