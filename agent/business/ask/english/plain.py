"""English questions in one form: contractions spelled out, and what people say around a question as the plain words for it.

Each table holds patterns over the text, one file for each thing that is meant; quoted names are left as they are, and nothing is said
of what a layer holds. The order of the tables is part of what they say: first how words are written, then what only surrounds a
question, then what is asked, last the words that other tables look for in their common form.
"""

import re

from agent.business.ask.english.absence import ABSENCE
from agent.business.ask.english.asides import ASIDES
from agent.business.ask.english.averages import AVERAGES
from agent.business.ask.english.breakdowns import BREAKDOWNS
from agent.business.ask.english.changes import CHANGES
from agent.business.ask.english.comments import COMMENTS
from agent.business.ask.english.comparisons import COMPARISONS
from agent.business.ask.english.conditions import CONDITIONS
from agent.business.ask.english.courtesies import COURTESIES
from agent.business.ask.english.durations import DURATIONS
from agent.business.ask.english.earnings import EARNINGS
from agent.business.ask.english.existence import EXISTENCE
from agent.business.ask.english.figures import FIGURES
from agent.business.ask.english.numbers import in_digits
from agent.business.ask.english.orders import ORDERS
from agent.business.ask.english.people import PEOPLE
from agent.business.ask.english.places import PLACES
from agent.business.ask.english.prices import PRICES
from agent.business.ask.english.rankings import RANKINGS
from agent.business.ask.english.requests import REQUESTS
from agent.business.ask.english.spelling import SPELLING
from agent.business.ask.english.stock import STOCK
from agent.business.ask.english.times import TIMES

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|(?<![a-z])'[^']+'(?![a-z])", re.IGNORECASE)
_STOP_INSIDE = re.compile(  # “the album "Ten."”: the stop of the sentence, put inside the quotes
    r"(?P<stop>,|(?<=\w\w)(?<!\b[jsdm]r)(?<!\binc|\bltd)\.(?=.\W*$))(?P<quote>[\"”'])(?![\w])|(?P<han>[。,])(?P<close>[”」》])",
    re.IGNORECASE,
)
_IN_ORDER = (
    *SPELLING,
    *COURTESIES,
    *COMMENTS,
    *ASIDES,
    *REQUESTS,
    *TIMES,
    *EARNINGS,
    *PEOPLE,
    *EXISTENCE,
    *STOCK,
    *ORDERS,
    *ABSENCE,
    *PRICES,
    *AVERAGES,
    *DURATIONS,
    *RANKINGS,
    *FIGURES,
    *COMPARISONS,
    *CHANGES,
    *BREAKDOWNS,
    *PLACES,
    *CONDITIONS,
)
_COMPILED = [(re.compile(pattern, re.IGNORECASE), form) for pattern, form in _IN_ORDER]


def with_stops_outside(text: str) -> str:
    """A text in which no quoted name ends in the stop or the comma of the sentence around it."""
    return _STOP_INSIDE.sub(lambda found: f"{found['quote'] or found['close']}{found['stop'] or found['han']}", text)


def in_plain_words(text: str) -> str:
    """An English question without what only surrounds it; anything else unchanged."""
    if any("\u3400" <= character <= "\u9fff" for character in _QUOTED.sub("", text)) and not re.search(
        r"[a-z] [a-z]", text
    ):
        return text
    quoted = _QUOTED.findall(text)
    parts = in_digits(_QUOTED.sub("\x00", text))
    for pattern, form in _COMPILED:
        parts = pattern.sub(lambda found, form=form: found.expand(form), parts)  # type: ignore[misc]
    for one in quoted:
        parts = parts.replace("\x00", one, 1)
    return parts.strip()
