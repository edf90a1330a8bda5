"""“What does X say about Y?”: a document by its title and a section by its heading are named, and that section is the answer; where the
title alone is named (“What does X say?”, “What is X?”), it is how the document begins.

No sentence of it need resemble the question, which is why no measure of resemblance confirms it. The same holds for the clause or section
whose number a question names.
"""

import re
from collections.abc import Sequence

from agent.answerability.classifier import beside
from agent.extractive.candidates import EVERYDAY, Candidate, covered, named_terms, term_ids, unweighed
from agent.extractive.passages import Quote
from agent.extractive.questions import AnswerKind, Question, asks_for_steps, asks_only, without_place
from agent.extractive.reader import Reading
from agent.extractive.wording import pattern
from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.headings import without_number
from knowledge.text.terms import term_id, terms

MOST = 8  # sentences, items and rows of the section
LONGEST = 1_000  # characters of them together
NAMED = (
    0.75  # share of the question's matter that title and heading say: the rest only asks (“say”, “有什么要求”); by hand
)
_LABEL = pattern("questions", "label")
_SAYS = pattern("questions", "says")
_SUB_ITEM = re.compile(r"\W*(?:\(?[a-z]{1,3}[.)]|（[一二三四五六七八九十]+）)\s*", re.IGNORECASE)


def named_section(reading: Reading) -> tuple[Quote, ...]:
    """How the section begins that a question names, with its document, or the document where it names no more; () where it names none,
    asks for one fact of it (when, who, how many), or has a word that no document says.
    """
    asked, matter = reading.question, reading.matter
    if asked.kind is not AnswerKind.ANY:
        return ()
    words, unsaid = term_ids(asked.text), unweighed(without_place(asked.text), matter)
    for number, passage in enumerate(reading.passages):
        title = term_ids(passage.title)
        if not _is_named(title, words, asked):
            continue

        def names(heading: str, title: frozenset[int] = title) -> bool:
            said = term_ids(without_number(heading))
            says_all = covered(matter, title | said) >= NAMED * sum(matter.values())
            return bool(said) and said <= words and not said <= title and says_all and unsaid <= title | said

        is_whole = names(passage.heading_path[-1]) if passage.heading_path else False
        mine = [each for each in reading.measured if each.passage == number]
        quotes = _beginning(number, [each for each in mine if is_whole or names(each.under)])
        if quotes and beside(asked, passage, " ".join(quote.text for quote in quotes)) is None:
            return quotes
    return _named_document(reading, words)


def _named_document(reading: Reading, words: frozenset[int]) -> tuple[Quote, ...]:
    """How the document begins whose title says what the question is about; () where its beginning was not found, or how to do something
    is asked, which no beginning tells.
    """
    asked, matter = reading.question, reading.matter
    if asks_for_steps(asked):
        return ()
    for number, passage in enumerate(reading.passages):
        title = term_ids(passage.title)
        is_all = covered(matter, title) >= NAMED * sum(matter.values()) and unweighed(asked.text, matter) <= title
        if passage.position == 0 and is_all and _is_named(title, words, asked):
            return _beginning(number, [each for each in reading.measured if each.passage == number])
    return ()


def numbered_section(reading: Reading) -> tuple[Quote, ...]:
    """How the clause or section begins whose number the question names (“clause 3.1”, 第3.2条), by the number of its heading, item or
    paragraph; () where nothing has that number, the question has a word that neither the section nor its title says, or several
    documents have one and none is named.
    """
    asked = reading.question
    label = _LABEL.search(asked.text)
    if label is None or asked.kind is not AnswerKind.ANY:
        return ()
    number = label[label.lastindex or 0]
    begins = re.compile(rf"\W*第?\s*{re.escape(number)}(?:\.\d|[.)、）条章节款\s]|$)", re.IGNORECASE)
    rest = {term for term in terms(_LABEL.sub(" ", asked.text)) if not _SAYS.fullmatch(term) and not asks_only(term)}
    wanted = {term_id(term) for term in rest if share_of_passages(term) < EVERYDAY}
    found: dict[str, tuple[Quote, ...]] = {}
    for place, passage in enumerate(reading.passages):
        mine = [each for each in reading.measured if each.passage == place]
        section = _numbered(mine, passage.heading_path, begins, is_whole="." not in number)
        if section and wanted <= term_ids("\n".join([passage.heading, *(each.sentence.text for each in section)])):
            found.setdefault(passage.title, _beginning(place, section))
    named = [title for title in found if term_ids(title) & wanted] or list(found)
    return found[named[0]] if len(named) == 1 else ()


def _numbered(
    sentences: Sequence[Candidate], path: Sequence[str], begins: re.Pattern[str], *, is_whole: bool
) -> list[Candidate]:
    """The sentences of a passage below a heading with this number, and the items with it; with their own items. is_whole: only a heading
    has such a number, for a sentence begins with amounts, too.
    """
    if any(map(begins.match, path)):
        return list(sentences)
    found: list[Candidate] = []
    for each in sentences:
        goes_on = bool(found) and found[-1] is sentences[each.position - 1] and _SUB_ITEM.match(each.sentence.text)
        if begins.match(each.under) or goes_on or (not is_whole and begins.match(each.sentence.text)):
            found.append(each)
    return found


def _is_named(title: frozenset[int], words: frozenset[int], asked: Question) -> bool:
    """By half of its title, for few say the company's name before “员工手册”; or by every name and number of the question in it."""
    names = frozenset().union(*named_terms(asked).values())
    return (bool(title) and len(title & words) * 2 >= len(title)) or (bool(names) and names <= title)


def _beginning(passage: int, section: Sequence[Candidate]) -> tuple[Quote, ...]:
    """A sentence at least, where there is one, and no more than MOST of them and LONGEST characters."""
    shown: list[Quote] = []
    for each in section[:MOST]:
        if shown and each.sentence.end - shown[0].start > LONGEST:
            break
        one = each.sentence
        shown.append(Quote(one.text, passage, one.start, one.end, 0.0, 1.0))
    return tuple(shown)
