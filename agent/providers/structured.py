"""Get a JSON object from a model: by strict schema, else a tool call, else JSON mode, else plain text."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agent.providers.base import ChatModel, Message, ModelFell, ModelRefused, ModelUnreadable, Shape
from agent.providers.reply import Reply
from copilot_site.lib.text.json_input import load_answer_json

T = TypeVar("T", bound=BaseModel)

MAX_CHARACTERS = 12_000  # of one answer; small models held to a schema may fill its strings without end
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class NoObject(ValueError):
    """A reply is not an object of the requested form; the text says why. reply: what came."""

    def __init__(self, why: str, reply: Reply) -> None:
        super().__init__(why)
        self.reply = reply


async def request_object(model: ChatModel, messages: Sequence[Message], wanted: type[T]) -> T:
    """Return the model's answer as `wanted`. Raises NoObject, and ModelError."""
    reply = await _request_strictest_reply(model, messages, wanted)
    try:
        return parse_wanted_object(extract_reply_content(reply), wanted)
    except ValueError as error:
        raise NoObject(str(error), reply) from error


async def request_object_with_repair(model: ChatModel, messages: Sequence[Message], wanted: type[T]) -> T:
    """Return the model's answer as `wanted`, with one retry for repair.

    Raises ModelError: ModelUnreadable where two answers in a row cannot be parsed, or one does not end.
    """
    asked = list(messages)
    for _attempt in range(2):
        try:
            return await request_object(model, asked, wanted)
        except NoObject as error:
            asked += [
                {"role": "assistant", "content": extract_reply_content(error.reply) or "(nothing)"},
                {"role": "user", "content": f"This cannot be read ({error}). Answer with the JSON object alone."},
            ]
    raise ModelUnreadable(f"{model.name} twice gave no JSON object of the form that was asked for")


def extract_reply_content(reply: Reply) -> str:
    """Return a reply's content: the arguments of its tool call, else its text."""
    return reply.calls[0].arguments if reply.calls else reply.text


async def _request_strictest_reply(model: ChatModel, messages: Sequence[Message], wanted: type[BaseModel]) -> Reply:
    """Return the reply in the strictest form that the service accepts. Raises the ModelError of the last form tried."""
    schema, name = _build_object_schema(wanted), wanted.__name__
    forms = (
        Shape(name, _convert_to_strict_schema(schema)),
        Shape(name, schema, "tool"),
        Shape(name, schema, "json"),
        None,
    )
    for form in forms:
        reply = Reply()
        try:
            async for delta in model.stream(messages, shape=form):
                reply.take(delta)
                if len(extract_reply_content(reply)) > MAX_CHARACTERS:
                    raise ModelUnreadable(f"{model.name} did not end its JSON object")
        except (ModelRefused, ModelFell):
            if form is None:
                raise
        else:
            return reply
    raise AssertionError("the last form raises or returns")


@cache
def _build_object_schema(wanted: type[BaseModel]) -> Mapping[str, Any]:
    """Return a cached schema, because making it takes milliseconds."""
    return wanted.model_json_schema()


def _convert_to_strict_schema(schema: Any) -> Any:
    """Return the schema in OpenAI's strict form: every property required, no others allowed, no defaults."""
    if isinstance(schema, list):
        return [_convert_to_strict_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "properties" not in schema:
        return {name: _convert_to_strict_schema(value) for name, value in schema.items() if name != "default"}
    properties = {name: _convert_to_strict_schema(value) for name, value in schema["properties"].items()}
    rest = {name: _convert_to_strict_schema(value) for name, value in schema.items() if name != "properties"}
    return rest | {"properties": properties, "required": list(properties), "additionalProperties": False}


def parse_wanted_object(text: str, wanted: type[T]) -> T:
    """Parse the object in a text that may have fences, surrounding text or extra commas.

    Raises ValueError, in one line.
    """
    try:
        return wanted.model_validate(_extract_json_object(text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _extract_json_object(text: str) -> Any:
    fenced = _FENCE.search(text)
    body = fenced[1] if fenced else text
    start, end = body.find("{"), body.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in it")
    try:
        return load_answer_json(_TRAILING_COMMA.sub(r"\1", body[start : end + 1]))
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from None
