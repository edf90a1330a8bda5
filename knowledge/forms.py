"""What the library's pages are asked: forms over addresses and bodies. What a name or a file may be, the services say."""

from django import forms
from django.utils.translation import gettext_lazy as _

from knowledge.document_view import Cited
from knowledge.rendering import Span

MOST_OFFSET = 999_999_999  # characters into a text, parts of a document


class UploadForm(forms.Form):
    """One file, with the folders it came in; no `path` for none."""

    file = forms.FileField(
        allow_empty_file=True, error_messages={"required": _("Choose a file: none came with this request.")}
    )
    path = forms.CharField(required=False, strip=False)


class FolderNameForm(forms.Form):
    name = forms.CharField(required=False, strip=False)


class FolderPlaceForm(forms.Form):
    parent = forms.UUIDField()


class OpeningForm(forms.Form):
    """Where a document opens: at a passage, with a span in it, or at a part; in which version. What cannot be read is left out."""

    chunk = forms.UUIDField(required=False)
    start = forms.IntegerField(required=False, min_value=0, max_value=MOST_OFFSET)
    end = forms.IntegerField(required=False, min_value=0, max_value=MOST_OFFSET)
    part = forms.IntegerField(required=False, min_value=0, max_value=MOST_OFFSET)
    version = forms.IntegerField(required=False, min_value=1, max_value=MOST_OFFSET)

    @property
    def span(self) -> Span | None:
        start, end = self._read("start"), self._read("end")
        return Span(start, end) if start is not None and end is not None and start < end else None

    @property
    def cited(self) -> Cited | None:
        self.is_valid()
        chunk_id = self.cleaned_data.get("chunk")
        return Cited(chunk_id, self.span) if chunk_id else None

    @property
    def asked_part(self) -> int | None:
        return self._read("part")

    @property
    def asked_version(self) -> int | None:
        return self._read("version")

    def _read(self, name: str) -> int | None:
        self.is_valid()
        number: int | None = self.cleaned_data.get(name)
        return number
