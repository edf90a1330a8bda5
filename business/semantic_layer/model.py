"""The semantic layer of a data source: what its tables mean in the company's words, in both languages.

Keys are those of dbt's semantic layer where it has one (semantic_models, entities, dimensions, measures, agg, expr,
agg_time_dimension); what it has not (labels in two languages, synonyms, units, org units, values) stands beside them.
Two models are joined where a foreign entity of one has the name of the primary entity of the other.
"""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from business.semantic_layer.expressions import list_columns
from copilot_site.lib.text.one_line import Line
from knowledge.text.language import detect_language

Aggregation = Literal["count", "count_distinct", "sum", "avg", "min", "max"]
DimensionType = Literal["categorical", "time", "number", "boolean"]
Granularity = Literal["day", "month", "year"]
NAME = r"^[^\s\x00-\x1f]{1,63}$"  # of a part of a layer
PLACE = r"^[^\x00]{1,64}$"  # of a table or a column, as databases name them


class LayerPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(LayerPart):
    """What a thing is called. label: by language, the form shown to people. synonyms: every other word for it, any language."""

    en: Line = ""
    zh: Line = ""

    def all(self) -> tuple[str, ...]:
        return tuple(word for word in (self.en, self.zh) if word)

    def text(self, language: str) -> str:
        """Return the label in a language (`zh…` or any other for English), else in the other one."""
        return (self.zh or self.en) if language.startswith("zh") else (self.en or self.zh)


class NamedPart(LayerPart):
    """A thing people ask about. description: in both languages; a plain text is taken as it is for both."""

    name: str = Field(pattern=NAME)
    label: Words = Words()
    synonyms: tuple[str, ...] = ()
    description: Words = Words()

    @field_validator("description", mode="before")
    @classmethod
    def _in_one_language(cls, value: object) -> object:
        return {"en": value} if isinstance(value, str) else value

    def words(self) -> tuple[str, ...]:
        """Return every way to say it: labels, synonyms, and the name itself with its underscores read as spaces."""
        spoken = self.name.replace("_", " ")
        return tuple(dict.fromkeys([*self.label.all(), *self.synonyms, spoken]))


class UnitRule(LayerPart):
    """Which rows of a table a person may read: those of their org units by a column, or, by statement, all of them.

    shared_with: everyone = whoever may ask this source; granted = only holders of a grant on the table itself.
    """

    column: str | None = None
    shared_with: Literal["everyone", "granted"] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.column is None) == (self.shared_with is None):
            raise ValueError("give either column, or shared_with to state that the table has no org unit")
        return self


class Entity(LayerPart):
    """A key. A foreign entity joins to the model whose primary entity has its name."""

    name: str = Field(pattern=NAME)
    type: Literal["primary", "unique", "foreign"]
    expr: str = Field(pattern=PLACE)


class Value(LayerPart):
    """One value of a column, with the words people use for it.

    synonyms: in any language; the first one of a language is shown to people of that language.
    is_undated: when a row came to have it is not in the table (an employee who left): with a time it is not asked.
    """

    value: str
    synonyms: tuple[str, ...] = ()
    is_undated: bool = False

    def words(self) -> tuple[str, ...]:
        """Return every way to say it."""
        return self.value, *self.synonyms

    def text(self, language: str) -> str:
        """Return it in a language (`zh…` or any other for English): itself, or its first synonym in it."""
        spoken = "zh" if language.startswith("zh") else "en"
        return next((word for word in self.words() if detect_language(word) == spoken), self.value)


class Dimension(NamedPart):
    """What one filters, groups or lists by: a column, or an expression over columns of the table.

    values: the index of a small text column; empty for free text. is_name: what a row is called, shown in lists.
    time_granularity: of a time, the finest that is kept.
    """

    type: DimensionType = "categorical"
    expr: str
    unit: Line = ""
    values: tuple[Value, ...] = ()
    is_name: bool = False
    time_granularity: Granularity = "day"

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if not list_columns(self.expr):
            raise ValueError(f"{self.expr!r} names no column")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        return list_columns(self.expr)


class Measure(NamedPart):
    """A number over rows. expr: a column or an expression over columns of the table; empty for counting rows.

    filter: only rows where a column has one of these values. time: the time dimension it is counted by, where it is not the
    model's own.
    """

    agg: Aggregation
    expr: str = ""
    filter: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    time: str = ""
    unit: Line = ""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        list_columns(self.expr)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        return (*list_columns(self.expr), *self.filter)


class Defaults(LayerPart):
    agg_time_dimension: str = ""


class SemanticModel(NamedPart):
    """One table."""

    table_schema: str = Field(default="public", alias="schema")
    table: str = Field(pattern=PLACE)
    org_unit: UnitRule | None = None
    defaults: Defaults = Defaults()
    entities: tuple[Entity, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    measures: tuple[Measure, ...] = ()
    forbidden_columns: tuple[str, ...] = ()
    default_filter: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        used = (
            {e.expr for e in self.entities}
            | {d.expr for d in self.dimensions}
            | {m.expr for m in self.measures if m.expr}
        )
        hidden = used & set(self.forbidden_columns)
        if hidden:
            raise ValueError(f"column {min(hidden)} is forbidden and used at the same time")
        names = [d.name for d in self.dimensions]
        if len(set(names)) != len(names):
            raise ValueError("two dimensions have one name")
        time = self.defaults.agg_time_dimension
        if time and time not in {d.name for d in self.dimensions if d.type == "time"}:
            raise ValueError(f"agg_time_dimension {time} is not a time dimension of this model")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """Return schema and table."""
        return self.table_schema, self.table

    @property
    def full_name(self) -> str:
        return ".".join(self.place)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns a question may use, each once: everything that is described here and not forbidden.

        After the primary key the dimensions: they are drafted in the table's order, in which `SELECT *` shows them.
        """
        exprs = [e.expr for e in self.entities if e.type == "primary"]
        exprs += [c for d in self.dimensions for c in d.columns] + [e.expr for e in self.entities]
        exprs += [column for measure in self.measures for column in measure.columns]
        exprs += list(self.default_filter)
        exprs += [self.org_unit.column] if self.org_unit and self.org_unit.column else []
        return tuple(dict.fromkeys(column for column in exprs if column not in self.forbidden_columns))

    @property
    def primary(self) -> Entity | None:
        return next((entity for entity in self.entities if entity.type == "primary"), None)

    @property
    def name_dimension(self) -> Dimension | None:
        return next((dimension for dimension in self.dimensions if dimension.is_name), None)


class SemanticLayer(LayerPart):
    """The meaning of one source's tables, with its time zone, fiscal year and sample questions."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")
    description: str = ""
    time_zone: str = "UTC"
    fiscal_year_start: int | None = Field(default=None, ge=1, le=12)
    semantic_models: tuple[SemanticModel, ...] = ()
    sample_questions: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        names = [model.name for model in self.semantic_models]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two semantic models are called {min(twice)}")
        return self
