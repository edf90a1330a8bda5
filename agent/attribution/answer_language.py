"""Detect an answer written in another language than the question.

Ordinary words of whole sentences decide, since names and code belong to no language.
"""

import re

from agent.run_state.run import Run
from knowledge.text.language import detect_language

FEWEST_WORDS = 3  # lower-case English words from which a text counts as English; chosen by hand
FEWEST_SIGNS = 4  # of Chinese, Japanese or Korean
_ORDINARY = re.compile(r"(?<![\w./-])[a-z]+(?![\w/-]|\.\w)")
_SIGNS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE_ENDS = re.compile(r"[.!?。！？]\W*$", re.MULTILINE)


def is_in_other_language(text: str, language: str) -> bool:
    """Return whether a text is in another language than this one, as `detect_language` names them.

    False where it has no whole sentence or too few words to tell.
    """
    written = detect_language(text)
    if not written or written == language or not _SENTENCE_ENDS.search(text):
        return False
    return (
        len(_ORDINARY.findall(text)) >= FEWEST_WORDS if written == "en" else len(_SIGNS.findall(text)) >= FEWEST_SIGNS
    )


def answer_language_of(run: Run) -> str:
    """Return the language to answer in, zh or en: that of the question if detected, else that of the person's pages."""
    language = run.answers_in or detect_language(run.question) or detect_language(run.state.input.normalized_query)
    return language or run.language[:2]
