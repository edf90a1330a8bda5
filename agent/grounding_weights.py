"""Weights of the judgement whether an answer is confirmed, fitted on the dev halves of squad2_dev and cmrc2018.

Made by `python -m tests.benchmarks.fit_abstention`, which also prints the curves. Log-odds: the bias, then one weight for each
of `agent.grounding.SIGNALS`. No signal of evidence may
lower the judgement, none against it raise it. Keys: the script of the question, and whether late interaction judged the passages.
VERIFYING is fitted on answerable against unanswerable questions of squad2_dev; there is no such set in Chinese.
"""

THRESHOLD = 0.52  # refuses 10 % of the open questions of both sets, cross-validated; docs/adr/0006-abstention.md
VERIFIED = 0.07  # refuses 0.6 % of the open questions of squad2_dev besides

WEIGHTS: dict[tuple[str, bool], tuple[float, ...]] = {
    ("other", False): (
        -18.870,  # bias
        0.000,  # score
        2.822,  # support
        0.980,  # in_sentence
        2.264,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.000,  # rare_in_context
        0.149,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        16.589,  # similarity
        0.000,  # has_kind
        -0.360,  # lacks_kind
        0.000,  # givens_in_sentence
        0.139,  # givens_in_passage
        0.000,  # unsaid_in_context
        -0.440,  # unsaid_in_passage
        0.000,  # title_asked
        0.161,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        1.725,  # order_in_passage
        0.000,  # together
        -0.075,  # negation_differs
        -0.507,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("zh", False): (
        -50.707,  # bias
        0.046,  # score
        0.627,  # support
        0.728,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.857,  # rare_in_context
        1.307,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        46.504,  # similarity
        0.000,  # has_kind
        -0.668,  # lacks_kind
        0.279,  # givens_in_sentence
        1.417,  # givens_in_passage
        -0.250,  # unsaid_in_context
        -2.128,  # unsaid_in_passage
        1.456,  # title_asked
        0.027,  # terms
        1.040,  # pairs_in_sentence
        1.326,  # pairs_in_passage
        1.256,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        0.000,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("other", True): (
        -16.451,  # bias
        0.000,  # score
        2.950,  # support
        1.043,  # in_sentence
        1.857,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.000,  # rare_in_context
        0.174,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        2.244,  # coverage
        12.250,  # similarity
        0.000,  # has_kind
        -0.346,  # lacks_kind
        0.000,  # givens_in_sentence
        0.130,  # givens_in_passage
        0.000,  # unsaid_in_context
        -0.437,  # unsaid_in_passage
        0.000,  # title_asked
        0.180,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        1.665,  # order_in_passage
        0.000,  # together
        -0.055,  # negation_differs
        -0.528,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("zh", True): (
        -50.708,  # bias
        0.046,  # score
        0.627,  # support
        0.729,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.857,  # rare_in_context
        1.307,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        46.505,  # similarity
        0.000,  # has_kind
        -0.668,  # lacks_kind
        0.279,  # givens_in_sentence
        1.417,  # givens_in_passage
        -0.250,  # unsaid_in_context
        -2.129,  # unsaid_in_passage
        1.456,  # title_asked
        0.027,  # terms
        1.040,  # pairs_in_sentence
        1.325,  # pairs_in_passage
        1.257,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        0.000,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
}

VERIFYING: dict[tuple[str, bool], tuple[float, ...]] = {
    ("other", False): (
        -16.628,  # bias
        0.000,  # score
        0.000,  # support
        0.000,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.295,  # rare_in_context
        0.000,  # rare_in_passage
        -0.190,  # gap
        -1.615,  # unknown
        2.494,  # dense
        0.000,  # lexical
        0.000,  # coverage
        16.547,  # similarity
        0.027,  # has_kind
        -0.516,  # lacks_kind
        0.211,  # givens_in_sentence
        0.000,  # givens_in_passage
        -0.744,  # unsaid_in_context
        0.000,  # unsaid_in_passage
        0.037,  # title_asked
        0.101,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        0.000,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        -3.065,  # negation_unsaid
        -1.503,  # opposite
        -0.965,  # opposite_in_passage
    ),
    ("other", True): (
        -16.629,  # bias
        0.000,  # score
        0.000,  # support
        0.000,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.295,  # rare_in_context
        0.000,  # rare_in_passage
        -0.190,  # gap
        -1.615,  # unknown
        2.495,  # dense
        0.000,  # lexical
        0.000,  # coverage
        16.547,  # similarity
        0.027,  # has_kind
        -0.516,  # lacks_kind
        0.211,  # givens_in_sentence
        0.000,  # givens_in_passage
        -0.744,  # unsaid_in_context
        0.000,  # unsaid_in_passage
        0.037,  # title_asked
        0.101,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        0.000,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        -3.065,  # negation_unsaid
        -1.503,  # opposite
        -0.965,  # opposite_in_passage
    ),
}
