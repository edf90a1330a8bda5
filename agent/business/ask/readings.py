"""The complete questions that an ambiguous one may have meant, to choose from."""

from datetime import date

from agent.business.ask.describe import label
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.layer.model import SemanticLayer


def readings_of(question: str, error: NotUnderstood, layer: SemanticLayer, language: str) -> list[str]:
    """The question with the table that each choice belongs to; only those that are then read, and only where there are several."""
    if not error.choices and not error.figures:
        return []
    lexicon, key = Lexicon.of(layer), "zh" if language.startswith("zh") else "en"
    names = dict.fromkeys(choice.partition(".")[0] for choice in error.choices)
    whole = question.strip().rstrip("?？。.")
    said = [f"{whole} ({label(lexicon.model(name), key)})?" for name in names]
    said += [_ranked_by(whole, label(lexicon.measure(figure), key), key) for figure in error.figures]
    readings = [text for text in said if _is_read(text, lexicon)]
    return readings if len(readings) > 1 else []


def _ranked_by(question: str, figure: str, language: str) -> str:
    return f"{figure}最高的{question}" if language == "zh" else f"{question} by {figure}"


def _is_read(text: str, lexicon: Lexicon, today: date | None = None) -> bool:
    try:
        understand(text, lexicon, today=today)
    except NotUnderstood:
        return False
    return True
