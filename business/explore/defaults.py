"""Choose what nobody has chosen: subjects to begin with, the first chart of a number, and what still fits a changed number."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from business.explore.choices import Choices
from business.explore.fields import LIST, ExploreFields, explore_url, label_of
from business.logical_query.phrases import pluralise
from business.semantic_layer.model import SemanticModel
from business.sources.services import OpenSource

RECENT = "month:12:rolling"  # the time of a first chart
MAX_NUMBERS = 3  # further numbers on a card


@dataclass(frozen=True)
class TableCard:
    """A table as a card. address: of its first chart; more: names and addresses of other numbers, and of its list."""

    name: str
    help: str
    address: str
    more: list[tuple[str, str]]


def list_subjects(opened: OpenSource, units: Collection[str]) -> list[TableCard]:
    """Return the tables that this person may ask, to begin with one of them."""
    return [_build_subject(opened, units, model) for model in opened.layer.semantic_models]


def _build_subject(opened: OpenSource, units: Collection[str], model: SemanticModel) -> TableCard:
    name, language = label_of(model), get_language() or "en"
    things = name if language.startswith("zh") else pluralise(name)
    numbers = [(_capitalise(label_of(item)), f"{model.name}.{item.name}") for item in model.measures][:MAX_NUMBERS]
    shown = [*numbers, (_("Count"), model.name)]
    found = [(label, fill_default_fields(opened, units, ExploreFields(metrics=(code,)))) for label, code in shown]
    addresses = [(label, explore_url(opened.source.name, fields)) for label, fields in found]
    listed = explore_url(opened.source.name, ExploreFields(metrics=(f"{LIST}{model.name}",)))
    more = [*addresses, (_("List"), listed)]
    return TableCard(_capitalise(things), model.description.text(language), addresses[0][1], more)


def fill_default_fields(opened: OpenSource, units: Collection[str], fields: ExploreFields) -> ExploreFields:
    """Return a number by month of the last year where it has a time, else by its first kind; a list as it is."""
    choices = Choices(opened.catalog, units, fields, opened.today)
    if fields.listed or not choices.base:
        return fields
    if choices.own_time and "@month" in set(_iterate_offered_breakdowns(choices)):
        return replace(fields, breakdowns=("@month",), when=fields.when or RECENT)
    model = opened.catalog.models[choices.base]
    kinds = (f"{model.name}.{item.name}" for item in model.dimensions if item.values and not item.is_name)
    return replace(fields, breakdowns=tuple(kinds)[:1])


def keep_fitting_choices(
    opened: OpenSource, units: Collection[str], fields: ExploreFields, *, is_first: bool
) -> ExploreFields:
    """Return the choices that fit the chosen number; with a first chart where none fits. is_first: nothing was chosen before."""
    choices = Choices(opened.catalog, units, fields, opened.today)
    if not choices.base:
        return fields
    offered, fields_offered = (
        set(_iterate_offered_breakdowns(choices)),
        {entry.value for _label, group in choices.filterable for entry in group},
    )
    breakdowns = tuple(breakdown for breakdown in fields.breakdowns if breakdown in offered)
    filters = tuple(item for item in fields.filters if item.field in fields_offered)
    fitting = replace(fields, breakdowns=breakdowns, filters=filters)
    if fitting != fields:
        fitting = replace(fitting, sort="", time="")
    if fitting.listed:
        return replace(fitting, share=False, compare="", metrics=(f"{LIST}{fitting.listed}",))
    if not choices.times:
        fitting = replace(fitting, when="", start="", end="", compare="")
    is_lost = bool(fields.breakdowns) and not breakdowns
    return fill_default_fields(opened, units, fitting) if is_first or is_lost else fitting


def _iterate_offered_breakdowns(choices: Choices) -> Iterator[str]:
    return (entry.value for _label, group in choices.breakdowns for entry in group)


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
