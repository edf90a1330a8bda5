"""Weights of the measures of a sentence, fitted on the dev halves of squad2_dev and cmrc2018.

Made by `python -m tests.benchmarks.fit_answers`, which also prints how they do on articles they were not fitted on. A
score is the sum of weight times measure; its differences within one question are log-odds. In the order of MEASURES.
"""

import numpy as np

# By words alone: which sentences are worth embedding.
LEXICAL_WEIGHTS = np.array(
    [
        1.68,  # in_sentence
        -3.08,  # in_titled
        7.12,  # in_context
        0.76,  # in_passage
        7.56,  # in_focus
        23.70,  # dense
        -0.67,  # lexical
        0.00,  # coverage
        2.39,  # rank
        0.96,  # has_kind
        -1.03,  # lacks_kind
        -0.19,  # givens
        4.21,  # title_asked
        -0.64,  # new_terms
        0.43,  # length
        -1.04,  # position
        -4.34,  # is_question
        0.00,  # similarity
    ]
)
# Which sentences answer, where no late interaction has judged the passages …
SENTENCE_WEIGHTS_WITHOUT_COVERAGE = np.array(
    [
        1.33,  # in_sentence
        -6.96,  # in_titled
        7.39,  # in_context
        0.80,  # in_passage
        6.75,  # in_focus
        -5.87,  # dense
        0.31,  # lexical
        0.00,  # coverage
        1.68,  # rank
        0.63,  # has_kind
        -1.11,  # lacks_kind
        -0.94,  # givens
        2.39,  # title_asked
        -0.20,  # new_terms
        0.31,  # length
        -0.95,  # position
        0.00,  # is_question
        69.64,  # similarity
    ]
)
# … and where it has.
SENTENCE_WEIGHTS = np.array(
    [
        1.33,  # in_sentence
        -7.01,  # in_titled
        7.23,  # in_context
        0.41,  # in_passage
        6.82,  # in_focus
        -19.89,  # dense
        -0.03,  # lexical
        16.66,  # coverage
        0.88,  # rank
        0.63,  # has_kind
        -1.12,  # lacks_kind
        -0.95,  # givens
        2.61,  # title_asked
        -0.20,  # new_terms
        0.32,  # length
        -0.96,  # position
        0.00,  # is_question
        68.48,  # similarity
    ]
)
