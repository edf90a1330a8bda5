"""The way from a question on business data to a logical query with a language model, as the product and its evaluation ask one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from pydantic import BaseModel

from agent.providers.base import ChatModel
from agent.providers.structured import NoObject, ask_once, said_in
from business.linking.linker import Linker
from business.linking.schema_prompt import schema_prompt
from business.parsing.base import Example
from business.parsing.model.parser import Complete, ModelParser
from business.parsing.model.reply import Malformed

T = TypeVar("T", bound=BaseModel)


async def replied(model: ChatModel, turns: Sequence[Mapping[str, Any]], wanted: type[T]) -> T:
    """One reply of a model. Raises Malformed, and ModelError."""
    try:
        return (await ask_once(model, turns, wanted))[0]
    except NoObject as error:
        raise Malformed(said_in(error.reply), str(error)) from error


def parser_over(
    linker: Linker, complete: Complete, instructions: Callable[[str], str], examples: Sequence[Example]
) -> ModelParser:
    """instructions: the prompt of a name, in the language of the question. examples: verified statements of the source."""

    async def tables(question: str, named_in: str) -> str:
        return schema_prompt(await sync_to_async(linker.link)(question, named_in=named_in))

    return ModelParser(complete, instructions, tables, examples)
