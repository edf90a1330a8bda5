"""Whether business data can answer a question word for word, for the person who asks it."""

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.readings import readings_of
from agent.business.ask.understand import understand
from agent.business.sources import open_sources
from authz.principal import Principal
from knowledge.ingestion.language import language_of


def is_read(principal: Principal, question: str) -> bool:
    """Whether a source that this person may ask reads every word of it, or asks back which of several readings is meant.

    A table they may not ask has no words here.
    """
    for opened in open_sources(principal):
        try:
            understand(question, opened.lexicon)
        except NotUnderstood as error:
            if readings_of(question, error, opened.layer, language_of(question) or "en"):
                return True
            continue
        return True
    return False
