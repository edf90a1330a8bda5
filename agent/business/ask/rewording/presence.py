"""Verbs that only say that there is something: “papers published in 2020”, “doctors that have prescribed treatments”."""

from dataclasses import replace

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.kinds import words_in
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, ValueRef
from agent.business.ask.words.units import stem

_HAVING = words_in(  # of two things, that one is the other's
    "receive received receiving serve served serving involve involved involving prescribe prescribed attend attended attending "
    "take taken taking"
)
_BECOMING = words_in("published posted occurred occur occurs recorded reported happened happen happens written")


def had(items: list[Item]) -> list[Item]:
    """“Doctors that have prescribed treatments”, “patients who have not received any treatments”: that they have some, or none."""
    content = [item for item in items if item.kind is not Kind.STOP]
    if any(item.kind in (Kind.WINDOW, Kind.PERIOD) for item in content) or len(tables_of(items)) < 1:
        return items
    gone = [
        verb
        for before, verb, after in zip([None, *content], content, content[1:], strict=False)
        if verb.kind in (Kind.UNKNOWN, Kind.EVENT)
        and stem(verb.text.lower()) in _HAVING
        and before is not None
        and before.kind in (Kind.MODEL, Kind.NOT, Kind.DIMENSION)
        and after.kind in (Kind.MODEL, Kind.VALUE, Kind.GROUP)
    ]
    return [replace(item, kind=Kind.STOP) if item in gone else item for item in items]


def come_to_be(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Papers published in 2020”, “reviews posted by users”: that there are such rows, of the one time that their table keeps."""
    verbs = [item for item in items if item.kind is Kind.EVENT and item.text.lower() in _BECOMING]
    is_dated = any(item.kind in (Kind.WINDOW, Kind.PERIOD, Kind.WEEKDAY, Kind.WHEN) for item in items)
    if not verbs or (is_dated and not all(_has_one_time(name, lexicon) for name in tables_of(items))):
        return items
    said = []
    for place, item in enumerate(items):
        after = next((one for one in items[place + 1 :] if one.kind is not Kind.STOP), None)
        is_by = item.kind is Kind.GROUP and item.text.lower() == "by" and after is not None
        is_doer = is_by and items[place - 1] in verbs and after.kind in (Kind.MODEL, Kind.VALUE, Kind.QUOTED)  # type: ignore[union-attr]
        goes_on = item.kind is Kind.AND and after in verbs  # “… and were published in”
        said.append(replace(item, kind=Kind.STOP) if item in verbs or is_doer or goes_on else item)
    return said


def _has_one_time(name: str, lexicon: Lexicon) -> bool:
    """Whether a table has no time, or one alone."""
    return sum(dimension.type == "time" for dimension in lexicon.model(name).dimensions) < 2


def tables_of(items: list[Item]) -> set[str]:
    """The tables that are named, each word counted by the first it may mean."""
    wanted = (Kind.MODEL, Kind.MEASURE, Kind.VALUE, Kind.DIMENSION)
    found = set()
    for item in items:
        if item.kind in wanted and item.refs:
            ref = item.refs[0]
            assert isinstance(ref, ModelRef | MeasureRef | DimensionRef | ValueRef)
            found.add(ref.model)
    return found
