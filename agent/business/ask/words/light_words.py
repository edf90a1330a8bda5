"""Words of English that stand for nothing by themselves, passed over only in their frame: “in the catalogue”, “that we offer”.

A layer's own words come first: only what it does not know is looked at here. Words that change what is meant are in no frame.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef, ValueRef
from agent.business.ask.words.units import key_of


def _words(text: str) -> frozenset[str]:
    return frozenset(" ".join(key_of(word)) for word in text.split())


# “in the …”, “on our …”: where everything is that is asked about
_PLACES = _words(
    "shop store catalogue catalog database db system data dataset books book portfolio range assortment collection library "
    "register directory company firm business organisation organization inventory team world market marketplace market network "
    "base crm erp roster menu sortiment lineup line-up stack archive file ledger account"
)
_IN = _words("in on from within across inside")
_OUR = _words("the our your this its")
# “that we …”, “do we …”, “did we …”
_OUR_DOING = _words(
    "book booked offer offers offered carry carried keep kept hold held handle handled run stock stocked employ employed list "
    "listed sell sold feature featured maintain maintained operate operated get got getting take took process count track tracked "
    "record recorded do have had got know make made supply supplied bring see saw generate generated count deal give gave given "
    "grant granted serve served serving"
)
_PAYING = _words("pay paid")
_GETTING = _words("got get gets getting gotten")
_ONLY = _words("only")
_WE = _words("we us our i you")
_ADVERBS = _words("currently actually now still ever have had")
# after a value, for the things that have it: “German companies”, “jazz titles”
_THINGS = _words(
    "company firm business organisation organization account person people guy one title thing piece name entry party"
)
# verbs that only join where a place, a value or a group follows their preposition
_STANDING = _words(
    "run sit live stand lie fall reside operate exist hosted host deployed deploy placed listed filed found stored grouped"
)
_PAIRS = frozenset(
    (verb, preposition)
    for verbs, prepositions in (
        (
            _STANDING | _words("seated employed registered headquartered stationed established"),
            "on in at under within into across",
        ),
        (
            _words(
                "going go goes went headed heading bound destined sent send addressed billed bill invoiced delivered deliver"
            ),
            "to for",
        ),
        (_words("originating originate hailing hail coming came stemming stem"), "from in"),
        (_words("attached linked related tied connected allocated dedicated"), "to with"),
        (_words("dealing deal"), "in with"),
    )
    for verb in verbs
    for preposition in prepositions.split()
)
_GOALS = (Kind.VALUE, Kind.DIMENSION, Kind.MODEL, Kind.GROUP, Kind.QUOTED)
_TAKING = _words(
    "took take taken taking land landed booked booking got gotten wrote write enter entered bag bagged handle account"
)
_MAKING = _words("released release recorded record made produced produce performed perform play played put")
_OF_THINGS = _words("member base account population list pool")
_OF_FIGURES = _words("number figure amount value level total")
_ADDRESS = _words("address")
_EMAIL = _words("email")
_EMPHATIC = _words("single even ever yet")
# adjectives of a thing that say nothing where it stands: “the whole playlist”, “our existing customers”
_BEFORE_A_THING = _words("whole entire complete full existing respective individual various registered own actual")


def lightened(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items without light words in their frames; the rest of the unknown words stay unknown."""
    for mend in (
        _kinds_of,
        _places,
        _passive,
        _only_these,
        _own_column,
        _doings,
        _standing,
        _relating,
        _beside_things,
        _after_things,
        _generic,
        _emphatic,
        _emails,
    ):
        items = mend(items, lexicon)
    return items


def _mended(items: list[Item], is_light: Callable[[int], bool]) -> list[Item]:
    return [
        replace(item, kind=Kind.STOP) if item.kind is Kind.UNKNOWN and is_light(place) else item
        for place, item in enumerate(items)
    ]


def _said(item: Item | None) -> str:
    return " ".join(key_of(item.text)) if item else ""


def _at(items: Sequence[Item], place: int) -> Item | None:
    return items[place] if 0 <= place < len(items) else None


