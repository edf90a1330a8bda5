"""Every sentence of the passages with what is measured of it.

Measures are shares in [0, 1] where nothing else is said. The same code serves an answer and the fit of the weights.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agent.extractive.amounts import amount_asked, asks_amount
from agent.extractive.boilerplate import says_something
from agent.extractive.identifiers import is_row_of
from agent.extractive.passages import Passage
from agent.extractive.questions import Question, asks_only, has_answer_of
from agent.extractive.sentences import Sentence
from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.chinese_script import simplified
from knowledge.text.normalise import normalise
from knowledge.text.terms import is_han, term_id, terms

Vector = NDArray[np.float32]
TermShares = Mapping[int, float]
Says = Callable[[str], frozenset[int]]

MEASURES = (
    "in_context",  # the question's idf that the sentence says, with title, headings and the neighbouring sentences under the same heading
    "in_focus",  # share of what title and headings leave open that the sentence says; 1 where they say it all
    "rank",  # 1 / place of the passage
    "lacks_kind",  # the question expects a kind of answer, and the sentence holds none
    "title_asked",  # share of the title's terms that the question names: the page about the thing, not one that uses it
    "position",  # 0 for the first sentence of the passage, towards 1 for the last
    "is_question",  # the sentence is a question itself
    "similarity",  # cosine of question and sentence
)
SAYS_ALL = 0.8  # share of what is asked of a code that a row about it says with its header and headings; by hand
EVERYDAY = (
    0.05  # share of ordinary passages from which a word that holds it is no word of the matter: get, 需要; by hand
)
LEAST_FOCUS = 0.1  # share of the idf below which what is left open counts for less
LONGEST_FURNITURE = 60  # characters beside the title
_PAGE = re.compile(
    r"\W*(?:(?:page|p\.|seite|第)\s*)?\d{1,4}\s*(?:页|(?:of|/|／|共)\s*\d{1,4}\s*页?)?\W*", re.IGNORECASE
)
_SENTENCE_ENDS = re.compile(r"[.。!！?？;；]\W*\Z")
_POSSESSIVE = re.compile(r"['’]s\b")
_NAMED_VALUE = re.compile(r"[^:=\s]+\s*[:=]\s*\S")
SIMILARITY = MEASURES.index("similarity")
LACKS_KIND = MEASURES.index("lacks_kind")
TITLE_ASKED = MEASURES.index("title_asked")


@dataclass(frozen=True)
class Candidate:
    """One sentence that may answer.

    passage: index into the passages given. position: place among its sentences. under: the heading inside the passage that it
    stands under, "" for none. terms: what it says. context: what it and its neighbours say under their headings.
    is_row_asked_for: whether it is a table row about a code that is asked for, and says what is asked of it: in the row, its header
    or its headings, not in another row.
    measures: in the order of MEASURES.
    """

    passage: int
    position: int
    sentence: Sentence
    under: str
    terms: frozenset[int]
    context: frozenset[int]
    measures: Vector
    is_row_asked_for: bool = False


def shares_of(question: str) -> dict[int, float]:
    """Equal shares for the terms of a question, for callers without document frequencies."""
    found = {term_id(term) for term in terms(question)}
    return dict.fromkeys(found, 1 / len(found)) if found else {}


def of_the_matter(question: str, shares: TermShares) -> dict[int, float]:
    """The shares without the words that only ask, raised so that they sum to what they did."""
    amount = amount_asked(question)
    asking = {term_id(term) for term in terms(question) if asks_only(term) or asks_amount(term, amount)}
    kept = {term: share for term, share in shares.items() if term not in asking}
    left = sum(kept.values())
    return {term: share * sum(shares.values()) / left for term, share in kept.items()} if left else dict(shares)


def candidates_in(
    question: Question,
    passages: Sequence[Passage],
    shares: TermShares,
    says: Says | None = None,
    matter: TermShares | None = None,
) -> list[Candidate]:
    """The sentences of all passages in order, measured but for their similarity. Headings do not answer. says: the terms that a
    text says; without it those that stand in it. matter: by which what is asked of a code is weighed; without it `shares`.
    """
    of_codes = _of_codes(question, shares if matter is None else matter)
    says = says or term_ids
    asked = term_ids(question.text)
    found: list[Candidate] = []
    for number, passage in enumerate(passages):
        sentences = [each for each in _with_headings(passage) if says_something(each[0], question.text)]
        said = [says(sentence.text) for sentence, _under in sentences]
        headed, title = says(passage.heading), says(passage.title)
        title_asked = len(title & asked) / max(len(title), 1)
        for position, (sentence, under) in enumerate(sentences):
            heading = headed | says(under)
            focus = {term: share for term, share in shares.items() if term not in heading}
            left = sum(focus.values())
            around = range(max(0, position - 1), min(position + 2, len(sentences)))
            near = heading.union(*(said[place] for place in around if sentences[place][1] == under))
            measures = [
                covered(shares, near),
                1 - (left - covered(focus, said[position])) / max(left, LEAST_FOCUS),
                1 / (number + 1),
                float(not has_answer_of(question, sentence.text)),
                title_asked,
                position / len(sentences),
                float(sentence.text.endswith(("?", "？"))),
                0.0,
            ]
            own = said[position]
            is_asked = sentence.kind == "row" and is_row_of(sentence.text, question.codes) and of_codes(own | heading)
            found.append(
                Candidate(number, position, sentence, under, own, near, np.array(measures, np.float32), is_asked)
            )
    return found


def _of_codes(question: Question, matter: TermShares) -> Callable[[frozenset[int]], bool]:
    """Tell whether terms said are what a question asks of the codes it names. The codes themselves are no part of it, and a word that no
    document says is: a row about another matter of the same product does not answer.
    """
    codes = frozenset().union(*map(term_ids, question.codes))
    telling = {term_id(term) for term in terms(question.text) if share_of_passages(term) < EVERYDAY} - codes
    asked = {term: share for term, share in matter.items() if term in telling}
    enough, rest = SAYS_ALL * sum(asked.values()), unweighed(question.text, matter) - codes
    return lambda said: covered(asked, said) >= enough and rest <= said


def unweighed(text: str, matter: TermShares) -> frozenset[int]:
    """The terms of the words of a question, of a Chinese one of the characters, that its matter leaves out though they are no words of
    every day.
    """
    amount = amount_asked(text)
    words = [term for term in terms(text) if len(term) == 1 or not is_han(term)]
    rare = [word for word in words if share_of_passages(word) < EVERYDAY]
    asked = [word for word in rare if not asks_only(word) and not asks_amount(word, amount)]
    return frozenset(map(term_id, asked)) - matter.keys()


def _with_headings(passage: Passage) -> list[tuple[Sentence, str]]:
    """The sentences of a passage, each with the last heading above it in the text that is none of the passage's own."""
    known = {passage.title, *passage.heading_path}
    found: list[tuple[Sentence, str]] = []
    under = ""
    for sentence in passage.sentences:
        if sentence.kind == "heading":
            under = "" if sentence.text in known else sentence.text
        elif not _is_furniture(sentence.text, passage.title):
            found.append((sentence, under))
    return found


