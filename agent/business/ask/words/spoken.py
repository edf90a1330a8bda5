"""Words looked up in a layer, to stand for what an adjective or a verb means there."""

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, Ref
from agent.business.ask.words.units import key_of


def found(lexicon: Lexicon, words: tuple[str, ...], wanted: type[Ref]) -> Item | None:  # type: ignore[type-arg,unused-ignore]
    """The first of these words that the layer has, as a number column or a measure."""
    for word in words:
        refs = tuple(ref for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, wanted))
        if wanted is DimensionRef:
            refs = tuple(
                ref
                for ref in refs
                if isinstance(ref, DimensionRef) and lexicon.dimension(ref).type in ("number", "time")
            )
        if refs:
            is_time = any(isinstance(ref, DimensionRef) and lexicon.dimension(ref).type == "time" for ref in refs)
            kind = Kind.TIME if is_time else Kind.QUANTITY if wanted is DimensionRef else Kind.MEASURE
            return Item(kind, word, refs)
    return None
