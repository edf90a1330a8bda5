"""The parts of a question that stand for themselves: numbers, averages, related rows, times, groups."""

from datetime import date
from functools import partial
from typing import get_args

from business.logical_query.query import (
    Comparison,
    Dimension,
    Filter,
    Grain,
    LogicalQuery,
    Metric,
    Related,
    Sign,
    TimeRange,
)
from business.logical_query.times import in_the_year_of, whole_months
from business.parsing.reader.slots import SUPERLATIVES, Slots, Threshold, Unread

_BEFORE: dict[str, Sign] = {"more": ">", "at_least": ">=", "less": "<", "at_most": "<=", "exactly": "="}
_AFTER: dict[str, Sign] = {"or_more": ">=", "or_less": "<="}
_ONE_PERIOD = frozenset({1, 3, 6, 12})


def read_numbers(slots: Slots) -> None:
    """Numbers with a comparison become conditions; those of a ranking its length."""
    for place in slots.free("number"):
        if place in slots.used:
            continue
        second = _between(slots, place)
        if second is not None:
            first = place - 1 if slots.has(place - 1, "between") else place
            _condition(slots, first, second, [(">=", place), ("<=", second)])
            continue
        op = next((sign for role, sign in _BEFORE.items() if slots.has(place - 1, role)), None)
        behind = place + 1
        while slots.has(behind, "currency", "counter", "occasion", "unit") and not slots.has(behind, *_AFTER):
            behind += 1
        after = next((sign for role, sign in _AFTER.items() if slots.has(behind, role)), None)
        if op is not None and not (
            op == "=" and slots.is_soft(place - 1) and not _is_column(slots, slots.before(place - 1))
        ):
            slots.use(place - 1)
            _condition(slots, place - 1, place, [(op, place)])
        elif after is not None:
            slots.use(behind)
            _condition(slots, place, behind, [(after, place)])
        elif _is_column(slots, place - 1) and not slots.has(slots.after(place), *SUPERLATIVES):
            _condition(slots, place, place, [("=", place)])
        else:
            _limit(slots, place)


def _is_column(slots: Slots, place: int) -> bool:
    return slots.kind(place) == "dimension" and slots.is_number(place)


def _is_key(slots: Slots, place: int) -> bool:
    """A number that only names a row is not compared."""
    model, dimension = slots.catalog.dimension(slots.ref(place).name)
    return dimension.expr in {entity.expr for entity in model.entities}


def _between(slots: Slots, place: int) -> int | None:
    """The place of the second number of “between 5 and 10”, “5到10之间”."""
    joint = place + 1
    while slots.has(joint, "currency", "counter", "occasion", "unit"):
        joint += 1
    second = joint + 1
    behind = slots.after(second)
    is_framed = (
        slots.has(place - 1, "between") or slots.has(behind, "between_end") or slots.has(second + 1, "between_end")
    )
    if slots.kind(second) == "number" and slots.has(joint, "and", "between_to") and is_framed:
        slots.use(joint, *(each for each in (place - 1,) if slots.has(each, "between")))
        slots.use(*(each for each in (second + 1, behind) if slots.has(each, "between_end")))
        return second
    return None


def _limit(slots: Slots, place: int) -> None:
    number = slots.items[place].number or 0
    if slots.limit is not None or number != int(number) or not 0 < number <= 1_000:
        raise Unread("", unknown=(slots.items[place].text,))
    near = (slots.before(place), slots.after(place))
    if not any(slots.has(each, *SUPERLATIVES) for each in near) and not slots.said(*SUPERLATIVES):
        raise Unread("", unknown=(slots.items[place].text,))
    slots.limit = int(number)
    slots.use(place)


def _condition(slots: Slots, first: int, last: int, bounds: list[tuple[Sign, int]]) -> None:
    """What is compared with a number: the column or measure before it, else what is counted behind or before it."""
    slots.use(*(place for _op, place in bounds))
    before, after = slots.before(first), slots.after(last)
    values = [(op, slots.items[place].number or 0.0) for op, place in bounds]
    if (
        len(bounds) > 1
        and slots.items[bounds[0][1]].text.isdecimal()
        and not slots.items[bounds[1][1]].text.isdecimal()
    ):
        raise Unread("whose scale the first number has")  # 1-2万
    is_equal = [op for op, _value in values] == ["="]
    if any(_is_column(slots, near) and _is_key(slots, near) and not is_equal for near in (before, after)):
        raise Unread("a number that names a row")
    column = next((near for near in (before, after) if _is_column(slots, near) and near not in slots.used), None)
    if column is not None:
        slots.use(column)
        slots.filters += [Filter(field=slots.ref(column).name, op=op, values=(value,)) for op, value in values]
    else:
        is_near = all(slots.items[place].text != "的" for place in range(last + 1, min(after, len(slots.items))))
        metric = _counted(slots, bounds[-1][1], before, after if is_near else -1)
        slots.thresholds += [Threshold(metric, op, value) for op, value in values]


