"""Parse questions without a model: every word must have a meaning, or there is no answer.

The question is split into the fewest known phrases; for ambiguous phrases each combination is read and compiled, and
the one whose parts are closest in the layer wins. Ties become a clarification.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice, pairwise, product

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import Filter, Inexpressible, LogicalQuery, Metric, TimeRange
from business.logical_query.times import resolve_period
from business.logical_query.wording import build_query_sentence, build_unknown_value_message
from business.parsing.base import Clarification, Context, MeaningChoice, Parsed, Unparseable
from business.parsing.reader.grammar import Reading, Unread, require_currency
from business.parsing.reader.heads import QueryHead
from business.parsing.reader.items import QuestionItem, items_of
from business.parsing.reader.leads import find_lead
from business.parsing.reader.lexicon import Lexicon, Ref
from knowledge.text.everyday import load_everyday_rates

MAX_READINGS = 96
MAX_CHOICES = 4


def parse(question: str, lexicon: Lexicon, context: Context) -> Parsed:
    """Return the query of a question by its words alone, restricted to things named in the context's text, if any."""
    parsed = _parse_by_words(find_lead(question).rest if context.named_in else question, lexicon, context)
    if not context.named_in or isinstance(parsed, Unparseable):
        return parsed
    if not isinstance(parsed, LogicalQuery):
        return Unparseable(_("The question can mean several things."))
    return _restrict_to_named(parsed, lexicon, context)


