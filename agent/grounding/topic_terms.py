"""What a question asks about, apart from the names, the numbers and the time it gives: "cash position" of a quarter, "on call" of a week.

A sentence of the same week, place or quarter resembles the question and may speak of something else.
"""

import re
from collections.abc import Collection, Iterator

from agent.extractive.amounts import amount_asked, asks_amount
from agent.extractive.candidates import TermShares, covered, named_terms
from agent.extractive.questions import AnswerKind, Question, asks_for_all, asks_only
from knowledge.retrieval.term_weights import is_of_words, share_of_passages
from knowledge.retrieval.terms import is_han, term_id, terms

LEAST = 0.15  # share of the question's idf below which nothing is left besides names, numbers and time
_TIMES = frozenset(
    term_id(term)
    for term in terms(
        "year month week weekend day night hour minute date today now yesterday tomorrow quarter half century decade time period"
        " january february march april may june july august september october november december"
        " monday tuesday wednesday thursday friday saturday sunday"
        " first second third fourth last next this end begin start current latest early late during Q1 Q2 Q3 Q4 H1 H2"
        " 年 月 日 天 周 今年 去年 明年 本月 上半 半年 季度 星期 时候 目前 现在"
    )
)
_DIGIT = re.compile(r"\d")
RARE = 0.002  # … below which it is hardly said in other words
UNUSUAL = 0.005  # share of ordinary passages below which a Chinese word is of some matter; by hand
USUAL = 0.05  # share of ordinary passages from which a word tells nothing of the matter (a, for, much); by hand
VALUES = frozenset({AnswerKind.NUMBER, AnswerKind.PERSON})  # answers that do not say themselves what they are
_OF_TALK = frozenset("这那哪几多少后前上下时候能会可不没我你他她们给还有是在就也都很么谁说想要让把被")


def topic_terms_in(question: Question, shares: TermShares) -> dict[int, float]:
    """The terms of the matter, with shares that sum to 1; none where a question gives only names, numbers and time.

    shares: {term id: share of the question's idf}, of terms that documents say.
    """
    given = named_terms(question) | _TIMES | {term_id(term) for term in terms(question.text) if _DIGIT.search(term)}
    left = {term: share for term, share in shares.items() if term not in given}
    total = sum(left.values())
    return {term: share / total for term, share in left.items()} if total >= LEAST else {}


def core_of(question: Question, matter: TermShares) -> int | None:
    """The rarest word of the matter; None where it has no word. Two characters that no known word joins are none."""
    words = {term_id(term) for term in terms(question.text) if is_of_words(term)} & matter.keys()
    return max(words, key=matter.__getitem__) if words else None


def unsaid_word(question: Question, known: Collection[int], said: Collection[int]) -> str | None:
    """A Chinese word of the question that no document says and of which no character is said either; None where there is none.

    Then something is asked of which nothing is written here. known: the terms that documents say. said: the terms said around the
    sentence.
    """
    return next(
        (
            word
            for word in _words_of_matter(question, UNUSUAL)
            if term_id(word) not in known and not _is_hinted_at(word, said)
        ),
        None,
    )


def is_word_left_out(question: Question, around: Collection[int], said: Collection[int]) -> bool:
    """Whether a rare Chinese word of the question is not said around the sentence, and none of its characters in it: 住院 is asked for,
    and 门诊 is said. around: the terms said with headings and neighbours, said: in the sentence.
    """
    return any(
        term_id(word) not in around and not _is_hinted_at(word, said) for word in _words_of_matter(question, RARE)
    )


def is_value_of_something_else(question: Question, passage: Collection[int], said: Collection[int]) -> bool:
    """Whether a Chinese question asks for a number or a person, and leaves a word that tells of what (密度, 馆长) unsaid: a bare number or
    name says by itself nothing of what it is. passage: the terms it says with its headings, said: the sentence.
    """
    if question.kind not in VALUES or question.is_keywords or asks_for_all(question):
        return False
    return any(
        term_id(word) not in passage and not _is_hinted_at(_only_in(word, question.text), said)
        for word in _words_of_matter(question, USUAL)
    )


def _only_in(word: str, question: str) -> str:
    """The characters of a word that no other word of the question has: 馆 in 博物馆 says nothing of a 馆长."""
    return "".join(character for character in word if question.count(character) == word.count(character))


def _words_of_matter(question: Question, most: float) -> Iterator[str]:
    """The Chinese words of a question that fewer than this share of ordinary passages hold; words of talk (几个, 那边) do not count."""
    for term in terms(question.text):
        is_word = (
            len(term) == 2 and is_han(term) and is_of_words(term) and _OF_TALK.isdisjoint(term) and not asks_only(term)
        )
        if is_word and share_of_passages(term) < most:
            yield term


def _is_hinted_at(word: str, said: Collection[int]) -> bool:
    return any(term_id(character) in said for character in word)


def says_all(question: Question, said: Collection[int]) -> bool:
    """Whether every word of a question is said, but for its codes, the words of asking and those that most texts hold."""
    amount = amount_asked(question.text)
    telling = (
        term
        for term in terms(question.text)
        if term not in question.codes and not asks_only(term) and not asks_amount(term, amount)
    )
    return all(term_id(term) in said for term in telling if is_of_words(term) and share_of_passages(term) < USUAL)


def said_of(matter: TermShares, said: frozenset[int]) -> float:
    """Share of the matter among the terms said; 1 where there is nothing to say."""
    return covered(matter, said) if matter else 1.0