def _counted(slots: Slots, number: int, before: int, after: int) -> Metric:
    """What is held against a number: a measure, or how many things. “Orders over 5000” does not say what of them. Raises Unread."""
    for place in (before, after):
        if slots.kind(place) == "measure" and place not in slots.used:
            slots.use(place)
            return Metric(name=slots.ref(place).name)
    if slots.has(number + 1, "currency", "unit"):
        raise Unread("an amount of what")
    if slots.has(before, "count") and slots.kind(slots.before(before)) == "model":  # 订单数超过5
        slots.use(before, slots.before(before))
        return Metric(name=slots.ref(slots.before(before)).name, agg="count")
    for place in (after, before) if slots.has(number + 1, "counter", "occasion") else (after,):
        if slots.kind(place) == "model" and place not in slots.used and len(slots.free("model", "dimension")) > 1:
            slots.use(place)
            return Metric(name=slots.ref(place).name, agg="count")
    raise Unread("what the number is compared with")


def read_averages(slots: Slots) -> None:
    """A column above or below its own average."""
    for place in slots.said("than_average", "below_average"):
        before, after = slots.before(place), slots.after(place)
        column = before if _is_column(slots, before) else after
        if not _is_column(slots, column):
            raise Unread("which average")
        op: Sign = ">" if slots.has(place, "than_average") else "<"
        slots.filters.append(Filter(field=slots.ref(column).name, op=op, than="average"))
        slots.use(place, column)


def read_related(slots: Slots) -> None:
    """“With orders”, “有订单的客户”: rows of another table that a thing has."""
    for place in slots.said("with"):
        after = slots.after(place)
        if slots.kind(after) == "model" and after not in slots.used and len(slots.free("model")) > 1:
            slots.related.append(Related(model=slots.ref(after).name))
            slots.use(place, after)


def read_times(slots: Slots) -> None:
    """One time, of the time column that is named beside it; or two that are compared, the later one with the one before it."""
    places = slots.free("time")
    ranges = [slots.items[place].time for place in places]
    slots.use(*places)
    times = [time for time in ranges if time is not None]
    compared = slots.said("compared", "compared_after", "change")
    if not compared and any(slots.has(place + 1, "between_to") and not slots.has(place + 1, "and") for place in places):
        raise Unread("until when")
    if len(times) > 2 or (len(times) == 2 and not compared):
        raise Unread("several times")
    if times:
        slots.times = [_with_column(slots, places[0], times[0])]
    if len(times) == 2:
        field = slots.times[0].field
        before, later = sorted(
            (time.model_copy(update={"field": field}) for time in times), key=partial(_first_day, slots)
        )
        slots.times, slots.comparison = [later], Comparison(to="time", time=_as_much_of(slots, before, later))
        slots.use(*compared, *slots.said("and"))
    else:
        _compare(slots, compared)


def _as_much_of(slots: Slots, before: TimeRange, later: TimeRange) -> TimeRange:
    """“October compared to last year” is compared with last year's October, not with the whole of it."""
    part = in_the_year_of(slots.days(later), slots.days(before))
    return TimeRange(field=before.field, start=part[0], end=part[1]) if part else before


def _first_day(slots: Slots, time: TimeRange) -> date:
    return slots.days(time)[0] or date.min


def _compare(slots: Slots, compared: list[int]) -> None:
    """A change against the time before, where only one time is said."""
    said = slots.said("previous_year", "previous_period")
    changes = [place for place in compared if slots.has(place, "change")]
    if not said and not changes:
        return
    if not slots.times or not _is_one_period(slots.times[0]):
        raise Unread("which times are compared")
    to_year = any(slots.has(place, "previous_year") for place in said)
    slots.comparison = Comparison(to="previous_year" if to_year else "previous_period")
    slots.use(*said, *changes)