def _restrict_to_named(query: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed:
    """Restrict “how many of these environments are in use?” to the environments named in the text."""
    base = query.rows.model if query.rows is not None else query.metrics[0].name
    name = lexicon.catalog.models[base].name_dimension if base in lexicon.catalog.models else None
    field = f"{base}.{name.name}" if name is not None else ""
    refs = [ref for item in items_of(context.named_in, lexicon, context.today) for ref in item.refs]
    values = tuple(dict.fromkeys(ref.value for ref in refs if ref.kind == "value" and ref.name == field))
    if not values:
        return Unparseable(_("I could not turn this into a query."))
    return query.model_copy(update={"filters": (*query.filters, Filter(field=field, op="in", values=values))})


def find_unknown_words(items: Sequence[QuestionItem], question: str) -> tuple[str, ...]:
    """Return the unknown words of a question, as written: neighbours as one, with a known character that is part of one (付款, 支持)."""
    found: list[str] = []
    is_open = False
    for before, item in pairwise((QuestionItem(""), *items)):
        is_open = is_open and (not item.is_known or item.roles == ("counter",))
        if is_open and found[-1] + item.text in question.lower():
            found[-1] += item.text
        elif not item.is_known:
            is_part = before.is_known and before.text + item.text[:1] in load_everyday_rates("zh")
            found.append(before.text + item.text if is_part else item.text)
            is_open = True
    places = ((text, question.lower().find(text)) for text in dict.fromkeys(found))
    return tuple(question[at : at + len(text)] if at >= 0 else text for text, at in places)


def _parse_by_words(question: str, lexicon: Lexicon, context: Context) -> Parsed:
    items, catalog = items_of(question, lexicon, context.today), lexicon.catalog
    if unknown := find_unknown_words(items, question):
        why = _explain_missing_value(items, unknown, catalog)
        why = why or _("These words mean nothing in the data: %(words)s.") % {"words": ", ".join(unknown)}
        return Unparseable(why, unknown, build_understood_part(items, catalog, context.today))
    found, failed = _collect_readings(items, catalog, context.today)
    if found:
        return _choose_closest(list(found.values()), catalog, context)
    left = min((error.left for error in failed if isinstance(error, Unread) and error.left), key=len, default=())
    refused = next((str(error) for error in failed if isinstance(error, Inexpressible)), "")
    why = refused or _("I could not turn this into a query.")
    if left and not refused:
        why = _("I do not understand this part: %(words)s.") % {"words": ", ".join(left)}
    return Unparseable(why, () if refused else left, build_understood_part(items, catalog, context.today, left))


def _collect_readings(
    items: Sequence[QuestionItem], catalog: Catalog, today: date
) -> tuple[dict[str, tuple[int, LogicalQuery]], list[Exception]]:
    """Return the possible queries by their statements, with the distance of their parts; and why others fail."""
    found: dict[str, tuple[int, LogicalQuery]] = {}
    failed: list[Exception] = []
    for refs in islice(iterate_meanings(items), MAX_READINGS):
        try:
            query = QueryHead(Reading.of(catalog, items, refs, today)).query()
            require_currency(items, query, catalog)
            sql = compile_query(query, catalog, today)
        except (Unread, Inexpressible, ValueError) as error:
            failed.append(error)
            continue
        away = 10 * count_further_tables(query, catalog) + _count_table_names_as_values(items, refs)
        if sql not in found or away < found[sql][0]:
            found[sql] = (away, query)
    return found, failed


def _explain_missing_value(items: Sequence[QuestionItem], unknown: Sequence[str], catalog: Catalog) -> str:
    """Return the existing values of the column named beside the only unknown word; "" otherwise."""
    places = [place for place, item in enumerate(items) if not item.is_known]
    if len(places) != 1:
        return ""
    (place,) = places
    beside = [ref for near in items[max(0, place - 1) : place + 2] for ref in near.refs if ref.kind == "dimension"]
    listed = [dimension for ref in beside if (dimension := catalog.dimension(ref.name)[1]).values]
    return build_unknown_value_message(listed[0], unknown[0]) if listed else ""


def build_understood_part(
    items: Sequence[QuestionItem], catalog: Catalog, today: date, left: Sequence[str] = ()
) -> LogicalQuery | None:
    """Return the certain part of an unread question, to prefill a form: everything but the words left over if that is a
    number; else a number with values and a time.
    """
    known = [item for item in items if item.is_known and item.text not in left]
    refs = [item.refs[0] for item in known if len(item.refs) == 1]
    metrics = [Metric(name=ref.name) for ref in refs if ref.kind == "measure"]
    metrics += [Metric(name=ref.name, agg="count") for ref in refs if ref.kind == "model"]
    values = tuple(Filter(field=ref.name, values=(ref.value,)) for ref in refs if ref.kind == "value")
    times = tuple(item.time for item in known if item.time is not None)[:1]
    whole, _failed = _collect_readings(known, catalog, today) if len(known) < len(items) else ({}, [])
    found = [query for _away, query in whole.values() if query.metrics and len(whole) == 1]
    tried = ((values, times), (values, ()), ((), times), ((), ()))
    found += [LogicalQuery(metrics=metrics[:1], filters=f, times=t) for f, t in tried if metrics]  # type: ignore[arg-type]
    return next((query for query in found if _compiles(query, catalog, today)), None)


def _compiles(query: LogicalQuery, catalog: Catalog, today: date) -> bool:
    try:
        return bool(compile_query(query, catalog, today))
    except Inexpressible:
        return False


def _count_table_names_as_values(items: Sequence[QuestionItem], refs: tuple[Ref | None, ...]) -> int:
    """Return the number of words read as values that are also a table's name."""
    pairs = zip(items, refs, strict=True)
    return sum(
        ref is not None and ref.kind == "value" and any(r.kind == "model" for r in item.refs) for item, ref in pairs
    )


def iterate_meanings(items: Sequence[QuestionItem]) -> Iterator[tuple[Ref | None, ...]]:
    """Yield every combination of meanings, in the layer's order."""
    return product(*(item.refs or (None,) for item in items))


def _choose_closest(found: list[tuple[int, LogicalQuery]], catalog: Catalog, context: Context) -> Parsed:
    least = min(away for away, _query in found)
    nearest = [query for away, query in found if away == least]
    if len(nearest) == 1 or len({build_measure_key(query) for query in nearest}) == 1:
        nearest = list_state_readings(nearest[0], catalog, context.today) or nearest[:1]
    return choose_or_clarify(nearest, catalog, context)


def choose_or_clarify(queries: list[LogicalQuery], catalog: Catalog, context: Context) -> Parsed:
    """Return the only query; else a clarification, if people can tell the queries apart."""
    if len(queries) == 1:
        return queries[0]
    readings = {build_query_sentence(query, catalog, context.language, context.today): query for query in queries}
    if len(readings) < len(queries) or len(readings) > MAX_CHOICES:
        return Unparseable(_("The question can mean several things."))
    return Clarification(tuple(MeaningChoice(text, query) for text, query in readings.items()))


def list_state_readings(query: LogicalQuery, catalog: Catalog, today: date) -> list[LogicalQuery]:
    """Return both readings of “how many customers in October”: those who came then, or those there were, if unclear.

    Things that have a name stay; orders happen. Empty where the question says which time is meant.
    """
    base = query.rows.model if query.rows is not None else query.metrics[0].name
    if base not in catalog.models or catalog.models[base].name_dimension is None or len(query.times) != 1:
        return []
    time = query.times[0]
    if time.field or query.dimensions or (time.period is None and time.start is None):
        return []
    field = f"{base}.{catalog.models[base].defaults.agg_time_dimension}"
    came = query.model_copy(update={"times": (time.model_copy(update={"field": field}),)})
    end = (
        time.end if time.period is None else resolve_period(time.period, today, catalog.layer.fiscal_year_start or 1)[1]
    )
    if end is None:
        return []
    there = query.model_copy(update={"times": (TimeRange(field=field, end=end),)})
    return [came, there]


def build_measure_key(query: LogicalQuery) -> str:
    """Return a query without the tables of its measures: a measure may exist at several grains, and the first wins."""
    text = query.model_dump_json()
    if any(metric.agg is not None for metric in query.metrics):
        return text
    for metric in query.metrics:
        text = text.replace(f'"{metric.name}"', f'"{metric.name.partition(".")[2]}"')
    return text


def count_further_tables(query: LogicalQuery, catalog: Catalog) -> int:
    """Return the distance of a query's parts: the number of tables it names beyond the first."""
    named = {metric.name.partition(".")[0] for metric in query.metrics}
    named |= {entry.name.partition(".")[0] for entry in query.dimensions if entry.name}
    named |= {query.rows.model, *(name.partition(".")[0] for name in query.rows.columns)} if query.rows else set()
    named |= {entry.field.partition(".")[0] for entry in query.filters}
    named |= {moment.field.partition(".")[0] for moment in query.times if moment.field}
    named |= {entry.model for entry in query.related}
    named |= {f.field.partition(".")[0] for entry in query.related for f in entry.filters}
    base = query.rows.model if query.rows else query.metrics[0].name.partition(".")[0]
    steps = [catalog.joins.distance(base, name) for name in named]
    return sum(10 if step is None else step for step in steps)
