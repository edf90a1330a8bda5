"""The order that a question asks for: the direction, what is ranked by, and how many."""

from business.logical_query.query import Metric
from business.parsing.reader.slots import SUPERLATIVES, Slots, Unread

_DOWN = frozenset({"max", "most", "latest", "dearest", "top"})


def read_ranking(slots: Slots) -> None:
    """The direction, and what is ranked by: the measure or column beside the superlative, or what is counted."""
    for place in slots.said("descending", "ascending"):
        slots.order = ("", slots.has(place, "descending"))
        slots.use(place)
    for place in slots.said("sorted"):
        after = slots.after(place)
        if slots.kind(after) in ("dimension", "measure"):
            slots.order = (slots.ref(after).name, slots.order[1] if slots.order else slots.kind(after) == "measure")
            slots.use(place, *([after] if after in slots.free("dimension", "measure") else []))
    places = [place for place in slots.said(*SUPERLATIVES) if not _is_plain_top(slots, place)]
    tops = [place for place in slots.said("top", "bottom") if _is_plain_top(slots, place)]
    if len(places) > 1:
        raise Unread("two superlatives")
    if not places and not tops:
        if slots.limit is not None:
            raise Unread("the first by what")
        return
    place = places[0] if places else tops[0]
    role = next(role for role in SUPERLATIVES if slots.has(place, role))
    slots.rank_role, slots.descending = role, role in _DOWN
    slots.limit = slots.limit or 1
    slots.use(*places, *tops)
    if slots.ranked_by is None:
        slots.ranked_by = _target(slots, place, role)


def _is_plain_top(slots: Slots, place: int) -> bool:
    """“Top 5”, “前5”: only how many."""
    near = (place - 1, place + 1)
    return slots.has(place, "top", "bottom") and any(slots.kind(each) == "number" for each in near)


def _target(slots: Slots, place: int, role: str) -> Metric | str | None:
    """What a superlative is of; None where it is said elsewhere or by the word itself."""
    after, before = slots.after(place), slots.before(place)
    is_asked_before = slots.kind(before) == "model" and slots.has(slots.before(before), "list")  # 哪个品类有最多的产品
    order = (before, after) if not slots.items[place].text.isascii() and not is_asked_before else (after, before)
    for near in order:
        found = _target_at(slots, near, role, is_after=near == after)
        if found is not None:
            return found
    return None


def _target_at(slots: Slots, near: int, role: str, *, is_after: bool) -> Metric | str | None:
    step = slots.after if is_after else slots.before
    beyond = step(near)
    if slots.has(near, "sum", "avg") and slots.kind(beyond) == "measure":
        near = beyond
    if slots.kind(near) == "measure":
        slots.use(near)
        return Metric(name=slots.ref(near).name)
    if slots.has(near, "avg", "sum") and slots.is_number(beyond):
        return _aggregate(slots, near, beyond)
    if slots.has(near, "count") and slots.kind(beyond) == "model":
        slots.use(near, beyond)
        return Metric(name=slots.ref(beyond).name, agg="count")
    if near in slots.used:
        return None
    return _column_or_count(slots, near, role, is_after=is_after)


def _aggregate(slots: Slots, word: int, column: int) -> Metric:
    slots.use(word, column)
    return Metric(name=slots.ref(column).name, agg="avg" if slots.has(word, "avg") else "sum")


def _column_or_count(slots: Slots, near: int, role: str, *, is_after: bool) -> Metric | str | None:
    if slots.kind(near) == "dimension" and (slots.is_number(near) or slots.is_time(near)):
        before = slots.before(near)
        if not is_after and slots.has(before, "avg", "sum"):
            return _aggregate(slots, before, near)
        slots.use(near)
        return slots.ref(near).name
    is_countable = role in ("most", "fewest") or (
        role in ("max", "min") and 0 <= near < len(slots.items) and not slots.items[near].text.isascii()
    )
    if slots.kind(near) == "model" and is_countable and len(slots.free("model", "dimension")) > 1:
        slots.use(near)
        return Metric(name=slots.ref(near).name, agg="count")
    return None
