"""A language model reads passages for the knowledge graph: what they name, and what they state of it, one structured call a passage.

A passage is shown fenced, as data. What comes back counts only as far as it stands in that passage and is of the base's types: a
passage that tells the model what to write can at most have it say what the passage says anyway.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from asgiref.sync import async_to_sync
from pydantic import BaseModel, Field

from agent.attribution.judge import block
from agent.budget import Budget, Spent
from agent.fencing import PASSAGE_CHARACTERS, bounded, escaped
from agent.prompting import prompt
from agent.providers.base import ChatModel, ModelError
from agent.providers.configured import connect, served_model
from agent.providers.metered import Metered, OutOfBudget
from agent.providers.structured import complete
from copilot_site.lib.errors import InvalidInput
from knowledge.graph.model_extractors import NoModel, Used
from knowledge.graph.model_types import GraphTypes
from knowledge.graph.names import Names, folded
from knowledge.graph.pattern_extraction import Named, Said

SECONDS, TOKENS, STEPS = 600.0, 400_000, 400  # of one document
MOST = 40  # entities, and relations, of one passage
SHORTEST = 40  # characters; less names hardly two things


class ReadEntity(BaseModel):
    """name: letter by letter as it stands in the passage. type: one of those that were given."""

    name: str
    type: str


class ReadRelation(BaseModel):
    """subject, object: names of entities; relation: one of those that were given."""

    subject: str
    relation: str
    object: str


class ReadPassage(BaseModel):
    entities: list[ReadEntity] = Field(default_factory=list)
    relations: list[ReadRelation] = Field(default_factory=list)


def read_passages(
    passages: Sequence[str], *, types: GraphTypes, language: str, most: Decimal | None, used: Used
) -> list[Said]:
    """Return a `ModelReader`: with the model of this installation. Raises NoModel."""
    try:
        served = served_model()
    except (ModelError, InvalidInput) as error:
        raise NoModel(str(error)) from error
    if served is None:
        raise NoModel("no language model is set up")
    return async_to_sync(partial(_read, types=types, language=language, most=most, used=used))(
        connect(served), passages
    )


async def _read(
    model: ChatModel, passages: Sequence[str], *, types: GraphTypes, language: str, most: Decimal | None, used: Used
) -> list[Said]:
    spent = Spent()
    metered = Metered(model, Budget(seconds=SECONDS, tokens=TOKENS, steps=STEPS, cost=most), spent)
    try:
        return [await _one(metered, passage, types, language) for passage in passages]
    except OutOfBudget as error:
        raise NoModel(f"it took more than one document, or this month, may: {error.limit.value}") from error
    except ModelError as error:
        raise NoModel(str(error)) from error
    finally:
        used.input_tokens, used.output_tokens, used.cost = spent.input_tokens, spent.output_tokens, spent.cost
        await metered.aclose()


async def _one(model: ChatModel, passage: str, types: GraphTypes, language: str) -> Said:
    if len(passage) < SHORTEST:
        return Said()
    shown = bounded(passage, PASSAGE_CHARACTERS)
    asked = "\n".join(
        [
            f"Types of entities: {'; '.join(map(escaped, types.entities))}",
            f"Relations: {'; '.join(map(escaped, types.relations))}",
            block("passage", 1, shown),
        ]
    )
    messages = [{"role": "system", "content": prompt("graph", language).text}, {"role": "user", "content": asked}]
    return standing_in(passage, await complete(model, messages, ReadPassage), types)


def standing_in(passage: str, read: ReadPassage, types: GraphTypes) -> Said:
    """Return what of a model's answer stands in the passage, word by word, and is of the types that were asked for."""
    said = Said()
    named = {
        folded(each.name): each for each in read.entities[:MOST] if each.type in types.entities and folded(each.name)
    }
    there = Names()
    there.add(named)
    found = {key: Named(named[key].type, text) for key, text in there.found_in(passage)}
    said.name(found.values())
    for each in read.relations[:MOST]:
        subject, other = found.get(folded(each.subject)), found.get(folded(each.object))
        if subject and other and each.relation in types.relations:
            said.state(subject, each.relation, other)
    return said
