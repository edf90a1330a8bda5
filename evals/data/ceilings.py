"""The statement that a perfect language model would write. What is right then reaches the person; what is not is our own doing."""

from evals.data.questions import Asked, alternatives


def gold_statement(one: Asked) -> str:
    """Return the first of several equal gold statements of a question; "" where the data do not answer it."""
    golds = alternatives(one.gold) if one.is_answerable else []
    return golds[0] if golds else ""
