"""Things by what they have or are called: “engineers in Rotterdam”, “the album Back in Black”, “whose record is …”."""

from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.beside import Mend, saying, text_of
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import Lexicon, ModelRef, ValueRef

_SUBJECTS = (
    Kind.MODEL, Kind.MEASURE, Kind.DIMENSION, Kind.QUANTITY, Kind.TIME, Kind.QUOTED, Kind.ROLE, Kind.UNKNOWN, Kind.ADJECTIVE,
)  # fmt: skip


def _title_named(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The album Back in Black”: after a thing that has names of its own, words in capitals are one, as if they were quoted."""
    for place, item in enumerate(items[:-1]):
        if item.kind is not Kind.MODEL or len(item.refs) != 1:
            continue
        name = lexicon.model(item.refs[0].model).name_dimension  # type: ignore[union-attr,unused-ignore]
        first = place + 2 if text_of(items[place + 1]) in ("called", "named") and place + 2 < len(items) else place + 1
        if name is None or not _is_capital(items[first]) or items[first].kind not in (Kind.UNKNOWN, Kind.NUMBER):
            continue
        last = first
        while last + 1 < len(items) and (
            _is_capital(items[last + 1])
            or (items[last + 1].kind is Kind.STOP and last + 2 < len(items) and _is_capital(items[last + 2]))
        ):
            last += 1
        title = " ".join(one.text for one in items[first : last + 1])
        return [*items[: place + 1], Item(Kind.QUOTED, title), *items[last + 1 :]]
    return items


def _is_capital(item: Item) -> bool:
    return item.text[:1].isupper() and item.kind in (Kind.UNKNOWN, Kind.NUMBER, Kind.STOP, Kind.ADJECTIVE)


def _whose(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Whose record is X”: what the one that it belongs to is called."""
    content = saying(items)
    if (
        not items
        or text_of(items[0]) != "whose"
        or not content
        or content[0].kind is not Kind.MODEL
        or len(content[0].refs) != 1
    ):
        return items
    thing = content[0].refs[0]
    owners = {
        step.one
        for step in Joins(lexicon.layer).steps
        if step.many == thing.model and lexicon.model(step.one).name_dimension is not None  # type: ignore[union-attr,unused-ignore]
    }
    if len(owners) != 1:
        return items
    return [Item(Kind.LIST, "which"), Item(Kind.MODEL, "whose", (ModelRef(owners.pop()),)), *items[1:]]


def _things_with(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Engineers in Rotterdam”, “who is on probation”: the things of the one table that has the first value, where none is named."""
    content = saying(items)
    values = [item for item in content if item.kind is Kind.VALUE]
    if not values or any(item.kind in _SUBJECTS for item in content):
        return items
    models = {ref.model for ref in values[0].refs if isinstance(ref, ValueRef)}
    is_name = any(lexicon.dimension(ref).is_name for ref in values[0].refs if isinstance(ref, ValueRef))
    is_who = text_of(items[0]).split(" ")[0] == "who"
    is_plural = values[0].text.lower().endswith("s") and all(
        isinstance(ref, ValueRef) and ref.value.lower() != values[0].text.lower() for ref in values[0].refs
    )
    is_asked = is_plural or is_who or any(item.kind in (Kind.LIST, Kind.BUY, Kind.EXISTS) for item in content)
    is_counted = any(item.kind in (Kind.COUNT, Kind.SHARE) for item in content) and len(content) < 3
    if len(models) != 1 or is_name or not is_asked or is_counted:
        return items
    place = next(n for n, item in enumerate(items) if item is values[0])
    return [
        *items[:place],
        items[place],
        Item(Kind.MODEL, values[0].text, (ModelRef(models.pop()),)),
        *items[place + 1 :],
    ]


CALLED: tuple[Mend, ...] = (_things_with, _whose, _title_named)
