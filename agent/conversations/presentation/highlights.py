"""Highlight the words of a question in search results."""

import re
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agent.text.words import find_content_terms
from knowledge.text.terms import extract_terms, is_han

LENGTH = 220  # characters: about two lines of a card
LEAD = 60  # characters before the first word that matches
_WORD = re.compile(r"[\u3400-\u9fff]{1,2}|[^\W_]+(?:[-_./][^\W_]+)*")


def highlight_question_words(text: str, question: str) -> SafeString:
    """Return the part of `text` where words of the question begin, escaped, with these words in <b>."""
    asked = find_content_terms(question)
    flat = " ".join(text.split())
    spans = _find_merged_spans(flat, asked)
    begin = _find_word_start(flat, max(spans[0][0] - LEAD, 0)) if spans and len(flat) > LENGTH else 0
    end = min(begin + LENGTH, len(flat))
    inside = [(start, stop) for start, stop in spans if begin <= start and stop <= end]
    pieces = [
        (flat[before:start], flat[start:stop])
        for (_begin, before), (start, stop) in pairwise([(begin, begin), *inside])
    ]
    last = inside[-1][1] if inside else begin
    body = format_html_join("", "{}<b>{}</b>", pieces)
    return format_html("{}{}{}{}", "…" if begin else "", body, flat[last:end], "…" if end < len(flat) else "")


def _find_merged_spans(text: str, asked: set[str]) -> list[tuple[int, int]]:
    """Return the spans of matching words in order; adjacent spans are merged."""
    found: list[tuple[int, int]] = []
    for start, end in _find_matching_spans(text, asked):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _find_matching_spans(text: str, asked: set[str]) -> list[tuple[int, int]]:
    spans = []
    for word in _WORD.finditer(text):
        if is_han(word[0]):  # of Chinese, neighbouring pairs alone: one character matches everywhere
            pairs = (word.start() + step for step in (0, 1))
            spans += [(at, at + 2) for at in pairs if text[at : at + 2] in asked and is_han(text[at : at + 2])]
        elif len(word[0]) > 2 and set(extract_terms(word[0])) & asked:
            spans.append(word.span())
    return spans


def _find_word_start(text: str, place: int) -> int:
    """Return the start of the word at a position; the position itself in scripts without spaces."""
    space = text.rfind(" ", max(place - 20, 0), place + 1)
    return space + 1 if space >= 0 else place
