"""What a change of a table's words does to questions: how each is read by its words with the saved layer, and with the changed one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import sentence
from business.parsing.base import Clarification, Context, Unparseable
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from business.semantic_layer.model import SemanticLayer, SemanticModel
from knowledge.text.language import language_of

MOST_QUESTIONS = 3


@dataclass(frozen=True)
class Read:
    """How a question is read. told: in words; choices: what it may mean, where it is asked back; sql: before the guard, "" for neither."""

    told: str
    choices: tuple[str, ...] = ()
    sql: str = ""

    @property
    def is_read(self) -> bool:
        return bool(self.sql)


@dataclass(frozen=True)
class Effect:
    question: str
    before: Read
    after: Read

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


def with_table(layer: SemanticLayer, model: SemanticModel) -> SemanticLayer:
    """The layer with this table in the place of the one of its name."""
    models = tuple(model if each.name == model.name else each for each in layer.semantic_models)
    return layer.model_copy(update={"semantic_models": models})


def effects(layer: SemanticLayer, model: SemanticModel, questions: Iterable[str]) -> list[Effect]:
    """Of the first MOST_QUESTIONS; every table counts, whoever may ask it: this is for whoever keeps the layer. Nothing is run."""
    before, after = (Lexicon.of(Catalog.of(each)) for each in (layer, with_table(layer, model)))
    return [
        Effect(question, _read(question, before), _read(question, after))
        for question in list(questions)[:MOST_QUESTIONS]
    ]


def sample_questions(layer: SemanticLayer, model: SemanticModel) -> tuple[str, ...]:
    """Three to begin with: how many rows the table has, in both languages, and one of the layer's own."""
    own = [f"How many {model.label.en} are there?"] if model.label.en else []
    own += [f"有多少{model.label.zh}？"] if model.label.zh else []
    return (*own, *layer.sample_questions)[:MOST_QUESTIONS]


def _read(question: str, lexicon: Lexicon) -> Read:
    language = "zh-hans" if language_of(question) == "zh" else "en"
    catalog = lexicon.catalog
    today = datetime.now(ZoneInfo(catalog.layer.time_zone)).date()
    parsed = parse(question, lexicon, Context(language, today))
    if isinstance(parsed, LogicalQuery):
        try:
            return Read(sentence(parsed, catalog, language, today), sql=compile_query(parsed, catalog, today))
        except Inexpressible as error:
            return Read(str(error))
    if isinstance(parsed, Clarification):
        return Read(_("It may mean several things, and is asked back."), tuple(each.text for each in parsed.choices))
    assert isinstance(parsed, Unparseable)
    return Read(parsed.why)
