"""What stands in a document and says nothing: never an answer, whatever words it shares with the question.

General properties of a line, no list of phrases: it repeats the question, leads to a page, is markup, or names a version and a date.
"""

import re

from agent.extractive.sentences import Sentence
from agent.extractive.wording import pattern
from knowledge.text.terms import terms

_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}|(?:·\s?){4,}|_{4,}|(?:-\s?){6,}")
_TO_PAGE = re.compile(rf"(?:{_LEADERS.pattern})\W*(?:第|p\.?|page)?\s*\d{{0,4}}\s*页?\W*$", re.IGNORECASE)
_PAGE = re.compile(r"\W*(?:第\s*\d+\s*页|p(?:age|\.)\s*\d+)\W*", re.IGNORECASE)
_MARKUP = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|<%.*?%>|\{#.*?#\}|\$\{[^}]*\}", re.DOTALL)
_EDITION = pattern("boilerplate", "edition")
_NUMBERED = re.compile(r"[vV]?\d[\d.,:/\-年月日号 ]*[a-z]?\b|\d+[年月日号]")
_LETTER = re.compile(r"[^\W\d_]")
LEAST_TERMS = 2  # of prose: one word alone states nothing
ECHO = 0.9  # share of common terms from which a question is the one that was asked


def says_something(sentence: Sentence, question: str) -> bool:
    """Whether a sentence states anything at all that could answer. question: as it was asked."""
    text = _MARKUP.sub(" ", sentence.text).strip()
    if not (_LETTER.search(text) or (sentence.kind != "prose" and re.search(r"\d", text))):
        return False
    if _TO_PAGE.search(text) or _PAGE.fullmatch(text) or _is_echo(text, question):
        return False
    if text != sentence.text.strip() and len(terms(text)) < LEAST_TERMS:
        return False
    if sentence.kind in ("row", "code"):
        return True
    return not _is_edition(text, question) and (sentence.kind == "item" or len(terms(text)) >= LEAST_TERMS)


def _is_echo(text: str, question: str) -> bool:
    """Whether it is the question once more."""
    own, asked = set(terms(text)), set(terms(question))
    same = len(own & asked) / max(1, len(own | asked))
    return text.rstrip().endswith(("?", "？")) and same >= ECHO


def _is_edition(text: str, question: str) -> bool:
    """Whether it only names a version or a date of the document; for a question about these it is an answer."""
    if not _EDITION.search(text) or _EDITION.search(question):
        return False
    rest = _NUMBERED.sub(" ", _EDITION.sub(" ", text))
    return not _LETTER.search(rest)
