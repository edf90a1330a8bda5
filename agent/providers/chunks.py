"""Parse a chunk of a service's stream, tolerating missing fields, extra fields and other types."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from agent.providers.base import CUT, CallPiece, Delta, Usage
from copilot_site.lib.text.json_input import remove_forbidden_characters


def parse_delta(chunk: object) -> Delta:
    """Return the delta of a parsed chunk.

    Only one choice is read; a whole `message` and the old `function_call` are accepted.
    """
    read = _read_object(chunk)
    counted = _read_usage(_read_object(read.get("usage")))
    choices = read.get("choices")
    choice = _read_object(choices[0]) if isinstance(choices, list) and choices else None
    if choice is None:
        return Delta(usage=counted)
    delta = _read_object(choice.get("delta")) or _read_object(choice.get("message"))
    calls = [_read_object(call) for call in _read_list(delta.get("tool_calls"))]
    if old := _read_object(delta.get("function_call")):
        calls.append({"function": old})
    return Delta(
        text=_read_text(delta.get("content")),
        reasoning=_read_text(delta.get("reasoning_content") or delta.get("reasoning")),
        calls=tuple(map(_read_call_piece, calls)),
        finish=_read_word(choice.get("finish_reason")),
        usage=counted,
    )


def _read_object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_text(content: object) -> str:
    """Return the content as text; some services send a list of parts."""
    if isinstance(content, str):
        return str(remove_forbidden_characters(content))
    return "".join(_read_text(_read_object(part).get("text")) for part in _read_list(content))


def _read_word(value: object) -> str:
    """Return a name or an id as text; some services send a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else _read_text(value)


def _read_number(value: object) -> int | None:
    word = _read_word(value)
    return int(word) if word.isascii() and word.isdecimal() else None


def _read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the usage, None for zero counts: some services send zeros until the end."""
    sent, written = _read_number(usage.get("prompt_tokens")) or 0, _read_number(usage.get("completion_tokens")) or 0
    kept = _read_number(_read_object(usage.get("prompt_tokens_details")).get("cached_tokens"))
    kept = kept or _read_number(usage.get("prompt_cache_hit_tokens")) or 0  # DeepSeek's name
    return Usage(sent, written, min(kept, sent)) if sent or written else None


def _read_call_piece(call: Mapping[str, Any]) -> CallPiece:
    function = _read_object(call.get("function"))
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):  # some services send the object itself
        arguments = json.dumps(arguments, ensure_ascii=False)
    return CallPiece(
        index=_read_number(call.get("index")),
        id=_read_word(call.get("id")),
        name=_read_text(function.get("name")),
        arguments=_read_text(arguments),
    )


OPEN: Final = "<think>"
CLOSE: Final = "</think>"
_BEGINS = re.compile(r"(?:\A|[\n.!?。！？…:：;；\]】)）])\s*\Z")  # where a sentence ends and another may begin
_REMEMBERED = 40  # characters of what was said last


@dataclass
class Thoughts:
    """Separates thinking from text in the deltas of one reply, however the service splits them.

    A thinking block may be anywhere. A mark is an ordinary word after a backtick, and inside a sentence where it is
    never closed. Some services begin the thinking in the prompt, so that only its end is sent. is_begun: this service
    was seen to do so; its replies begin as thinking. Text classified wrongly is sent again as what it was.
    """

    is_begun: bool = False
    _held: str = ""
    _is_inside: bool = False
    _is_past: bool = False  # the answer has begun, with its first word
    _has_thought: bool = False
    _last: str = ""  # what was said before what is held
    _is_block: bool = False  # the open mark begins a sentence, so it cannot be an ordinary word
    _assumed: str = ""  # sent as thinking because earlier replies began with it

    def __post_init__(self) -> None:
        self._is_inside = self._is_block = self.is_begun

    def take(self, delta: Delta) -> Delta:
        if not delta.text:
            return delta
        self._held += delta.text
        spoken, thought, was_thought = "", delta.reasoning, False
        while True:
            if self._is_inside:
                content, thinks, is_done = self._release_thinking()
            elif (before := self._release_unopened_thinking()) is not None:
                content, thinks, is_done = "", f"{spoken}{before}", False
                spoken, was_thought = "", True
            else:
                content, thinks, is_done = self._release_speech()
            spoken, thought = spoken + content, thought + thinks
            if is_done:
                return replace(delta, text=spoken, reasoning=thought, was_thought=was_thought)

    def rest(self, finish: str = "") -> Delta:
        """Return the text held back at the end. finish: why the reply ended."""
        held, self._held = self._held, ""
        if self._is_inside and self.is_begun and not self._has_thought:
            content = f"{self._assumed}{held}"
            return Delta(reasoning=held) if finish in CUT else Delta(text=content.lstrip())
        if self._is_inside and self._is_block:
            return Delta(reasoning=held)
        return Delta(text=f"{OPEN if self._is_inside else ''}{held}")

    def _release_unopened_thinking(self) -> str | None:
        """Return and remove the text before the end of a thinking block that was never opened.

        None where there is no such end.
        """
        before, close, rest = self._held.partition(CLOSE)
        if not close or self._has_thought or OPEN in before or not _BEGINS.search(f"{self._last}{before}"):
            return None
        self.is_begun = self._has_thought = True
        self._is_past, self._last, self._held = False, "", rest
        return before

    def _release_thinking(self) -> tuple[str, str, bool]:
        """Return the text and thinking that can be released, and whether no more can be."""
        if self.is_begun and not self._has_thought and not self._assumed:
            begun = self._held.lstrip()
            if OPEN.startswith(begun) and begun != OPEN:
                return "", "", True
            self._held = self._held if not begun.startswith(OPEN) else begun.removeprefix(OPEN)
        thought, close, rest = self._held.partition(CLOSE)
        if close:
            self._is_inside, self._has_thought, self._held = False, True, rest
            return "", thought, False
        if not self._is_block:  # it may be a word of the answer
            return "", "", True
        sure = max(0, len(self._held) - len(CLOSE) + 1)  # the mark may have begun
        thought, self._held = self._held[:sure], self._held[sure:]
        self._assumed += thought if self.is_begun and not self._has_thought else ""
        return "", thought, True

    def _release_speech(self) -> tuple[str, str, bool]:
        if not self._is_past:  # white space around a block that comes first is nothing
            begun = self._held.lstrip()
            if self._has_thought or begun.startswith(OPEN):
                self._held = begun
            if OPEN.startswith(begun) and begun != OPEN:  # no word yet, or the mark may have begun
                return "", "", True
        content, mark, rest = self._held.partition(OPEN)
        if not mark:
            marks = (OPEN,) if self._has_thought else (OPEN, CLOSE)
            kept = max(size if content.endswith(mark[:size]) else 0 for mark in marks for size in range(len(mark)))
            content, self._held = content[: len(content) - kept], content[len(content) - kept :]
            return self._remember_released_text(content), "", True
        self._held = rest
        before = f"{self._last}{content}"
        if before.endswith("`"):
            return self._remember_released_text(f"{content}{OPEN}"), "", False
        self._is_inside, self._is_block = True, _BEGINS.search(before) is not None
        return self._remember_released_text(content), "", False

    def _remember_released_text(self, text: str) -> str:
        """Remember the text as the last one released, and return it."""
        self._last = f"{self._last}{text}"[-_REMEMBERED:]
        self._is_past |= bool(text.strip())
        return text
