"""“What does X say about Y?”: a document by its title and a section by its heading are named, and that section is the answer.

No sentence of it need resemble the question, which is why no measure of resemblance confirms it.
"""

import re
from collections.abc import Sequence

from agent.answerability.classifier import beside
from agent.extractive.candidates import Candidate, TermShares, candidates_in, covered, term_ids
from agent.extractive.passages import Passage, Quote
from agent.extractive.questions import AnswerKind, analyse

MOST = 8  # sentences, items and rows of the section
LONGEST = 1_000  # characters of them together
NAMED = (
    0.75  # share of the question's matter that title and heading say: the rest only asks (“say”, “有什么要求”); by hand
)
_NUMBERING = re.compile(
    r"^[#\s]*(?:第?[一二三四五六七八九十\d]+(?:\.\d+)*[章节条]?[.、)）]?\s+|[一二三四五六七八九十]+、\s*)?"
)


def named_section(question: str, passages: Sequence[Passage], matter: TermShares) -> tuple[Quote, ...]:
    """How the section begins that a question names, with its document; () where it names none, or asks for one fact of it (when,
    who, how many). matter: {term id: share of the question's idf}, without the words that only ask.
    """
    asked = analyse(question)
    if asked.kind is not AnswerKind.ANY:
        return ()
    words = term_ids(asked.text)
    named = [number for number, passage in enumerate(passages) if _is_named(term_ids(passage.title), words)]
    for number in named:
        passage = passages[number]
        title = term_ids(passage.title)

        def names(heading: str, title: frozenset[int] = title) -> bool:
            said = term_ids(_NUMBERING.sub("", heading))
            says_all = covered(matter, title | said) >= NAMED * sum(matter.values())
            return bool(said) and said <= words and not said <= title and says_all

        is_whole = names(passage.heading_path[-1]) if passage.heading_path else False
        section = [each for each in candidates_in(asked, [passage], matter) if is_whole or names(each.under)]
        quotes = _beginning(number, section)
        if quotes and beside(asked, passage, " ".join(quote.text for quote in quotes)) is None:
            return quotes
    return ()


def _is_named(title: frozenset[int], words: frozenset[int]) -> bool:
    """Few say the company's name before “员工手册”."""
    return bool(title) and len(title & words) * 2 >= len(title)


def _beginning(passage: int, section: Sequence[Candidate]) -> tuple[Quote, ...]:
    """A sentence at least, where there is one, and no more than MOST of them and LONGEST characters."""
    shown: list[Quote] = []
    for each in section[:MOST]:
        if shown and each.sentence.end - shown[0].start > LONGEST:
            break
        one = each.sentence
        shown.append(Quote(one.text, passage, one.start, one.end, 0.0, 1.0))
    return tuple(shown)
