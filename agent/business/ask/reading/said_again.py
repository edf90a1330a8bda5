"""What a question says twice: “累计带来多少收入”, “best selling genres by number of tracks sold”. Once is enough for every way to ask."""

import re
from collections.abc import Callable

from agent.business.ask.reading.clause import Clause
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item

_ADDED_UP = ("sum", "count", "count_distinct")


def drop_what_is_said_again(clause: Clause) -> None:
    """Take out of the row what another of its items says already; filters are read before."""
    for drop in _DROPS:
        clause.row.items = drop(clause)


def _owners(clause: Clause) -> list[Item]:
    """“Invoices with the customer's name”: the table of a column is said by its column."""
    items = clause.row.items
    return [
        item
        for place, item in enumerate(items)
        if not (
            0 < place < len(items) - 1
            and item.kind is Kind.MODEL
            and items[place + 1].text == item.text
            and any(other.kind is Kind.MODEL for other in items[:place])
        )
    ]


def _sums(clause: Clause) -> list[Item]:
    """“累计销售额”: a measure that adds up is a total."""
    items, letters = clause.row.items, clause.row.letters
    gone = {
        found.start() + found[0].index("S")
        for found in re.finditer("SC?m|CSm|mC?S", letters)
        if _agg(clause, items[found.start() + found[0].index("m")]) in _ADDED_UP
    }
    return [item for place, item in enumerate(items) if place not in gone]


def _figures(clause: Clause) -> list[Item]:
    """“Best selling product by quantity”: ranked by the figure that it is ranked by."""
    items = clause.row.items
    found = re.search("G(?:C?m|mC)$", clause.row.letters)
    if found is None:
        return items
    figure = next(item for item in items[found.start() :] if item.kind is Kind.MEASURE)
    is_said = any(item.kind is Kind.MEASURE and item.refs == figure.refs for item in items[: found.start()])
    return items[: found.start()] if is_said else items


def _counts(clause: Clause) -> list[Item]:
    """“Countries with at least 5 customers, plus the count”: groups that are cut by a figure show it."""
    is_shown = len(clause.filters.having) == 1 and re.search("[dM][a&]C$", clause.row.letters)
    return clause.row.items[: is_shown.start() + 1] if is_shown else clause.row.items


def _agg(clause: Clause, item: Item) -> str:
    return clause.references.lexicon.aggregation(clause.references.measure(item))


_DROPS: tuple[Callable[[Clause], list[Item]], ...] = (_owners, _sums, _figures, _counts)
