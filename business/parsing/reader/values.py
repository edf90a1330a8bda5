"""Values that a question names, and what of them it leaves out."""

from business.logical_query.query import Dimension, Filter, Related
from business.parsing.reader.slots import Slots, Unread

_JOINING = ("and", "compared")


def read_values(slots: Slots) -> None:
    """Values of one column in one run, negated or not; the column's own name beside them says nothing more."""
    slots.use(
        *(place for place in slots.said("kind_of") if slots.kind(place - 1) == "value")
    )  # 软件类产品; never 每类产品
    negated = _negated(slots)
    runs: dict[tuple[str, bool], list[list[int]]] = {}
    for place in slots.free("value"):
        key = (slots.ref(place).name, place in negated)
        before = slots.before(place)
        joined = slots.has(before, *_JOINING)
        previous = slots.before(before) if joined else before
        run = next((run for run in runs.get(key, []) if run[-1] == previous), None)
        if run is None:
            runs.setdefault(key, []).append([place])
            continue
        run.append(place)
        if joined:
            if slots.has(before, "compared") or slots.said("compared", "compared_after"):
                slots.dimensions.append(Dimension(name=key[0]))
            slots.use(before)
    for (name, is_not), found in runs.items():
        if len(found) > 1 or (name, not is_not) in runs:
            raise Unread("values of one column in two places")
        values = tuple(dict.fromkeys(slots.ref(place).value for place in found[0]))
        slots.filters.append(Filter(field=name, op="not_in" if is_not else "in", values=values))
        slots.use(*found[0])
        slots.owners.add(name.partition(".")[0])
        for place in (slots.before(found[0][0]), slots.after(found[0][-1])):
            if slots.kind(place) == "dimension" and slots.ref(place).name == name:
                slots.use(place)
    slots.dimensions = list(dict.fromkeys(slots.dimensions))


def _negated(slots: Slots) -> set[int]:
    """The places of values that are not to hold; other things that are not become conditions of their own."""
    found: set[int] = set()
    for place in slots.said("not", "except"):
        if slots.has(place, "except") and place + 1 < len(slots.items) and slots.items[place + 1].is_set_off:
            found |= _left_out(slots, place)  # 离职的不算，有多少人
            continue
        after = slots.after(place)
        while slots.kind(after) == "dimension" and slots.kind(slots.after(after)) == "value":
            after = slots.after(after)
        if slots.kind(after) == "value":
            run = _run(slots, after)
            _require_scope(slots, place, max(run))
            found |= run
        elif slots.kind(after) == "model" and slots.has(place, "not"):
            slots.related.append(Related(model=slots.ref(after).name, is_not=True))
            slots.use(after)
        elif slots.kind(after) == "dimension" and slots.has(place, "not"):
            _is_not(slots, slots.ref(after).name)
            slots.use(after)
        else:
            raise Unread("what is not to be")
        slots.use(place)
    for place in slots.said("except_after"):
        found |= _left_out(slots, place)
    return found


def _require_scope(slots: Slots, place: int, last: int) -> None:
    """“Except carriers in Germany” leaves out those, or all carriers and counts in Germany. Raises Unread without a comma."""
    after = slots.after(last)
    is_joined = not any(item.is_set_off for item in slots.items[last + 1 : after + 1])
    if slots.has(place, "except") and not slots.has(place, "except:in") and slots.kind(after) == "value" and is_joined:
        raise Unread("what is left out")


def _left_out(slots: Slots, place: int) -> set[int]:
    """The values before a word that leaves them out: “德国和挪威以外”."""
    before = slots.before(place)
    if slots.kind(before) != "value":
        raise Unread("what is left out")
    slots.use(place)
    found, column = {before}, slots.ref(before).name
    while slots.has(slots.before(before), "and"):
        before = slots.before(slots.before(before))
        if slots.kind(before) != "value" or slots.ref(before).name != column:
            break
        found.add(before)
    return found


def _is_not(slots: Slots, column: str) -> None:
    """“Not billed”: of a column that is true or false it is false, of any other there is nothing in it."""
    if slots.catalog.dimension(column)[1].type == "boolean":
        slots.filters.append(Filter(field=column, op="in", values=("false",)))
    else:
        slots.missing.append((column, True))


def _run(slots: Slots, first: int) -> set[int]:
    """Values of one column that follow each other, joined by “and”."""
    found, place = {first}, slots.after(first)
    while slots.has(place, "and") and slots.kind(slots.after(place)) == "value":
        if slots.ref(slots.after(place)).name != slots.ref(first).name:
            break
        place = slots.after(place)
        found.add(place)
        place = slots.after(place)
    return found
