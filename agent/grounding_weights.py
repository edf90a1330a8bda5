"""Weights of the judgement whether an answer is confirmed, fitted on the dev halves of squad2_dev and cmrc2018.

Made by `python -m tests.benchmarks.fit_abstention`, which also prints the curves. Log-odds: the bias, then one weight for each
of `agent.grounding.SIGNALS`. No signal of evidence may
lower the judgement, none against it raise it. Keys: the script of the question, and whether late interaction judged the passages.
"""

THRESHOLD = 0.52  # refuses 10 % of the open questions of both sets, cross-validated; docs/adr/0006-abstention.md

WEIGHTS: dict[tuple[str, bool], tuple[float, ...]] = {
    ("other", False): (
        -19.839,  # bias
        0.000,  # score
        2.657,  # support
        1.769,  # in_sentence
        2.498,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.000,  # rare_in_context
        0.243,  # rare_in_passage
        -0.300,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        17.176,  # similarity
        0.000,  # has_kind
        -0.361,  # lacks_kind
        0.000,  # givens_in_sentence
        0.353,  # givens_in_passage
        0.000,  # unsaid_in_context
        -0.258,  # unsaid_in_passage
        0.000,  # title_asked
        0.310,  # terms
    ),
    ("zh", False): (
        -49.497,  # bias
        0.105,  # score
        0.815,  # support
        1.751,  # in_sentence
        0.682,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.736,  # rare_in_context
        2.268,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.398,  # lexical
        0.000,  # coverage
        42.213,  # similarity
        0.000,  # has_kind
        -0.647,  # lacks_kind
        0.283,  # givens_in_sentence
        1.318,  # givens_in_passage
        -0.159,  # unsaid_in_context
        -2.359,  # unsaid_in_passage
        1.089,  # title_asked
        -0.095,  # terms
    ),
    ("other", True): (
        -16.967,  # bias
        0.000,  # score
        2.776,  # support
        1.843,  # in_sentence
        2.003,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.000,  # rare_in_context
        0.258,  # rare_in_passage
        -0.345,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        2.386,  # coverage
        12.385,  # similarity
        0.000,  # has_kind
        -0.346,  # lacks_kind
        0.000,  # givens_in_sentence
        0.339,  # givens_in_passage
        0.000,  # unsaid_in_context
        -0.265,  # unsaid_in_passage
        0.000,  # title_asked
        0.299,  # terms
    ),
    ("zh", True): (
        -49.498,  # bias
        0.105,  # score
        0.815,  # support
        1.751,  # in_sentence
        0.682,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.736,  # rare_in_context
        2.268,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.398,  # lexical
        0.000,  # coverage
        42.216,  # similarity
        0.000,  # has_kind
        -0.647,  # lacks_kind
        0.283,  # givens_in_sentence
        1.318,  # givens_in_passage
        -0.158,  # unsaid_in_context
        -2.360,  # unsaid_in_passage
        1.089,  # title_asked
        -0.095,  # terms
    ),
}
