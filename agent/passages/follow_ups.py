"""Complete a follow-up question from the question before it, for a search of documents."""

import re

from agent.passages.rules import WORDING, bare, matches
from agent.text.words import asks_only, pattern_in
from knowledge.text.language import language_of
from knowledge.text.terms import terms

SHORT = 40  # characters: longer questions are never follow-ups
MIN_TERMS = 2  # of a question that says enough by itself
_CODE = re.compile(
    r"(?<![\w@.-])(?:[A-Za-z]{1,6}[- ]?\d{2,}(?:-[A-Za-z\d]+)*|v?\d+(?:\.\d+)+|(?:19|20)\d\d|[\w.+-]+@[\w.-]+)(?![\w@])",
    re.ASCII,
)
_SERIES = re.compile(r"\d.*")
_LANGUAGES = {"zh": re.compile("chinese|mandarin|[中汉]", re.IGNORECASE), "en": re.compile("english|英", re.IGNORECASE)}


def with_earlier(question: str, earlier: str) -> str:
    """Return a follow-up joined with the question before it; any other question unchanged.

    Where it names only another code, version or year than the one before, that is replaced there.
    """
    if not leans(question):
        return question
    text = bare(question)
    part = pattern_in(WORDING, "lead_in").sub("", text, count=1).removesuffix("呢").strip()
    new, old = _CODE.findall(part), _CODE.findall(earlier)
    is_of_kind = len(new) == len(old) == 1 and _kind(new[0]) == _kind(old[0])
    if is_of_kind and set(terms(part)) - set(terms(new[0])) <= set(terms(earlier)):
        return earlier.replace(old[0], new[0])
    first, second = (bare(earlier), part) if part and part != text else (text, bare(earlier))
    return f"{first}（{second}）？" if language_of(first) == "zh" else f"{first} ({second})?"


def leans(question: str) -> bool:
    """Return whether a question is a follow-up by its wording, or says too little by itself."""
    text = bare(question)
    if len(text) > SHORT:
        return False
    rest = pattern_in(WORDING, "begins").sub("", text, count=1)
    says_little = len([term for term in terms(text) if not asks_only(term)]) < MIN_TERMS
    return says_little or matches("points", text) or (rest != text and not matches("asks", rest.removesuffix("呢")))


def language_asked(text: str) -> str:
    """Return the language, zh or en, in which the last answer is wanted again (“In English please”, “用中文说”).

    "" for other questions.
    """
    if not matches("in_language", bare(text)):
        return ""
    return next((language for language, name in _LANGUAGES.items() if name.search(text)), "")


def _kind(code: str) -> str:
    return "@" if "@" in code else _SERIES.sub("", code).strip("- ").lower()
