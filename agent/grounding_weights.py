"""Weights of the judgement whether an answer is confirmed, fitted on the dev halves of squad2_dev and cmrc2018.

Made by `python -m tests.benchmarks.fit_abstention`, which also prints the curves. Log-odds: the bias, then one weight for each
of `agent.grounding.SIGNALS`. No signal of evidence may
lower the judgement, none against it raise it. Keys: the script of the question, and whether late interaction judged the passages.
"""

THRESHOLD = (
    0.55  # refuses 10 % of the open questions of both sets and 90 % of the hidden ones; docs/adr/0006-abstention.md
)

WEIGHTS: dict[tuple[str, bool], tuple[float, ...]] = {
    ("other", False): (
        -17.705,  # bias
        0.000,  # score
        2.238,  # support
        2.126,  # in_sentence
        1.945,  # in_context
        0.000,  # in_passage
        0.014,  # in_any
        0.000,  # rare_in_context
        0.000,  # rare_in_passage
        -0.066,  # gap
        0.000,  # unknown
        0.000,  # dense
        15.893,  # dense_lead
        0.000,  # lexical
        1.175,  # lexical_lead
        0.000,  # coverage
        0.000,  # coverage_lead
        0.000,  # coverage_height
        15.723,  # similarity
        0.000,  # similarity_lead
        0.000,  # has_kind
        -0.402,  # lacks_kind
        0.000,  # givens_in_sentence
        0.386,  # givens_in_passage
        0.000,  # title_asked
        0.054,  # terms
    ),
    ("zh", False): (
        -44.424,  # bias
        0.165,  # score
        0.614,  # support
        1.531,  # in_sentence
        0.055,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.903,  # rare_in_context
        2.357,  # rare_in_passage
        -1.589,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # dense_lead
        0.000,  # lexical
        2.409,  # lexical_lead
        0.000,  # coverage
        0.000,  # coverage_lead
        0.000,  # coverage_height
        35.187,  # similarity
        0.000,  # similarity_lead
        0.000,  # has_kind
        -0.610,  # lacks_kind
        1.166,  # givens_in_sentence
        1.082,  # givens_in_passage
        0.871,  # title_asked
        -0.919,  # terms
    ),
    ("other", True): (
        -15.832,  # bias
        0.000,  # score
        1.741,  # support
        1.700,  # in_sentence
        2.042,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.000,  # rare_in_context
        0.000,  # rare_in_passage
        -0.165,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # dense_lead
        0.000,  # lexical
        0.254,  # lexical_lead
        0.000,  # coverage
        0.000,  # coverage_lead
        14.067,  # coverage_height
        12.962,  # similarity
        0.000,  # similarity_lead
        0.000,  # has_kind
        -0.539,  # lacks_kind
        0.000,  # givens_in_sentence
        0.435,  # givens_in_passage
        0.000,  # title_asked
        0.081,  # terms
    ),
    ("zh", True): (
        -40.182,  # bias
        0.045,  # score
        0.978,  # support
        1.442,  # in_sentence
        0.709,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.913,  # rare_in_context
        2.389,  # rare_in_passage
        -2.617,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # dense_lead
        0.000,  # lexical
        2.026,  # lexical_lead
        0.000,  # coverage
        0.270,  # coverage_lead
        3.490,  # coverage_height
        38.433,  # similarity
        0.000,  # similarity_lead
        0.000,  # has_kind
        -0.752,  # lacks_kind
        1.026,  # givens_in_sentence
        1.155,  # givens_in_passage
        1.233,  # title_asked
        -0.897,  # terms
    ),
}