def _is_one_period(time: TimeRange) -> bool:
    if time.period is not None:
        return True
    return time.start is not None and time.end is not None and whole_months(time.start, time.end) in _ONE_PERIOD


def _with_column(slots: Slots, place: int, time: TimeRange) -> TimeRange:
    """With the time column that stands beside it, or that is the only one named at all."""
    near = [each for each in (slots.before(place), slots.after(place)) if each >= 0 and slots.kind(each) == "dimension"]
    near = [each for each in near if slots.is_time(each)]
    if not near:
        near = [each for each in slots.free("dimension") if slots.is_time(each)]
    if not near or len({slots.ref(each).name for each in near}) > 1:
        return time
    slots.use(*near)
    name = slots.ref(near[0]).name
    model, dimension = slots.catalog.dimension(name)
    if slots.items[place].is_yearless and model.defaults.agg_time_dimension != dimension.name:
        raise Unread("of which year")  # birthdays are of every year
    slots.owners.add(name.partition(".")[0])
    return time.model_copy(update={"field": name})


def read_groups(slots: Slots) -> None:
    """What follows “by”, “each”, “各”; periods of time; what stands before “各有多少”."""
    for place in range(len(slots.items)):
        grain = next((role for role in slots.roles(place) if role.startswith("each_grain:")), "")
        if grain and place not in slots.used:
            _add_grain(slots, place, grain)
        elif slots.has(place, "each", "by") and place not in slots.used:
            _following(slots, place)
        elif slots.has(place, "each_before") and place not in slots.used:
            _each_before(slots, place)


def _each_before(slots: Slots, place: int) -> None:
    """“地区各有多少客户”; of values that are named, “德国和挪威各有多少客户”, “德国和挪威的客户各有多少”. Raises Unread."""
    before = slots.before(place)
    valued = slots.before(before) if slots.kind(before) == "model" else before
    column = slots.ref(valued).name if slots.kind(valued) == "value" else ""
    if any(each.field == column and each.op == "in" and len(each.values) > 1 for each in slots.filters):
        slots.dimensions.append(Dimension(name=column))
    elif slots.kind(before) in ("dimension", "model"):
        _add_group(slots, before)
    else:
        raise Unread("of each what")
    slots.use(place)


def require_same_groups(query: LogicalQuery) -> None:
    """“环比” of each month is against the month before it; the whole stretch against the one before it puts it beside that of a year
    before. Raises Unread.
    """
    is_shifted = query.comparison is not None and query.comparison.to == "previous_period"
    if is_shifted and any(each.grain is not None for each in query.dimensions):
        raise Unread("which period each is compared with")


def _following(slots: Slots, place: int) -> None:
    after = slots.after(place)
    if after == len(slots.items) and slots.dimensions:
        slots.use(place)  # 按地区分
        return
    while slots.kind(after) == "value" and slots.kind(slots.after(after)) == "model":
        after = slots.after(after)
    noun = next((role for role in slots.roles(after) if role.startswith("grain:")), "")
    if noun:
        _add_grain(slots, after, noun)
        slots.use(place)
        return
    if slots.kind(after) == "measure" and slots.said(*SUPERLATIVES):
        slots.ranked_by = Metric(name=slots.ref(after).name)
        slots.use(place, after)
        return
    if slots.kind(after) == "value" and slots.has(place, "by_value"):
        slots.use(place)  # albums by Led Zeppelin
        return
    if slots.kind(after) not in ("dimension", "model") or after in slots.used:
        return  # what is left unused is told at the end
    slots.use(place)
    _add_group(slots, after)
    while slots.has(slots.after(after), "and") and slots.kind(slots.after(slots.after(after))) in (
        "dimension",
        "model",
    ):
        joint = slots.after(after)
        after = slots.after(joint)
        slots.use(joint)
        _add_group(slots, after)


def _add_group(slots: Slots, place: int) -> None:
    if slots.is_number(place) or slots.is_time(place):
        raise Unread("a group of numbers or times")
    name = slots.ref(place).name
    if slots.kind(place) == "dimension" and slots.dimension(place).is_name:
        name = name.partition(".")[0]
    slots.dimensions.append(Dimension(name=name))
    slots.owners.add(name.partition(".")[0])
    slots.use(place)


def _add_grain(slots: Slots, place: int, role: str) -> None:
    grain = role.partition(":")[2]
    assert grain in get_args(Grain)  # a test reads the data file
    slots.dimensions.append(Dimension(grain=grain))  # type: ignore[arg-type]
    slots.use(place)
