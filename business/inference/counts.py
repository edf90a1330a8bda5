"""What columns are called besides, each where no other column of the table is: `loc_city` the city, `hire_date` when one was hired."""

from collections import Counter

from business.inference.identifiers import pairs_of
from business.parsing.reader.units import singular
from business.semantic_layer.model import Value

Said = dict[str, tuple[str, ...]]  # by column, what it is called, the fullest first
_PLACES = ("city", "state", "country", "region", "street", "zip", "zip code", "postal code", "county", "province")
_WHERE = ("address", "addr", "location", "loc")  # where a thing is; where it is sent to, or billed, is another place
_DONE = pairs_of("""
birth born; start started; end ended; join joined; hire hired; registration registered; termination terminated; approval approved;
expiry expired; expiration expired; creation created; release released; launch launched; delivery delivered; shipping shipped;
shipment shipped; enrollment enrolled; enrolment enrolled; admission admitted; admit admitted; graduation graduated;
completion completed; cancellation cancelled; publication published; activation activated; assess assessed; assessment assessed;
submission submitted; death died; verification verified; foundation founded; retirement retired; signup signed; closing closed
""")
_STATES = pairs_of("""
fail failed; failure failed; success successful; succeed successful; cancel cancelled; complete completed; approve approved;
reject rejected; refund refunded; expire expired; suspend suspended; activate active
""")
_OF_TIMES = frozenset(("date", "time", "day", "dt", "at", "on", "of", "ts", "timestamp"))
_KINDS = ("type", "kind")
_PERIODS = ("daily", "weekly", "monthly", "yearly", "annual")


def with_besides(said: Said, times: set[str]) -> Said:
    """The phrases of a table's columns and those that one column alone answers to. times: the columns that hold times."""
    taken = {phrase for phrases in said.values() for phrase in phrases}
    more = {name: _besides(phrases, is_time=name in times) - taken for name, phrases in said.items()}
    claims = Counter(phrase for phrases in more.values() for phrase in phrases)
    return {
        name: (*phrases, *sorted(phrase for phrase in more[name] if claims[phrase] == 1))
        for name, phrases in said.items()
    }


def _besides(phrases: tuple[str, ...], *, is_time: bool) -> set[str]:
    found = set()
    for phrase in phrases:
        words = phrase.split()
        found |= {place for place in _PLACES if words[0] in _WHERE and " ".join(words[1:]) == place}
        if len(words) > 1 and words[-1] in _PERIODS:
            found.add(" ".join([words[-1], *words[:-1]]))  # “transaction limit daily”
        if is_time:
            about = [word for word in words if word not in _OF_TIMES]
            found |= {_DONE[word] for word in about[-1:] if word in _DONE}
    return found


def with_states(values: tuple[Value, ...], column: str) -> tuple[Value, ...]:
    """“Failed” where a status is kept as `fail`."""
    if not column.lower().endswith(("status", "state", "result", "outcome")):
        return values
    return tuple(
        value.model_copy(update={"synonyms": (_STATES[value.value.lower()],)})
        if not value.synonyms and value.value.lower() in _STATES
        else value
        for value in values
    )


def with_nouns(values: tuple[Value, ...], said: tuple[str, ...], things: set[str]) -> tuple[Value, ...]:
    """“Italian food”, “private insurance”: values of a kind of something, said with it. things: what tables are called, by stem."""
    words = said[0].split() if said else []
    noun = " ".join(words[:-1])
    if len(words) < 2 or words[-1] not in _KINDS or singular(words[-2]) in things:
        return values
    return tuple(
        value if value.synonyms else value.model_copy(update={"synonyms": (f"{value.value} {noun}",)})
        for value in values
    )
