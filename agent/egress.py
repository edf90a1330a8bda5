"""The words of a run that may leave the company: those of the person, and those not read inside.

A model that has read documents writes the web search query. The query is compared with all that the run was told
inside: a content word, a number or a name from there that the person did not write blocks it. Everyday words carry no
information and may leave. An address may be fetched only where the person wrote it or a web search returned it, so that
the request itself leaks nothing.

The limits of this check are in ADR 0028.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from agent.run_state.run import Run
from knowledge.retrieval.term_weights import estimate_passage_share
from knowledge.text.normalise import normalise_text
from knowledge.text.terms import extract_terms, is_han

EVERYDAY = 0.05  # share of ordinary passages from which a word is harmless; chosen by hand
MIN_WHOLE = 6  # shortest word that is also searched for split or joined
MAX_WORD = 24  # characters; longer ones are codes, allowed only if the person wrote them
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"https?://[^\s<>\"'）()，。；、]+", re.IGNORECASE)


@dataclass(frozen=True)
class Border:
    """own: what the person wrote in this conversation. inside: what the run was told inside.

    has_looked: whether it searched there. found: addresses returned by web searches in this run. asks_first: whether
    the person must allow each query.
    """

    own: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    has_looked: bool = False
    found: frozenset[str] = frozenset()
    asks_first: bool = False

    def kept_back(self, query: str) -> list[str]:
        """Return the words of a query that only internal documents contain; empty where it may leave."""
        held = [term for term in dict.fromkeys(extract_terms(query)) if self._is_inside_term(term)]
        plain = _remove_separators(query)
        held += sorted(word for word in self._whole if word in plain and word not in held)
        held += [word for word in _WORD.findall(query) if len(word) > MAX_WORD and word not in self._known_text]
        return held

    def may_open(self, url: str) -> bool:
        """Return whether an address may be fetched: the person wrote it, or a web search returned it."""
        return url in self.found or url.rstrip("/") in self._addresses

    def _is_inside_term(self, term: str) -> bool:
        if term in self._known_terms or term not in self._inside_terms:
            return False
        if is_han(term) and len(term) == 1:
            return False  # a single character is too ambiguous; its pairs are checked
        return any(map(str.isdigit, term)) or estimate_passage_share(term) < EVERYDAY

    @cached_property
    def _known_text(self) -> str:
        return normalise_text("\n".join(self.own))

    @cached_property
    def _known_terms(self) -> frozenset[str]:
        return frozenset(extract_terms(self._known_text))

    @cached_property
    def _inside_terms(self) -> frozenset[str]:
        return frozenset(term for text in self.inside for term in extract_terms(text))

    @cached_property
    def _whole(self) -> frozenset[str]:
        """Return the internal words that are long enough to be recognised even where somebody splits or joins them."""
        written = _remove_separators(self._known_text)
        words = {word.casefold() for text in self.inside for word in _WORD.findall(normalise_text(text))}
        return frozenset(
            word for word in words if len(word) >= MIN_WHOLE and word not in written and not self._is_known_word(word)
        )

    def _is_known_word(self, word: str) -> bool:
        """Return whether the person used another form of the word, or it is an everyday word."""
        parts = extract_terms(word)
        return set(parts) <= self._known_terms or estimate_passage_share(parts[0]) >= EVERYDAY

    @cached_property
    def _addresses(self) -> frozenset[str]:
        return frozenset(found.rstrip("/.,;:!?") for text in self.own for found in _ADDRESS.findall(text))


def build_border(run: Run) -> Border:
    """Return the border of a run at this moment.

    Earlier answers are made from documents, so they count as inside; so does a question that a model completed from
    them.
    """
    return Border(
        own=(*([] if run.goes_on else [run.question]), *(turn.content for turn in run.history if turn.role == "user")),
        inside=(*run.inside_texts, *(turn.content for turn in run.history if turn.role == "assistant")),
        has_looked=run.found is not None or run.state.tools.sql is not None,
        found=frozenset(finding.outside.url for finding in run.findings.values() if finding.outside),
        asks_first=run.profile.asks_before_web,
    )


def _remove_separators(text: str) -> str:
    return _SEPARATORS.sub("", normalise_text(text).casefold())
