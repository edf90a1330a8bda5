"""A sentence prepared for comparison: its clauses, each with its content words, amounts and word classes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agent.attribution.quantities import TextQuantity, parse_quantities
from agent.attribution.words import remove_function_words, word_classes_of
from agent.text.sentences import split_sentences
from business.parsing.reader.units import normalise_text
from knowledge.text.terms import extract_terms

_CUT = re.compile(r"[;:。!?]|,(?!\d{3})|\.(?=\s|$)|\b(?:and|but|while)\b|而|但")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]*")
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w./-]*\d)[a-z][\w./×-]*\w|\b[a-z]\b(?= 级)|(?<=zone )[a-z]\b")
BINDS = {"all", "only", "most", "least", "more", "fewer", "up", "down", "same", "cause", "difference", "together"}


def content_words_of(text: str) -> list[str]:
    """Return the content words of a lower-case text: English words, and each pair of adjacent Chinese characters."""
    bare = remove_function_words(text.replace("'s ", " "))
    words = _LATIN.findall(bare)
    for run in _HAN_RUN.findall(bare):
        words += [run[at : at + 2] for at in range(max(len(run) - 1, 1))]
    return words


@lru_cache(maxsize=512)
def _word_stems_of(text: str) -> frozenset[str]:
    return frozenset(extract_terms(text))


def find_missing_words(words: Iterable[str], text: str) -> list[str]:
    """Return the words that a text does not contain."""
    stems = _word_stems_of(text)
    return [
        word for word in words if not (word in text if _HAN_RUN.match(word) else stems.issuperset(extract_terms(word)))
    ]


@dataclass(frozen=True)
class Clause:
    """text: normalised for comparison."""

    text: str

    @cached_property
    def quantities(self) -> list[TextQuantity]:
        return [quantity for quantity in parse_quantities(self.text) if not quantity.is_soft]

    @cached_property
    def classes(self) -> set[str]:
        return word_classes_of(self.text)

    @cached_property
    def words(self) -> list[str]:
        """Return the words other than numbers."""
        return content_words_of(remove_quantities(self.text))

    @cached_property
    def identifiers(self) -> set[str]:
        return set(_IDENTIFIER.findall(self.text))

    @property
    def is_negative(self) -> bool:
        return not self.classes.isdisjoint({"none", "not"})

    def share_in(self, text: str) -> float:
        """Return the share of its words that a text contains; 1 for a clause without words."""
        return 1 - len(find_missing_words(self.words, text)) / len(self.words) if self.words else 1.0


@dataclass(frozen=True)
class EvidenceSentence:
    """One sentence of the evidence, with the heading above it."""

    text: str
    head: str

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        return split_clauses(self.text)


def split_clauses(text: str) -> tuple[Clause, ...]:
    return tuple(Clause(part.strip()) for part in _CUT.split(normalise_text(text)) if part.strip())


@lru_cache(maxsize=256)
def split_statements(text: str) -> tuple[EvidenceSentence, ...]:
    """Return the sentences of a text, each with the heading before it."""
    found, head = [], ""
    for piece in split_sentences(text):
        if piece.kind == "heading":
            head = piece.text
        else:
            found.append(EvidenceSentence(piece.text, normalise_text(head)))
    return tuple(found)


def remove_quantities(text: str) -> str:
    for found in reversed(parse_quantities(text)):
        text = f"{text[: found.start]} {text[found.end :]}"
    return text
