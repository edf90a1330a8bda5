"""A table of a semantic layer as fields: what it is called, its columns with words and values, its measures, and who reads its rows."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import ValidationError

from business.semantic_layer.model import Dimension, Measure, NamedPart, SemanticModel, Value
from copilot_site.lib.errors import InvalidInput

WORDS = 2_000  # characters of one field
CLOSED, BY_COLUMN, EVERYONE, GRANTED = "closed", "column", "everyone", "granted"
WHO = (
    (CLOSED, gettext_lazy("nobody: the table is closed")),
    (BY_COLUMN, gettext_lazy("each person the rows of their units, by a column")),
    (EVERYONE, gettext_lazy("everyone who can ask this source, all rows")),
    (GRANTED, gettext_lazy("people with a right on this table, all rows")),
)
KINDS = (
    ("categorical", gettext_lazy("a text")),
    ("time", gettext_lazy("a time")),
    ("number", gettext_lazy("a number")),
    ("boolean", gettext_lazy("yes or no")),
)
AGGREGATIONS = (
    ("count", gettext_lazy("number of rows")),
    ("count_distinct", gettext_lazy("number of different values")),
    ("sum", gettext_lazy("sum")),
    ("avg", gettext_lazy("average")),
    ("min", gettext_lazy("lowest")),
    ("max", gettext_lazy("highest")),
)


class LinesInput(forms.Textarea):
    def __init__(self) -> None:
        super().__init__(attrs={"rows": 3, "spellcheck": "false"})


class NamedForm(forms.Form):
    """Names and description of a thing, in both languages."""

    label_en = forms.CharField(label=gettext_lazy("English"), required=False, max_length=WORDS)
    label_zh = forms.CharField(
        label=gettext_lazy("Chinese"),
        required=False,
        max_length=WORDS,
        widget=forms.TextInput(attrs={"lang": "zh-Hans"}),
    )
    synonyms = forms.CharField(
        label=gettext_lazy("Also called"),
        required=False,
        max_length=WORDS,
        help_text=gettext_lazy("Words separated by commas, in both languages."),
    )
    description_en = forms.CharField(label=gettext_lazy("Meaning, English"), required=False, max_length=WORDS)
    description_zh = forms.CharField(
        label=gettext_lazy("Meaning, Chinese"),
        required=False,
        max_length=WORDS,
        widget=forms.TextInput(attrs={"lang": "zh-Hans"}),
    )

    def named(self, before: NamedPart | None) -> dict[str, Any]:
        """Return the keys of a part that these fields stand for. before: as it was; a word of its own may have a comma in it."""
        given = self.cleaned_data
        synonyms = before.synonyms if before else ()
        is_same = given["synonyms"] == ", ".join(synonyms)
        return {
            "label": {"en": given["label_en"], "zh": given["label_zh"]},
            "synonyms": list(synonyms) if is_same else words_of(given["synonyms"]),
            "description": {"en": given["description_en"], "zh": given["description_zh"]},
        }


class TableFieldsForm(NamedForm):
    who = forms.ChoiceField(label=gettext_lazy("Who reads its rows"), choices=WHO)
    unit_column = forms.ChoiceField(label=gettext_lazy("Column of the unit"), required=False)
    time = forms.ChoiceField(label=gettext_lazy("Counted by the time"), required=False)

    def __init__(self, data: QueryDict | None, model: SemanticModel) -> None:
        super().__init__(data, initial=_build_initial_table(model))
        none = [("", "–")]
        times = [dimension.name for dimension in model.dimensions if dimension.type == "time"]
        self.fields["unit_column"].choices = none + [(name, name) for name in model.columns]  # type: ignore[attr-defined]
        self.fields["time"].choices = none + [(name, name) for name in times]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("who") == BY_COLUMN and not given.get("unit_column"):
            self.add_error("unit_column", _("Choose the column that assigns rows to units."))
        return given


class ColumnForm(NamedForm):
    """name: of the dimension, which does not change: questions that were kept name it."""

    name = forms.CharField(widget=forms.HiddenInput, max_length=63)
    type = forms.ChoiceField(label=gettext_lazy("Kind of values"), choices=KINDS)
    unit = forms.CharField(label=gettext_lazy("Unit"), required=False, max_length=60)
    values = forms.CharField(
        label=gettext_lazy("Values"),
        required=False,
        max_length=200_000,
        widget=LinesInput,
        help_text=gettext_lazy("One per line: the stored value, an equals sign, words for it separated by commas."),
    )
    is_name = forms.BooleanField(label=gettext_lazy("Names the row in lists"), required=False)
    is_forbidden = forms.BooleanField(label=gettext_lazy("Forbidden: never shown to anyone"), required=False)


class MeasureForm(NamedForm):
    """original: the name it has; "" for a new one."""

    original = forms.CharField(widget=forms.HiddenInput, required=False, max_length=63)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=63)
    agg = forms.ChoiceField(label=gettext_lazy("What is computed"), choices=AGGREGATIONS, initial="count")
    expr = forms.CharField(
        label=gettext_lazy("Of the column"),
        required=False,
        max_length=WORDS,
        help_text=gettext_lazy("A column, or an expression over columns; empty for the number of rows."),
    )
    filter = forms.CharField(
        label=gettext_lazy("Only rows where"),
        required=False,
        max_length=WORDS,
        widget=LinesInput,
        help_text=gettext_lazy("One per line: a column, an equals sign, values separated by commas."),
    )
    unit = forms.CharField(label=gettext_lazy("Unit"), required=False, max_length=60)


Columns = forms.formset_factory(ColumnForm, extra=0)
Measures = forms.formset_factory(MeasureForm, extra=1, can_delete=True)


class TableEditor:
    """The forms of one table, together. data: what was sent; None for the table as it is."""

    def __init__(self, model: SemanticModel, data: QueryDict | None = None) -> None:
        self.model = model
        self.fields = TableFieldsForm(data, model)
        self.columns = Columns(data, prefix="c", initial=[_build_initial_column(item) for item in model.dimensions])
        self.measures = Measures(data, prefix="m", initial=[_build_initial_measure(item) for item in model.measures])

    @property
    def described(self) -> list[tuple[Any, Dimension | None]]:
        """Return each form of a column with the column that it is of."""
        known = {dimension.name: dimension for dimension in self.model.dimensions}
        return [(form, known.get(str(form["name"].value()))) for form in self.columns]

    def changed_table(self) -> SemanticModel:
        """Return the table changed by the forms; what has no field in them stays. Raises InvalidInput with one sentence."""
        checked = {
            form: form.is_valid() for form in (self.fields, self.columns, self.measures)
        }  # each, for what it marks
        if not all(checked.values()):
            raise InvalidInput(_("Check the fields marked below."))
        part = self.model.model_dump(mode="json", by_alias=True)
        part |= self.fields.named(self.model) | self._read_org_unit()
        part["defaults"] = {"agg_time_dimension": self.fields.cleaned_data["time"]}
        part |= self._read_columns() | {"measures": list(self._read_measures())}
        try:
            return SemanticModel.model_validate(part)
        except ValidationError as error:
            raise InvalidInput(error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")) from error

    def _read_org_unit(self) -> dict[str, Any]:
        given = self.fields.cleaned_data
        return {"org_unit": org_unit_of(given["who"], given["unit_column"])}

    def _read_columns(self) -> dict[str, Any]:
        """Return the dimensions that stay, and what is forbidden from now on."""
        known = {dimension.name: dimension for dimension in self.model.dimensions}
        kept: list[dict[str, Any]] = []
        forbidden = list(self.model.forbidden_columns)
        for form in self.columns:
            given = form.cleaned_data
            before = known.get(given["name"])
            if before is None:
                raise InvalidInput(_("The table has no column %(name)s.") % {"name": given["name"]})
            if given["is_forbidden"]:
                forbidden += [column for column in before.columns if column not in forbidden]
                continue
            values = list(_parse_values(given["values"], before.values))
            part = before.model_dump(mode="json") | form.named(before)
            kept.append(part | {name: given[name] for name in ("type", "unit", "is_name")} | {"values": values})
        return {"dimensions": kept, "forbidden_columns": forbidden}

    def _read_measures(self) -> Iterable[dict[str, Any]]:
        known = {item.name: item for item in self.model.measures}
        for form in self.measures:
            given = form.cleaned_data
            if not given or given.get("DELETE"):
                continue
            before = known.get(given["original"])
            part = before.model_dump(mode="json") if before else {}
            filters = dict(_parse_pairs(given["filter"]))
            if before and given["filter"].split() == _format_pairs(before.filter).split():
                filters = {column: list(values) for column, values in before.filter.items()}
            yield (
                part
                | form.named(before)
                | {name: given[name] for name in ("name", "agg", "expr", "unit")}
                | {"filter": filters}
            )


def org_unit_of(who: str, column: str) -> dict[str, str] | None:
    """Return what a layer says of a choice of `WHO`. column: by which, where it is `BY_COLUMN`."""
    if who == CLOSED:
        return None
    return {"column": column} if who == BY_COLUMN else {"shared_with": who}


def words_of(text: str) -> list[str]:
    """Return words by comma, those of Chinese too; each once."""
    for comma in "，、;；":
        text = text.replace(comma, ",")
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _parse_pairs(text: str, known: Iterable[str] = ()) -> Iterable[tuple[str, list[str]]]:
    """Yield the pairs of lines `name = word, word`. known: names that may contain one. Raises InvalidInput."""
    longest = sorted(known, key=len, reverse=True)
    for line in filter(None, map(str.strip, text.splitlines())):
        name = next((item for item in longest if line == item or line.startswith(f"{item} =")), line.partition("=")[0])
        if not name.strip():
            raise InvalidInput(_("“%(line)s” has nothing before its equals sign.") % {"line": line[:80]})
        yield name.strip(), words_of(line[len(name) :].strip().removeprefix("="))


def _parse_values(text: str, before: Iterable[Value]) -> Iterable[dict[str, Any]]:
    known = {item.value: item for item in before}
    for value, words in _parse_pairs(text, known):
        label = known.get(value)
        is_same = label is not None and ", ".join(label.synonyms) == ", ".join(words)
        synonyms = list(label.synonyms) if label and is_same else words
        yield {"value": value, "synonyms": synonyms, "is_undated": bool(label and label.is_undated)}


def _build_initial_words(part: SemanticModel | Dimension | Measure) -> dict[str, Any]:
    return {
        "name": part.name,
        "label_en": part.label.en,
        "label_zh": part.label.zh,
        "synonyms": ", ".join(part.synonyms),
        "description_en": part.description.en,
        "description_zh": part.description.zh,
    }


def _build_initial_table(model: SemanticModel) -> dict[str, Any]:
    unit = model.org_unit
    who = CLOSED if unit is None else BY_COLUMN if unit.column else unit.shared_with
    return _build_initial_words(model) | {
        "who": who,
        "unit_column": unit.column if unit else "",
        "time": model.defaults.agg_time_dimension,
    }


def _build_initial_column(column: Dimension) -> dict[str, Any]:
    return _build_initial_words(column) | {
        "type": column.type,
        "unit": column.unit,
        "is_name": column.is_name,
        "values": _format_pairs({item.value: item.synonyms for item in column.values}),
    }


def _build_initial_measure(measure: Measure) -> dict[str, Any]:
    return _build_initial_words(measure) | {
        "original": measure.name,
        "agg": measure.agg,
        "expr": measure.expr,
        "unit": measure.unit,
        "filter": _format_pairs(measure.filter),
    }


def _format_pairs(pairs: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(f"{name} = {', '.join(words)}" if words else name for name, words in pairs.items())
