"""Weights of the verdict whether an answer is confirmed, fitted on the dev halves of squad2_dev and cmrc2018.

Made by `python -m tests.benchmarks.fit_abstention`, which also prints the curves. Log-odds: the bias, then one weight for each
of `agent.grounding.answerability.SIGNALS`. No signal of evidence may lower the verdict, none against it raise it.
Keys of WEIGHTS: the script of the question, and whether late interaction judged the passages. VERIFYING is fitted on answerable
against unanswerable questions of squad2_dev, without what late interaction says; there is no such set in Chinese.
"""

THRESHOLD = 0.505  # refuses 9.6 % of the open questions of both sets, with the rules of answerability.py; docs/adr/0006-abstention.md
VERIFIED = 0.060  # refuses 0.5 % of the open questions of squad2_dev besides

WEIGHTS: dict[tuple[str, bool], tuple[float, ...]] = {
    ("other", False): (
        -17.972,  # bias
        0.000,  # score
        2.956,  # support
        0.536,  # in_sentence
        2.064,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.101,  # rare_in_context
        0.003,  # rare_in_passage
        0.000,  # gap
        -1.924,  # gap_in_sentence
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        0.000,  # shortfall
        0.000,  # shortfall_near
        16.976,  # similarity
        0.000,  # has_kind
        -0.314,  # lacks_kind
        0.000,  # givens_in_sentence
        0.177,  # givens_in_passage
        0.000,  # unsaid_in_context
        -0.479,  # unsaid_in_passage
        0.000,  # title_asked
        0.175,  # core_in_context
        0.211,  # matter_in_context
        -0.182,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        1.513,  # order_in_passage
        0.000,  # together
        -0.045,  # negation_differs
        -0.530,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("zh", False): (
        -47.492,  # bias
        0.052,  # score
        0.588,  # support
        0.306,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.397,  # rare_in_context
        1.436,  # rare_in_passage
        0.000,  # gap
        0.000,  # gap_in_sentence
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        0.000,  # shortfall
        0.000,  # shortfall_near
        41.650,  # similarity
        0.000,  # has_kind
        -0.587,  # lacks_kind
        0.000,  # givens_in_sentence
        1.954,  # givens_in_passage
        -1.340,  # unsaid_in_context
        -1.776,  # unsaid_in_passage
        1.415,  # title_asked
        0.000,  # core_in_context
        1.924,  # matter_in_context
        0.152,  # terms
        1.214,  # pairs_in_sentence
        0.737,  # pairs_in_passage
        0.686,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        0.000,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("other", True): (
        -9.730,  # bias
        0.000,  # score
        2.626,  # support
        0.672,  # in_sentence
        1.554,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.263,  # rare_in_context
        0.000,  # rare_in_passage
        0.000,  # gap
        -2.041,  # gap_in_sentence
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        -6.492,  # shortfall
        -1.415,  # shortfall_near
        9.354,  # similarity
        0.000,  # has_kind
        -0.319,  # lacks_kind
        0.081,  # givens_in_sentence
        0.086,  # givens_in_passage
        0.000,  # unsaid_in_context
        -0.387,  # unsaid_in_passage
        0.000,  # title_asked
        0.184,  # core_in_context
        0.000,  # matter_in_context
        0.042,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        1.120,  # order_in_passage
        0.000,  # together
        -0.056,  # negation_differs
        -0.666,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("zh", True): (
        -39.362,  # bias
        0.000,  # score
        0.736,  # support
        0.000,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.516,  # rare_in_context
        1.486,  # rare_in_passage
        0.000,  # gap
        0.000,  # gap_in_sentence
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        -0.715,  # shortfall
        -6.393,  # shortfall_near
        36.413,  # similarity
        0.000,  # has_kind
        -0.631,  # lacks_kind
        0.000,  # givens_in_sentence
        1.734,  # givens_in_passage
        -1.238,  # unsaid_in_context
        -1.879,  # unsaid_in_passage
        1.682,  # title_asked
        0.000,  # core_in_context
        1.863,  # matter_in_context
        0.682,  # terms
        0.819,  # pairs_in_sentence
        0.964,  # pairs_in_passage
        0.926,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        0.000,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
}

VERIFYING: dict[str, tuple[float, ...]] = {
    "other": (
        -14.285,  # bias
        0.000,  # score
        0.000,  # support
        0.000,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.000,  # rare_in_context
        0.000,  # rare_in_passage
        0.000,  # gap
        -2.365,  # gap_in_sentence
        -1.954,  # unknown
        2.244,  # dense
        0.000,  # lexical
        0.000,  # coverage
        0.000,  # shortfall
        0.000,  # shortfall_near
        15.358,  # similarity
        0.027,  # has_kind
        -0.522,  # lacks_kind
        0.168,  # givens_in_sentence
        0.000,  # givens_in_passage
        -0.690,  # unsaid_in_context
        0.000,  # unsaid_in_passage
        0.044,  # title_asked
        0.036,  # core_in_context
        0.000,  # matter_in_context
        -0.119,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        0.000,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        -2.998,  # negation_unsaid
        -1.459,  # opposite
        -0.995,  # opposite_in_passage
    ),
}
