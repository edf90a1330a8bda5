"""Whether business data can answer a question word for word, for the person who asks it."""

from agent.business.ask.lexicon import Lexicon
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.sources import open_sources
from authz.principal import Principal


def is_read(principal: Principal, question: str) -> bool:
    """Whether a source that this person may ask reads every word of it. A table they may not ask has no words here."""
    for opened in open_sources(principal):
        try:
            understand(question, Lexicon.of(opened.layer))
        except NotUnderstood:
            continue
        return True
    return False
