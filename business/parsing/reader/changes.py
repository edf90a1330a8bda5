"""A question that goes on from the one before it: one part of the logical query that stands is changed, the rest is kept.

A time takes the place of the time, a value of the value of its column, a breakdown of the breakdown. Where it is not certain which
part is meant, both meanings are offered.
"""

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import LogicalQuery
from business.parsing.base import Clarification, Context, Parsed, Unparseable
from business.parsing.reader.change import Change
from business.parsing.reader.heads import require_units
from business.parsing.reader.items import items_of
from business.parsing.reader.leads import Lead, lead_of
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import choices_of, distance, one_of, parse, same_measures, states_of
from business.parsing.reader.slots import Slots, Unread
from business.parsing.reader.steps import step_of

MOST_READINGS = 24


def changed(question: str, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    """The query that stands now; None where the question is one of its own. Unparseable: it goes on, and nobody knows how."""
    step = step_of(question, earlier, context.today)
    if step is not None:
        return step
    lead = lead_of(question)
    alone = parse(question, lexicon, context)
    is_read = isinstance(alone, LogicalQuery | Clarification)
    leans = lead.goes_on or lead.refers or (lead.contrasts and not lead.asks)
    if is_read and not leans and _names_subject(question, lexicon, context):
        return _or_of_its_own(alone, lead, earlier, lexicon, context)
    fragment = _fragment(lead, earlier, lexicon, context)
    if fragment is not None:
        return fragment
    rest = parse(lead.rest, lexicon, context) if lead.goes_on and not lead.refers else None
    if isinstance(rest, LogicalQuery | Clarification):
        return rest
    if leans:
        unknown = tuple(item.text for item in items_of(lead.rest, lexicon, context.today) if not item.is_known)
        return Unparseable(_("It is not clear how this goes on from the question before it."), unknown)
    return _of_those_too(alone, earlier, question, lexicon, context)


def _or_of_its_own(
    alone: Parsed, lead: Lead, earlier: LogicalQuery, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """“Units sold?” after the revenue of a year asks nothing that says whether of that year. None for what says it."""
    if lead.asks or not isinstance(alone, LogicalQuery) or not (earlier.filters or earlier.times):
        return None
    if alone.filters or alone.times or alone.dimensions or alone.related:
        return None
    going_on = _fragment(lead, earlier, lexicon, context)
    if not isinstance(going_on, LogicalQuery) or going_on == alone:
        return None
    return _asked_back([going_on, alone], lexicon, context)


def _of_those_too(
    alone: Parsed, earlier: LogicalQuery, question: str, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """“Which has the largest budget?” does not say of what: of all, or of those that were asked about. None for what says it."""
    if not isinstance(alone, LogicalQuery) or alone.rows is None or not (earlier.filters or earlier.times):
        return None
    items = items_of(question, lexicon, context.today)
    base = earlier.rows.model if earlier.rows else earlier.metrics[0].name.partition(".")[0]
    if base != alone.rows.model or any(ref.kind == "model" for item in items for ref in item.refs):
        return None
    said = {each.field for each in alone.filters}
    filters = (*alone.filters, *(each for each in earlier.filters if each.field not in said))
    narrowed = alone.model_copy(update={"filters": filters, "times": alone.times or earlier.times})
    return _asked_back([narrowed, alone], lexicon, context) if narrowed != alone else None


def _names_subject(question: str, lexicon: Lexicon, context: Context) -> bool:
    """Whether a question says by itself which rows it asks about."""
    items = items_of(question, lexicon, context.today)
    return any(ref.kind in ("model", "measure") for item in items for ref in item.refs)


def _fragment(lead: Lead, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    items = items_of(lead.rest, lexicon, context.today)
    if not items or any(not item.is_known for item in items):
        return None
    found: dict[str, LogicalQuery] = {}
    uncertain: dict[str, LogicalQuery] = {}
    refused: Inexpressible | None = None
    for number, refs in enumerate(choices_of(items)):
        if number >= MOST_READINGS:
            break
        slots = Slots(lexicon.catalog, items, list(refs), context.today)
        try:
            made = Change(slots, lead, earlier).made()
            compiled = {compile_query(query, lexicon.catalog, context.today): query for query in made}
        except (Unread, Inexpressible, ValueError):
            continue
        try:
            for query in made:
                require_units(slots, query)
        except Inexpressible as error:
            refused = error
            continue
        (uncertain if len(compiled) > 1 else found).update(compiled)
    if uncertain:
        return one_of(list(uncertain.values()), lexicon.catalog, context)
    if not found:
        return Unparseable(str(refused)) if refused else None
    nearest = _nearest(list(found.values()), earlier, lexicon.catalog)
    if len(found) > 1 and len({same_measures(query) for query in nearest}) > 1:
        return one_of(nearest, lexicon.catalog, context)
    query = nearest[0]
    states = states_of(query, lexicon.catalog, context.today) if query.metrics != earlier.metrics else []
    return one_of(states or [query], lexicon.catalog, context)


def _nearest(found: list[LogicalQuery], earlier: LogicalQuery, catalog: Catalog) -> list[LogicalQuery]:
    """Those that change a column that was filtered already; of these the ones whose parts lie closest together."""
    fields = {each.field for each in earlier.filters}
    kept = [query for query in found if {each.field for each in query.filters} == fields] or found
    least = min(distance(query, catalog) for query in kept)
    return [query for query in kept if distance(query, catalog) == least]


def _asked_back(queries: list[LogicalQuery], lexicon: Lexicon, context: Context) -> Clarification | None:
    told = one_of(queries, lexicon.catalog, context)
    return told if isinstance(told, Clarification) else None
