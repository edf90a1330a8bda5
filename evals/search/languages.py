"""Choose the language of a corpus that a question is searched in."""

from enum import StrEnum

from evals.search.corpus import LoadedCorpus
from evals.search.datasets import Dataset, Query
from knowledge.retrieval.plan import Scope


class Languages(StrEnum):
    """The language of the corpus that a question is searched in."""

    OWN = "own"  # the one it names, else its own
    OTHER = "other"  # the one that is not its own
    ALL = "all"


def scope_of(query: Query, dataset: Dataset, corpus: LoadedCorpus, languages: Languages) -> Scope:
    """Return the corpus, in the language that is searched."""
    return Scope(knowledge_base_ids=(corpus.base.pk,), language=language_of(query, dataset, languages))


def language_of(query: Query, dataset: Dataset, languages: Languages) -> str:
    """Return the language a question is searched in; "" for all, and where the corpus does not tell languages apart."""
    spoken = {document.language for document in dataset.corpus if document.language}
    own = query.target_language or query.language or ""
    if languages is Languages.ALL or own not in spoken:
        return ""
    others = sorted(spoken - {own})
    return others[0] if languages is Languages.OTHER and others else own
