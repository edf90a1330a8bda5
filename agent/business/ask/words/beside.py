"""The items of a question that say something, and what stands beside them."""

from collections.abc import Callable, Sequence

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import Lexicon

Mend = Callable[[list[Item], Lexicon], list[Item]]


def saying(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.kind is not Kind.STOP]


def text_of(item: Item | None) -> str:
    return item.text.lower() if item else ""


def next_said(items: Sequence[Item], place: int) -> Item | None:
    """The next item that says something."""
    return next((item for item in items[place + 1 :] if item.kind is not Kind.STOP), None)
