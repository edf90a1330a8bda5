"""Which source is asked, and whether business data can answer a question word for word, for the person who asks it."""

import re

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.readings import readings_of
from agent.business.ask.understand import understand
from agent.business.sources import OpenSource, open_sources
from authz.principal import Principal
from knowledge.ingestion.language import language_of

_NAMED = re.compile(r"^(?P<question>.+?)\s*[(（](?P<source>[^()（）]+)[)）]\W*$", re.DOTALL)


def of_named_source(question: str, sources: list[OpenSource]) -> tuple[str, list[OpenSource]]:
    """A question without the source that is named in brackets behind it, and that source; else all of them."""
    named = _NAMED.match(question)
    chosen = [opened for opened in sources if named and opened.source.name.lower() == named["source"].strip().lower()]
    return (named["question"], chosen) if named and chosen else (question, sources)


def is_read(principal: Principal, question: str) -> bool:
    """Whether a source that this person may ask reads every word of it, or asks back which of several readings is meant.

    A table they may not ask has no words here.
    """
    asked, sources = of_named_source(question, open_sources(principal))
    for opened in sources:
        try:
            understand(asked, opened.lexicon)
        except NotUnderstood as error:
            if readings_of(asked, error, opened.layer, language_of(question) or "en"):
                return True
            continue
        return True
    return False
