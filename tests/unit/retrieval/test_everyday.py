"""What a question is about, weighed against everyday speech."""

import pytest

from knowledge.retrieval import term_weights
from knowledge.retrieval.term_weights import matter_weights, share_of_passages
from knowledge.text.everyday import everyday_rates
from knowledge.text.terms import query_weights, term_id, terms

QUESTION = "我自己的折扣是多少"
SMALL, LARGE = 60, 10_000_000


def shares(passages: int) -> dict[str, float]:
    """The terms of QUESTION in a base in which each stands in one passage."""
    ids = {term_id(term): 1 for term in terms(QUESTION)}
    weights = matter_weights(QUESTION, ids, passages)
    assert sum(weights.values()) == pytest.approx(1)
    return {term: weights[term_id(term)] for term in terms(QUESTION)}


def test_everyday_words_weigh_little_in_a_small_base(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = shares(SMALL)
    assert weighed["折扣"] > 2 * weighed["自己"] > 0
    monkeypatch.setattr(term_weights, "IMAGINED", 0)
    counted = shares(SMALL)
    assert counted["折扣"] == pytest.approx(counted["自己"])


def test_in_a_large_base_only_its_own_passages_count() -> None:
    ids = {term_id(term): LARGE // 10 for term in terms(QUESTION)}
    assert matter_weights(QUESTION, ids, LARGE) == pytest.approx(
        query_weights(map(term_id, terms(QUESTION)), ids, LARGE), rel=0.01
    )


def test_what_no_document_says_stays_out_and_an_everyday_word_leaves_a_smaller_hole() -> None:
    known = {term_id(term): 3 for term in terms("notice period")}
    for rare, everyday_word in (("quarkfelder", "please"), ("zyxwvut", "really")):
        unknown, usual = (matter_weights(f"notice period {word}", known, SMALL) for word in (rare, everyday_word))
        assert unknown.keys() == usual.keys() == known.keys()
        assert sum(unknown.values()) < sum(usual.values()) < 1


def test_the_share_of_passages_is_a_share() -> None:
    assert share_of_passages("的") > 0.9 > share_of_passages("折扣") > 0
    assert share_of_passages("the") > 0.9 > share_of_passages("discount") > 0
    assert share_of_passages("quarkfelder") == 0
    assert share_of_passages("我自") > 0, "one word ends and the next begins"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lists_say_what_the_package_says(language: str) -> None:
    import wordfreq

    assert everyday_rates(language) == wordfreq.get_frequency_dict(language, "small")
