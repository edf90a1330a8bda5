"""What Chinese may call the things of a draft that have English names alone, by the bundled dictionary.

`sale_price` → 销售价格. The words are synonyms, proposed for a person to accept or take away as all of a draft; the reader, the linker
and a model find things by them.
"""

from itertools import product
from typing import TypeVar

import structlog

from business.linking.asked import dictionary_here
from business.parsing.reader.units import key_of
from business.parsing.reader.words import words_of
from business.semantic_layer.model import Named, SemanticModel
from knowledge.dictionary.words import Dictionary

MOST_WORDS = 6  # of one English word
OF_EACH = 2  # of each word of a phrase of several
LONGEST = 3  # words of a phrase that is put into Chinese word by word
N = TypeVar("N", bound=Named)

log = structlog.get_logger(__name__)


def with_chinese(models: list[SemanticModel]) -> list[SemanticModel]:
    """The models with Chinese words for their tables and columns; as they are where this machine has no dictionary."""
    known = dictionary_here()
    if known is None:
        log.warning("draft.without_chinese")
        return models
    return [
        _called(model, known).model_copy(update={"dimensions": tuple(_called(one, known) for one in model.dimensions)})
        for model in models
    ]


def _called(named: N, known: Dictionary) -> N:
    words = named.words()
    if any(not word.isascii() for word in words):
        return named
    found = dict.fromkeys(chinese for word in words for chinese in _rendered(word.replace("_", " ").split(), known))
    return named.model_copy(update={"synonyms": (*named.synonyms, *found)})


def _rendered(words: list[str], known: Dictionary) -> list[str]:
    """A phrase in Chinese, in every way that its words are; what questions are put with is no name."""
    if not 0 < len(words) <= LONGEST:
        return []
    most = MOST_WORDS if len(words) == 1 else OF_EACH
    found = ["".join(parts) for parts in product(*(known.chinese(word)[:most] for word in words))]
    return [word for word in found if key_of(word) not in words_of("zh").roles]
