"""Complete a follow-up question from the question before it, for a search of documents."""

import re

from agent.passages.rules import WORDING, matches_word_list, strip_final_punctuation
from agent.text.words import is_question_word, load_word_pattern_from
from knowledge.text.language import detect_language
from knowledge.text.terms import extract_terms

SHORT = 40  # characters: longer questions are never follow-ups
MIN_TERMS = 2  # of a question that says enough by itself
_CODE = re.compile(
    r"(?<![\w@.-])(?:[A-Za-z]{1,6}[- ]?\d{2,}(?:-[A-Za-z\d]+)*|v?\d+(?:\.\d+)+|(?:19|20)\d\d|[\w.+-]+@[\w.-]+)(?![\w@])",
    re.ASCII,
)
_SERIES = re.compile(r"\d.*")
_LANGUAGES = {"zh": re.compile("chinese|mandarin|[中汉]", re.IGNORECASE), "en": re.compile("english|英", re.IGNORECASE)}


def complete_follow_up(question: str, earlier: str) -> str:
    """Return a follow-up joined with the question before it; any other question unchanged.

    Where it names only another code, version or year than the one before, that is replaced there.
    """
    if not is_follow_up_question(question):
        return question
    text = strip_final_punctuation(question)
    part = load_word_pattern_from(WORDING, "lead_in").sub("", text, count=1).removesuffix("呢").strip()
    new, old = _CODE.findall(part), _CODE.findall(earlier)
    is_of_kind = len(new) == len(old) == 1 and _classify_code(new[0]) == _classify_code(old[0])
    if is_of_kind and set(extract_terms(part)) - set(extract_terms(new[0])) <= set(extract_terms(earlier)):
        return earlier.replace(old[0], new[0])
    first, second = (
        (strip_final_punctuation(earlier), part) if part and part != text else (text, strip_final_punctuation(earlier))
    )
    return f"{first}（{second}）？" if detect_language(first) == "zh" else f"{first} ({second})?"


def is_follow_up_question(question: str) -> bool:
    """Return whether a question is a follow-up by its wording, or says too little by itself."""
    text = strip_final_punctuation(question)
    if len(text) > SHORT:
        return False
    rest = load_word_pattern_from(WORDING, "begins").sub("", text, count=1)
    says_little = len([term for term in extract_terms(text) if not is_question_word(term)]) < MIN_TERMS
    return (
        says_little
        or matches_word_list("points", text)
        or (rest != text and not matches_word_list("asks", rest.removesuffix("呢")))
    )


def find_requested_language(text: str) -> str:
    """Return the language, zh or en, in which the last answer is wanted again (“In English please”, “用中文说”).

    "" for other questions.
    """
    if not matches_word_list("in_language", strip_final_punctuation(text)):
        return ""
    return next((language for language, name in _LANGUAGES.items() if name.search(text)), "")


def _classify_code(code: str) -> str:
    return "@" if "@" in code else _SERIES.sub("", code).strip("- ").lower()