def _kinds_of(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Latin music”: what the value before it is a kind of, also where something is called so."""

    def is_kind(place: int) -> bool:
        before, item = _at(items, place - 1), items[place]
        if before is None or before.kind is not Kind.VALUE or item.kind is not Kind.VALUE or item.text != "music":
            return False
        tables = [{ref.model for ref in one.refs} for one in (item, before)]  # type: ignore[attr-defined,unused-ignore]
        return not tables[0] & tables[1]

    return [replace(item, kind=Kind.STOP, refs=()) if is_kind(place) else item for place, item in enumerate(items)]


def _passive(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Orders that got cancelled”: were."""

    def is_light(place: int) -> bool:
        after = _at(items, place + 1)
        return _said(items[place]) in _GETTING and after is not None and after.kind in (Kind.VALUE, Kind.TIME)

    return _mended(items, is_light)


def _only_these(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“France and Germany only”: a condition is meant as it is said."""

    def is_light(place: int) -> bool:
        before, after = _at(items, place - 1), _at(items, place + 1)
        is_last = before is not None and before.kind in (Kind.VALUE, Kind.WINDOW)
        return _said(items[place]) in _ONLY and is_last and (after is None or after.kind is Kind.STOP)

    return _mended(items, is_light)


def _own_column(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“In the Rotterdam office”: the column is named beside its value, and not asked for."""

    def is_named(place: int) -> bool:
        item, value = items[place], _at(items, place - 1)
        before = [_said(_at(items, place - back)) for back in (2, 3)]
        is_where = before[0] in _IN or (before[0] in _OUR and before[1] in _IN)
        if value is None or value.kind is not Kind.VALUE or item.kind is not Kind.DIMENSION or not is_where:
            return False
        columns = {DimensionRef(ref.model, ref.dimension) for ref in value.refs if isinstance(ref, ValueRef)}
        return not columns.isdisjoint(item.refs)

    return [replace(item, kind=Kind.STOP, refs=()) if is_named(place) else item for place, item in enumerate(items)]


def _places(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“In the shop”, “on our books”, “in the company’s catalogue”."""

    def is_light(place: int) -> bool:
        before = [_said(_at(items, place - back)) for back in (1, 2, 3)]
        is_in = before[0] in _IN or (before[0] in _OUR and before[1] in _IN)
        is_of_ours = before[0] in _PLACES and before[1] in _OUR and before[2] in _IN
        is_first = _said(_at(items, place + 1)) in _PLACES and before[0] in _OUR and before[1] in _IN
        return _said(items[place]) in _PLACES and (is_in or is_of_ours or is_first)

    return _mended(items, is_light)


def _doings(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Products (that) we offer”, “how many orders did we book”."""

    def is_light(place: int) -> bool:
        before = [_said(_at(items, place - back)) for back in (1, 2)]
        if _said(items[place]) in _PAYING:  # “how much freight did we pay”
            return before[0] in _WE and any(item.kind in (Kind.QUANTITY, Kind.MEASURE) for item in items[:place])
        return _said(items[place]) in _OUR_DOING and (before[0] in _WE or (before[0] in _ADVERBS and before[1] in _WE))

    return _mended(items, is_light)


def _standing(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Environments that run on cluster hz-1”, “sit on each cluster”, “fall under Confections”, “orders going to Germany”."""

    def is_light(place: int) -> bool:
        goal = next((item for item in items[place + 2 :] if _said(item) not in _OUR), None)
        next_one = _at(items, place + 1)
        if next_one is None or goal is None or goal.kind not in _GOALS:
            return _is_each(next_one) and _said(items[place]) in _STANDING
        return (_said(items[place]), _said(next_one)) in _PAIRS

    return _mended(items, is_light)


def _is_each(item: Item | None) -> bool:
    return item is not None and item.kind is Kind.GROUP


def _relating(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Employees that took the most orders”, “albums that Metallica released”: whose something is, a key says."""
    tables = {
        ref.model  # type: ignore[attr-defined,unused-ignore]
        for item in items
        if item.kind in (Kind.MODEL, Kind.VALUE, Kind.MEASURE)
        for ref in item.refs[:1]
    }
    is_dated = any(item.kind in (Kind.WINDOW, Kind.PERIOD) for item in items)

    def is_light(place: int) -> bool:
        said = _said(items[place])
        return len(tables) > 1 and (said in _TAKING or (said in _MAKING and not is_dated))

    return _mended(items, is_light)


def _after_things(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Staff members”, “our customer base”, “revenue numbers”."""

    def is_light(place: int) -> bool:
        before = _at(items, place - 1)
        said = _said(items[place])
        is_thing = before is not None and before.kind is Kind.MODEL and said in _OF_THINGS
        is_figure = before is not None and before.kind in (Kind.MEASURE, Kind.QUANTITY) and said in _OF_FIGURES
        return is_thing or is_figure

    return _mended(items, is_light)


def _beside_things(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“The whole playlist”, “our existing customers”."""
    things = (Kind.MODEL, Kind.DIMENSION, Kind.MEASURE, Kind.QUANTITY, Kind.VALUE, Kind.TIME)

    def is_light(place: int) -> bool:
        after = _at(items, place + 1)
        return _said(items[place]) in _BEFORE_A_THING and after is not None and after.kind in things

    return _mended(items, is_light)


def _generic(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Carrier companies”, “jazz titles”: the things of the one table that has the value, where no other thing is named by it."""
    said = list(items)
    for place, item in enumerate(items):
        before = _at(items, place - 1)
        if item.kind is not Kind.UNKNOWN or _said(item) not in _THINGS or before is None:
            continue
        if before.kind is Kind.VALUE:
            models = {ref.model for ref in before.refs}  # type: ignore[attr-defined,unused-ignore]
            is_name = any(lexicon.dimension(ref).is_name for ref in before.refs)  # type: ignore[arg-type,unused-ignore]
            if len(models) == 1 and not is_name:
                said[place] = Item(Kind.MODEL, item.text, (ModelRef(models.pop()),))
    return said


def _emphatic(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Not a single order”, “hasn’t even ordered”: after a negation these only stress it."""
    seen = False
    said = []
    for item in items:
        seen = seen or item.kind is Kind.NOT
        is_light = seen and item.kind is Kind.UNKNOWN and _said(item) in _EMPHATIC
        said.append(replace(item, kind=Kind.STOP) if is_light else item)
    return said


def _emails(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“E-mail address” where the layer says “email” alone."""

    def is_light(place: int) -> bool:
        before = _at(items, place - 1)
        is_email = before is not None and before.kind is Kind.DIMENSION and set(key_of(before.text)) & _EMAIL
        return _said(items[place]) in _ADDRESS and bool(is_email)

    return _mended(items, is_light)
