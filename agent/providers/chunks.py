"""What a service says in one chunk of its stream, whatever it leaves out, adds, or puts in another type."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

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


OPEN: Final = "<think>"
CLOSE: Final = "</think>"
_BEGINS = re.compile(r"(?:\A|[\n.!?。！？…:：;；\]】)）])\s*\Z")  # where a sentence ends and another may begin
_REMEMBERED = 40  # characters of what was said last


@dataclass
class Thoughts:
    """Takes the deltas of one reply in order and gives them with the thinking where it belongs, however the service cuts them.

    A block of thinking may stand anywhere. A mark is a word like others behind a backtick, and inside a sentence where nothing closes it.
    """

    _held: str = ""
    _is_inside: bool = False
    _is_past: bool = False  # the answer has begun, with its first word
    _has_thought: bool = False
    _last: str = ""  # what was said before what is held
    _is_block: bool = False  # the mark that is open begins a sentence, so that nobody takes it for a word

    def take(self, delta: Delta) -> Delta:
        if not delta.text:
            return delta
        self._held += delta.text
        spoken, thought = "", delta.reasoning
        while True:
            said, thinks, is_done = self._thinking() if self._is_inside else self._speaking()
            spoken, thought = spoken + said, thought + thinks
            if is_done:
                return replace(delta, text=spoken, reasoning=thought)

    def rest(self) -> Delta:
        """What is held back at the end."""
        held, self._held = self._held, ""
        if self._is_inside and self._is_block:
            return Delta(reasoning=held)
        return Delta(text=f"{OPEN if self._is_inside else ''}{held}")

    def _thinking(self) -> tuple[str, str, bool]:
        """What can be said and thought of what is held, and whether no more can be."""
        thought, close, rest = self._held.partition(CLOSE)
        if close:
            self._is_inside, self._has_thought, self._held = False, True, rest
            return "", thought, False
        if not self._is_block:  # it may be a word of the answer
            return "", "", True
        sure = max(0, len(self._held) - len(CLOSE) + 1)  # the mark may have begun
        thought, self._held = self._held[:sure], self._held[sure:]
        return "", thought, True

    def _speaking(self) -> tuple[str, str, bool]:
        if not self._is_past:  # white space around a block that comes first is nothing
            begun = self._held.lstrip()
            if self._has_thought or begun.startswith(OPEN):
                self._held = begun
            if OPEN.startswith(begun) and begun != OPEN:  # no word yet, or the mark may have begun
                return "", "", True
        said, mark, rest = self._held.partition(OPEN)
        if not mark:
            kept = next((size for size in range(len(OPEN) - 1, 0, -1) if said.endswith(OPEN[:size])), 0)
            said, self._held = said[: len(said) - kept], said[len(said) - kept :]
            return self._said(said), "", True
        self._held = rest
        before = f"{self._last}{said}"
        if before.endswith("`"):
            return self._said(f"{said}{OPEN}"), "", False
        self._is_inside, self._is_block = True, _BEGINS.search(before) is not None
        return self._said(said), "", False

    def _said(self, text: str) -> str:
        """The text, remembered as what was said last."""
        self._last = f"{self._last}{text}"[-_REMEMBERED:]
        self._is_past |= bool(text.strip())
        return text
