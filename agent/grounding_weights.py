"""Weights of the judgement whether an answer is confirmed, fitted on the dev halves of squad2_dev and cmrc2018.

Made by `python -m tests.benchmarks.fit_abstention`, which also prints the curves. Log-odds: the bias, then one weight for each
of `agent.grounding.SIGNALS`. No signal of evidence may lower the judgement, none against it raise it. Keys: the script of the
question, and whether late interaction judged the passages.
VERIFYING is fitted on answerable against unanswerable questions of squad2_dev; there is no such set in Chinese.
"""

THRESHOLD = 0.54  # refuses 10 % of the open questions of both sets, cross-validated; docs/adr/0006-abstention.md
VERIFIED = 0.056  # refuses 0.5 % of the open questions of squad2_dev besides

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
        0.000,  # shortfall
        0.000,  # shortfall_near
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
        -48.774,  # bias
        0.094,  # score
        0.476,  # support
        0.436,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.861,  # rare_in_context
        1.259,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        0.000,  # shortfall
        0.000,  # shortfall_near
        41.352,  # similarity
        0.000,  # has_kind
        -0.611,  # lacks_kind
        0.263,  # givens_in_sentence
        1.482,  # givens_in_passage
        -1.018,  # unsaid_in_context
        -1.549,  # unsaid_in_passage
        1.253,  # title_asked
        0.058,  # terms
        1.106,  # pairs_in_sentence
        1.269,  # pairs_in_passage
        1.207,  # order_in_passage
        0.000,  # together
        0.000,  # negation_differs
        0.000,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("other", True): (
        -9.983,  # bias
        0.000,  # score
        2.390,  # support
        1.349,  # in_sentence
        1.393,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        0.312,  # rare_in_context
        0.000,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        -6.656,  # shortfall
        -1.467,  # shortfall_near
        8.275,  # similarity
        0.000,  # has_kind
        -0.356,  # lacks_kind
        0.000,  # givens_in_sentence
        0.129,  # givens_in_passage
        -0.023,  # unsaid_in_context
        -0.409,  # unsaid_in_passage
        0.000,  # title_asked
        0.399,  # terms
        0.000,  # pairs_in_sentence
        0.000,  # pairs_in_passage
        1.325,  # order_in_passage
        0.000,  # together
        -0.066,  # negation_differs
        -0.723,  # negation_unsaid
        0.000,  # opposite
        0.000,  # opposite_in_passage
    ),
    ("zh", True): (
        -39.822,  # bias
        0.021,  # score
        0.663,  # support
        0.000,  # in_sentence
        0.000,  # in_context
        0.000,  # in_passage
        0.000,  # in_any
        1.981,  # rare_in_context
        1.376,  # rare_in_passage
        0.000,  # gap
        0.000,  # unknown
        0.000,  # dense
        0.000,  # lexical
        0.000,  # coverage
        -1.619,  # shortfall
        -5.719,  # shortfall_near
        36.530,  # similarity
        0.000,  # has_kind
        -0.683,  # lacks_kind
        0.194,  # givens_in_sentence
        1.345,  # givens_in_passage
        -1.000,  # unsaid_in_context
        -1.599,  # unsaid_in_passage
        1.587,  # title_asked
        0.565,  # terms
        0.884,  # pairs_in_sentence
        1.455,  # pairs_in_passage
        1.420,  # order_in_passage
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
        0.000,  # shortfall
        0.000,  # shortfall_near
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
        2.496,  # dense
        0.000,  # lexical
        0.000,  # coverage
        0.000,  # shortfall
        0.000,  # shortfall_near
        16.546,  # similarity
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
        -3.064,  # negation_unsaid
        -1.503,  # opposite
        -0.965,  # opposite_in_passage
    ),
}
