"""Thinking that a service leaves in the text: what a model writes between <think> and </think> before its answer."""

from dataclasses import dataclass, replace
from typing import Final

from agent.providers.base import Delta

OPEN: Final = "<think>"
CLOSE: Final = "</think>"


@dataclass
class Thoughts:
    """Takes the deltas of one reply in order and gives them with the thinking where it belongs, however the service cuts them."""

    _held: str = ""
    _is_inside: bool = False
    _was_inside: bool = False
    _is_past: bool = False

    def take(self, delta: Delta) -> Delta:
        if self._is_past or not delta.text:
            return delta
        self._held += delta.text
        begun = self._held.lstrip()
        if self._was_inside:
            self._held = begun  # the answer begins with its first word
            return self._let_go(delta) if begun else replace(delta, text="")
        if not self._is_inside and begun.startswith(OPEN):
            self._is_inside, self._held = True, begun.removeprefix(OPEN)
        if self._is_inside:
            return self._inside(delta)
        return replace(delta, text="") if OPEN.startswith(begun) else self._let_go(delta)

    def rest(self) -> Delta:
        """What is held back at the end."""
        held, self._held = self._held, ""
        return Delta(reasoning=held) if self._is_inside else Delta(text=held)

    def _inside(self, delta: Delta) -> Delta:
        thought, close, answer = self._held.partition(CLOSE)
        if close:
            self._is_inside, self._was_inside, self._held = False, True, ""
            spoken = self.take(replace(delta, text=answer))
            return replace(spoken, reasoning=delta.reasoning + thought)
        sure = max(0, len(self._held) - len(CLOSE) + 1)  # the mark may have begun
        thought, self._held = self._held[:sure], self._held[sure:]
        return replace(delta, text="", reasoning=delta.reasoning + thought)

    def _let_go(self, delta: Delta) -> Delta:
        self._is_past, text, self._held = True, self._held, ""
        return replace(delta, text=text)
