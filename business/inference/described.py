"""A language model's proposals for a draft: labels, synonyms and descriptions in both languages.

They fill only empty fields, and nothing is saved: a person accepts them or not.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, Field

from business.linking.linker import Linked
from business.linking.schema_prompt import build_schema_prompt
from business.semantic_layer.model import NamedPart, SemanticLayer, SemanticModel, Words

LABEL_CHARACTERS = 60
DESCRIPTION_CHARACTERS = 300
MAX_SYNONYMS = 6
N = TypeVar("N", bound=NamedPart)
T = TypeVar("T", bound=BaseModel)
Progress = Callable[[int, int, str, str], None]
"""Tables done, all tables, the name of this one, and why it was left as it is; "" for nothing."""


class CompletionCall(Protocol):
    """Calls a language model with turns, for one object of the wanted form. Raises the model client's errors."""

    def __call__(self, turns: Sequence[Mapping[str, Any]], wanted: type[T], /) -> Awaitable[T]: ...


def select_texts(value: Any) -> Any:
    """Return the texts of a list that a model wrote; none for anything but a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _read_text(value: object) -> object:
    return value if isinstance(value, str) else ""


Text = Annotated[str, BeforeValidator(_read_text)]


class DescribedName(BaseModel):
    """What a thing is called. name: as in the table shown; "" for the table itself."""

    name: Text = ""
    label_en: Text = ""
    label_zh: Text = ""
    synonyms: Annotated[list[str], BeforeValidator(select_texts)] = Field(default_factory=list)
    description_en: Text = ""
    description_zh: Text = ""


class TableWords(BaseModel):
    """The words of a table, its columns and its measures."""

    things: list[DescribedName] = Field(default_factory=list)


async def describe_layer(
    layer: SemanticLayer,
    complete: CompletionCall,
    instructions: str,
    *,
    at_once: int,
    progress: Progress,
    errors: tuple[type[Exception], ...] = (),
) -> SemanticLayer:
    """Return the layer with words for every table, several asked concurrently. errors: the model's; the table then
    stays unchanged.
    """
    turn, done = asyncio.Semaphore(at_once), 0

    async def described(model: SemanticModel) -> SemanticModel:
        nonlocal done
        async with turn:
            found, why = model, ""
            try:
                found = await describe_table(model, complete, instructions)
            except errors as error:
                why = str(error)
            done += 1
            progress(done, len(layer.semantic_models), model.name, why)
            return found

    models = await asyncio.gather(*map(described, layer.semantic_models))
    return layer.model_copy(update={"semantic_models": tuple(models)})


async def describe_table(model: SemanticModel, complete: CompletionCall, instructions: str) -> SemanticModel:
    """Describe one table, without telling names of org units' rows. Raises the model client's errors."""
    dimensions = frozenset(f"{model.name}.{dimension.name}" for dimension in model.dimensions)
    measures = frozenset(f"{model.name}.{measure.name}" for measure in model.measures)
    shown = escape(build_schema_prompt(Linked((model,), dimensions, measures)), quote=False)
    turns = [{"role": "system", "content": instructions}, {"role": "user", "content": f"<tables>\n{shown}\n</tables>"}]
    return add_words_to_table(model, await complete(turns, TableWords))


def add_words_to_table(model: SemanticModel, words: TableWords) -> SemanticModel:
    """Return the table with the fitting words, without unknown names and words that another of its parts has."""
    things = {thing.name.rpartition(".")[2]: thing for thing in words.things}
    own = things.get("", things.get(model.name))
    taken = {word.casefold() for part in (*model.dimensions, *model.measures) for word in part.words()}
    return _add_words_to_part(model, own, taken).model_copy(
        update={
            "dimensions": tuple(
                _add_words_to_part(dimension, things.get(dimension.name), taken) for dimension in model.dimensions
            ),
            "measures": tuple(
                _add_words_to_part(measure, things.get(measure.name), taken) for measure in model.measures
            ),
        }
    )


def _add_words_to_part(named: N, called: DescribedName | None, taken: set[str]) -> N:
    if called is None:
        return named
    own = {word.casefold() for word in named.words()}
    synonyms = [word for word in _limit_synonyms(called.synonyms) if word.casefold() not in taken | own]
    taken.update(word.casefold() for word in synonyms)
    label = Words(
        en=named.label.en or called.label_en.strip()[:LABEL_CHARACTERS],
        zh=named.label.zh or called.label_zh.strip()[:LABEL_CHARACTERS],
    )
    description = Words(
        en=named.description.en or called.description_en.strip()[:DESCRIPTION_CHARACTERS],
        zh=named.description.zh or called.description_zh.strip()[:DESCRIPTION_CHARACTERS],
    )
    update = {"label": label, "description": description, "synonyms": (*named.synonyms, *synonyms)}
    return named.model_copy(update=update)


def _limit_synonyms(words: Iterable[str]) -> list[str]:
    found = dict.fromkeys(word.strip() for word in words if 0 < len(word.strip()) <= LABEL_CHARACTERS)
    return list(found)[:MAX_SYNONYMS]