def _is_furniture(text: str, title: str) -> bool:
    """Whether a line stands on every page: the title again with a mark or a number, or the number of the page alone."""
    if _PAGE.fullmatch(text):
        return True
    rest = text.replace(title, "", 1) if title else text
    return rest != text and len(rest) <= LONGEST_FURNITURE and not _SENTENCE_ENDS.search(rest)


def is_command(sentence: Sentence) -> bool:
    """Whether a sentence is a line of code that sets or reports nothing by name (`kubectl get pods`)."""
    return sentence.kind == "code" and not _NAMED_VALUE.match(sentence.text)


@lru_cache(maxsize=8_192)  # sentences of the passages that were read last: some 20 MB
def term_ids(text: str) -> frozenset[int]:
    return frozenset(map(term_id, terms(text)))


def covered(shares: TermShares, said: frozenset[int]) -> float:
    """Share of the question's idf among the terms said."""
    return sum(share for term, share in shares.items() if term in said)


def said_givens(question: Question, text: str) -> float:
    """Share of the question's names and numbers that the text repeats; 0.5 where the question has none."""
    if not question.givens:
        return 0.5
    lower = simplified(normalise(text)).lower()
    return sum(given in lower for given in question.givens) / len(question.givens)


def named_terms(question: Question) -> dict[str, frozenset[int]]:
    """The terms in each name and number of a question; the 's of a name is none of them."""
    return {given: term_ids(_POSSESSIVE.sub("", given)) for given in question.givens}
