"""The model's controls besides writing and calling tools: ask back, and decline."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from agent.providers.reply import CompleteCall
from agent.tools.base import build_plain_schema
from copilot_site.lib.text.json_input import load_repaired_json

MAX_READINGS = 3
Text = Annotated[str, Field(min_length=1, max_length=500)]


class AskBack(BaseModel):
    """Ask the person what they mean, where the answers would differ and nothing tells; never because nothing was found."""

    readings: list[Text] = Field(
        min_length=2,
        max_length=8,
        description="Two or three complete questions they may have meant, in their language.",
    )


class Decline(BaseModel):
    """End without an answer."""

    reason: Literal["not_found", "not_allowed", "small_talk"] = Field(
        description="not_found: evidence and tools do not answer. not_allowed: it asks to get around permissions, for passwords or "
        "keys, to change data, or for harm. small_talk: a greeting, thanks, or what you can help with."
    )


Control = AskBack | Decline
CONTROLS: Mapping[str, type[Control]] = {"ask_back": AskBack, "decline": Decline}


def build_control_specification(name: str) -> Mapping[str, Any]:
    """Return a control as a tool specification in OpenAI's format."""
    schema = build_plain_schema(CONTROLS[name])
    description = " ".join(str(schema.pop("description")).split())
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def parse_control(call: CompleteCall) -> Control | str:
    """Parse a call of a control; return an error sentence for the model where that fails."""
    try:
        return CONTROLS[call.name].model_validate(load_repaired_json(call.arguments or "{}"))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        return f"Error: {'.'.join(map(str, first['loc'])) or call.name}: {first['msg']}."
    except ValueError:
        return "Error: the arguments are no JSON object."
