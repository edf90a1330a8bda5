"""What a question is about, weighed against everyday speech."""

import pytest

from knowledge.retrieval import term_weights
from knowledge.retrieval.term_weights import estimate_passage_share, weigh_subject_terms
from knowledge.text.everyday import load_everyday_rates
from knowledge.text.terms import compute_query_weights, extract_terms, hash_term

QUESTION = "我自己的折扣是多少"
SMALL, LARGE = 60, 10_000_000


def shares(passages: int) -> dict[str, float]:
    """The terms of QUESTION in a base in which each stands in one passage."""
    ids = {hash_term(term): 1 for term in extract_terms(QUESTION)}
    weights = weigh_subject_terms(QUESTION, ids, passages)
    assert sum(weights.values()) == pytest.approx(1)
    return {term: weights[hash_term(term)] for term in extract_terms(QUESTION)}


def test_everyday_words_weigh_little_in_a_small_base(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = shares(SMALL)
    assert weighed["折扣"] > 2 * weighed["自己"] > 0
    monkeypatch.setattr(term_weights, "IMAGINED", 0)
    counted = shares(SMALL)
    assert counted["折扣"] == pytest.approx(counted["自己"])


def test_in_a_large_base_only_its_own_passages_count() -> None:
    ids = {hash_term(term): LARGE // 10 for term in extract_terms(QUESTION)}
    assert weigh_subject_terms(QUESTION, ids, LARGE) == pytest.approx(
        compute_query_weights(map(hash_term, extract_terms(QUESTION)), ids, LARGE), rel=0.01
    )


def test_what_no_document_says_stays_out_and_an_everyday_word_leaves_a_smaller_hole() -> None:
    known = {hash_term(term): 3 for term in extract_terms("notice period")}
    for rare, everyday_word in (("quarkfelder", "please"), ("zyxwvut", "really")):
        unknown, usual = (weigh_subject_terms(f"notice period {word}", known, SMALL) for word in (rare, everyday_word))
        assert unknown.keys() == usual.keys() == known.keys()
        assert sum(unknown.values()) < sum(usual.values()) < 1


def test_the_share_of_passages_is_a_share() -> None:
    assert estimate_passage_share("的") > 0.9 > estimate_passage_share("折扣") > 0
    assert estimate_passage_share("the") > 0.9 > estimate_passage_share("discount") > 0
    assert estimate_passage_share("quarkfelder") == 0
    assert estimate_passage_share("我自") > 0, "one word ends and the next begins"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lists_say_what_the_package_says(language: str) -> None:
    import wordfreq

    assert load_everyday_rates(language) == wordfreq.get_frequency_dict(language, "small")
