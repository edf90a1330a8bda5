"""What a service says in one chunk of its stream, whatever it leaves out, adds, or puts in another type."""

import json
import re
from collections.abc import Mapping
from typing import Any

from agent.providers.base import CallPiece, Delta, Usage

_NO_TEXT = re.compile("[\x00\ud800-\udfff]")  # what no database keeps and no socket sends: NUL, halves of a pair


def delta_of(chunk: object) -> Delta:
    """A chunk as JSON gave it. One choice is read; a whole `message`, or the old `function_call`, says the same."""
    read = _object(chunk)
    counted = _usage(_object(read.get("usage")))
    choices = read.get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else None
    if choice is None:
        return Delta(usage=counted)
    said = _object(choice.get("delta")) or _object(choice.get("message"))
    calls = [_object(call) for call in _list(said.get("tool_calls"))]
    if old := _object(said.get("function_call")):
        calls.append({"function": old})
    return Delta(
        text=_text(said.get("content")),
        reasoning=_text(said.get("reasoning_content") or said.get("reasoning")),
        calls=tuple(map(_piece, calls)),
        finish=_word(choice.get("finish_reason")),
        usage=counted,
    )


def cleaned(value: Any) -> Any:
    """What a model wrote as JSON, without what no database keeps: JSON may hold it escaped."""
    if isinstance(value, str):
        return _NO_TEXT.sub("", value)
    if isinstance(value, list):
        return [cleaned(each) for each in value]
    if isinstance(value, dict):
        return {cleaned(name): cleaned(each) for name, each in value.items()}
    return value


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(content: object) -> str:
    """Content is a text, or for some services a list of parts."""
    if isinstance(content, str):
        return _NO_TEXT.sub("", content)
    return "".join(_text(_object(part).get("text")) for part in _list(content))


def _word(value: object) -> str:
    """A name or an id, which some services send as a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else _text(value)


def _number(value: object) -> int | None:
    word = _word(value)
    return int(word) if word.isascii() and word.isdecimal() else None


def _usage(said: Mapping[str, Any]) -> Usage | None:
    """None where nothing was counted: some services send noughts until the end."""
    counted = Usage(_number(said.get("prompt_tokens")) or 0, _number(said.get("completion_tokens")) or 0)
    return counted if counted != Usage(0, 0) else None


def _piece(call: Mapping[str, Any]) -> CallPiece:
    function = _object(call.get("function"))
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):  # some services send the object itself
        arguments = json.dumps(arguments, ensure_ascii=False)
    return CallPiece(
        index=_number(call.get("index")),
        id=_word(call.get("id")),
        name=_text(function.get("name")),
        arguments=_text(arguments),
    )
