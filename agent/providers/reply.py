"""Assemble deltas into one reply, tolerating missing ids and indexes, whole calls in one delta, and repeated names."""

from dataclasses import dataclass, field
from typing import Any

from agent.providers.base import CallPiece, Delta, Usage
from copilot_site.lib.text.json_input import load_answer_json


@dataclass
class PartialCall:
    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""

    def take(self, piece: CallPiece) -> None:
        self.id = self.id or piece.id
        if piece.index is not None:
            self.index = piece.index
        if piece.name and not self.name.endswith(piece.name):  # some services send the whole name with every piece
            self.name += piece.name
        self.arguments += piece.arguments

    @property
    def is_whole(self) -> bool:
        """Return whether the arguments are valid JSON so far."""
        try:
            load_answer_json(self.arguments)
        except ValueError:
            return False
        return True


@dataclass(frozen=True)
class CompleteCall:
    """A tool call with a unique id. arguments: JSON as the model wrote it, "{}" for nothing."""

    id: str
    name: str
    arguments: str

    def as_message(self) -> dict[str, Any]:
        """Return the call in OpenAI's form, as in the stream's `tool_calls`: arguments are a JSON string."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass
class Reply:
    text: str = ""
    reasoning: str = ""
    finish: str = ""
    usage: Usage | None = None
    _calls: list[PartialCall] = field(default_factory=list)

    def take(self, delta: Delta) -> None:
        if delta.was_thought:
            self.text, self.reasoning = "", f"{self.reasoning}{self.text}"
        self.text += delta.text
        self.reasoning += delta.reasoning
        self.finish = delta.finish or self.finish
        self.usage = delta.usage or self.usage
        for piece in delta.calls:
            self._find_continued_call(piece).take(piece)

    def _find_continued_call(self, piece: CallPiece) -> PartialCall:
        """Return the call that a piece continues, the latest matching one, or a new one.

        An index or an id decides; without either, a name after complete arguments begins the next call.
        """
        known = next((call for call in reversed(self._calls) if self._is_same_call(call, piece)), None)
        if known is None:
            known = PartialCall()
            self._calls.append(known)
        return known

    def _is_same_call(self, call: PartialCall, piece: CallPiece) -> bool:
        has_ids = bool(piece.id and call.id)
        if piece.index is not None and call.index is not None:
            if piece.index != call.index:
                return False
            if has_ids:
                return piece.id == call.id or not piece.name  # some services send a new id with every piece
            return not (piece.name and piece.arguments and call.is_whole)  # and some call every index 0
        if has_ids:
            return piece.id == call.id
        is_last = call is self._calls[-1]
        begins_next = bool(piece.name) and (bool(piece.id) or call.is_whole)
        return is_last and not begins_next

    @property
    def calls(self) -> list[CompleteCall]:
        """Return the calls in their order; a missing id is made from the position."""
        return [
            CompleteCall(call.id or f"call_{place}", call.name.strip(), call.arguments.strip() or "{}")
            for place, call in enumerate(self._calls, 1)
            if call.name.strip()
        ]
