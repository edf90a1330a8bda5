"""Exact names (SLA, KG-400, 4.6.2): a passage with such a name is relevant, and another code is another thing."""

import re
from collections.abc import Mapping

from agent.text.sentences import Sentence, split
from agent.text.words import identifiers_in, term_ids
from knowledge.retrieval.search import Found, Hit
from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.normalise import normalise
from knowledge.text.terms import term_id, terms

_EXACT = re.compile(r"\w[\w@.+/-]*\w", re.ASCII)
_SPACED = re.compile(r"(?<![\w-])([A-Za-z]{1,5}) (\d{2,})(?![\w-])", re.ASCII)
_DIGIT = re.compile(r"\d")
_NO_NAME = re.compile(r"\d{1,3}|(?:19|20)\d\d")  # amounts and years
FEW, SHARE = 5, 0.01  # number or share of a base's passages up to which a name is rare; chosen by hand


def names_exactly(question: str, hit: Hit, found: Found) -> bool:
    """Return whether a passage has a rare name of the question that is no ordinary word, whatever its similarity."""
    if found.asked is None:
        return False
    names = _exact_names(question, found.asked.frequencies, found.asked.corpus_chunks)
    terms = term_ids(_text_of(hit)) if names else frozenset[int]()
    return any(name <= terms for name in names)


def codes_first(question: str, hits: list[Hit]) -> list[Hit]:
    """Return the hits with a code of the question, or a variant of it (KG-400-L); all hits where none has one.

    Those with a row or a clause that begins with it come first.
    """
    codes = _codes_of(question)
    naming = [hit for hit in hits if any(_is_variant(one, codes) for one in identifiers_in(_text_of(hit)))]
    return sorted(naming, key=lambda hit: not _has_row_of(question, hit)) or hits


def _has_row_of(question: str, hit: Hit) -> bool:
    return any(begins_with_name(question, item) for item in split(hit.passage.text, hit.passage.blocks))


def begins_with_name(question: str, sentence: Sentence) -> bool:
    """Return whether a sentence begins with a code or number of the question, like a row or clause about it."""
    first = sentence.cells[0] if sentence.cells else sentence.text
    named = {word.lower() for word in _EXACT.findall(normalise(question)) if _DIGIT.search(word)} | _codes_of(question)
    return any(re.match(rf"\W*{re.escape(name)}(?![\w.]\w)", first, re.IGNORECASE) for name in named)


def _codes_of(question: str) -> frozenset[str]:
    """Return the codes of a question, in lower case; one written with a space in all spellings used in documents."""
    spaced = [(letters.lower(), digits) for letters, digits in _SPACED.findall(normalise(question))]
    return identifiers_in(question) | {f"{letters}{dash}{digits}" for letters, digits in spaced for dash in ("", "-")}


def _is_variant(code: str, asked: frozenset[str]) -> bool:
    return any(code == one or code.startswith(f"{one}-") for one in asked)


def _exact_names(question: str, frequencies: Mapping[int, int], passages: int) -> list[frozenset[int]]:
    """Return the term ids of each exact name found in documents. frequencies: {term id: number of passages}."""
    most = max(FEW, SHARE * passages)
    found = []
    for word in dict.fromkeys(_EXACT.findall(normalise(question))):
        parts = terms(word)
        ids = frozenset(map(term_id, parts))
        is_rare = any(0 < frequencies.get(term_id(part), 0) <= most and not share_of_passages(part) for part in parts)
        if is_rare and ids <= frequencies.keys() and not _NO_NAME.fullmatch(word):
            found.append(ids)
    return found


def _text_of(hit: Hit) -> str:
    return "\n".join((hit.passage.title, *hit.passage.heading_path, hit.passage.text))
