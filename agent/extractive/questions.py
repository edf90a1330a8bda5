"""What a question asks for: the kind of answer it expects and the names and numbers it takes for granted.

Rules, no model: the interrogatives of both languages are a closed class. `expected` reads the question,
`has_answer_of` looks for something of that kind in a sentence, and `givens` lists what a passage must mention to be
about the same matter at all.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from agent.extractive.amounts import amount_asked, gives
from agent.extractive.identifiers import identifiers_in
from agent.extractive.wording import pattern, patterns
from knowledge.text.chinese_script import simplified
from knowledge.text.normalise import normalise


class AnswerKind(StrEnum):
    """What an answer must contain."""

    PERSON = "person"
    PLACE = "place"
    TIME = "time"
    NUMBER = "number"
    REASON = "reason"
    NAME = "name"  # something called by a name: which company, 哪个国家
    DEFAULT = "default"  # what holds unless something else is set
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what follows from its wording. text: in simplified characters, as all that is compared."""

    text: str
    kind: AnswerKind
    givens: tuple[str, ...]  # names, quotations and numbers in the question, lower case
    is_chinese: bool
    codes: frozenset[str] = frozenset()  # of things, as in agent.extractive.identifiers


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")

_KINDS = {AnswerKind(name): kind for name, kind in patterns("questions", "kinds").items()}
_HOLDS = {AnswerKind(name): kind for name, kind in patterns("questions", "holds").items()}
_ASKING = pattern("questions", "asking")  # terms that ask or join, and say nothing of the matter
_ASKS_OF_THESE_DAYS = pattern("questions", "these_days")
_SAYS_A_DAY = pattern("questions", "says_a_day")
_ASKS_OF_THE_PAST = pattern("questions", "past")
_DURATION = pattern("questions", "duration")  # no point in time
_STEPS = pattern("questions", "steps")
_ALL = pattern("questions", "all")
_OPENING = pattern("questions", "opening")
_BY, _PAPERS = pattern("questions", "by").pattern, pattern("questions", "papers").pattern
_PLACE_FIRST = re.compile(
    rf"^(\W*)(?:{_BY})([^，,。？?；;]*?)(?:{_PAPERS})*\s*(?=[，,])|^(\W*)(?:{_BY})", re.IGNORECASE
)
_PLACE_LAST = re.compile(rf"(?<=[\w,] )(?:{_BY})([^，,。？?；;]*?)(?:{_PAPERS})*\s*(?=[,.?]|$)", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"「《『]([^”\"」》』]{2,40})[”\"」》』]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*%?")
_CAPITALISED = re.compile(
    r"(?<![.?!\w])(?:[A-Z][\w'’&.-]*|[A-Z]{2,}\w*)(?:\s+(?:of|the|de|la|du|von|van|and)?\s*[A-Z0-9][\w'’&.-]*)*"
)
_MYSELF = re.compile(r"i(?:['’](?:m|d|ve|ll))?", re.IGNORECASE)  # the one word that is written like a name and is none
_LATIN = re.compile(r"[A-Za-z][\w.+#-]*[A-Za-z0-9]")


def analyse(text: str) -> Question:
    """Read a question of either language and script."""
    text = simplified(text)
    kind = next((kind for kind, asks in _KINDS.items() if asks.search(text)), AnswerKind.ANY)
    return Question(text, kind, _givens(text), _HAN.search(text) is not None, codes=identifiers_in(text))


def has_answer_of(question: Question, sentence: str) -> bool:
    """Whether the sentence holds something of the expected kind that the question has not said itself."""
    holds = _HOLDS.get(question.kind)
    if holds is None:
        return True
    sentence = simplified(normalise(sentence))
    for given in question.givens:
        sentence = re.sub(re.escape(given), " ", sentence, flags=re.IGNORECASE)
    if question.kind is AnswerKind.TIME and _ASKS_OF_THE_PAST.search(question.text):
        sentence = _DURATION.sub(" ", sentence)
    return holds.search(sentence) is not None and gives(amount_asked(question.text), sentence)


def lacks_amount(question: Question, sentence: str) -> bool:
    """Whether a question asks for an amount of one kind, and a sentence gives none."""
    return not gives(amount_asked(question.text), simplified(normalise(sentence)))


def asks_for_steps(question: Question) -> bool:
    """Whether a question asks how something is done."""
    return _STEPS.search(question.text) is not None


def asks_for_all(question: Question) -> bool:
    """Whether a question asks for everything that is of a kind."""
    return _ALL.search(question.text) is not None


def is_of_other_days(question: Question, sentence: str) -> bool:
    """Whether a question asks of these days (today, 本周) and a sentence, which names no day, says what holds in general."""
    return _ASKS_OF_THESE_DAYS.search(question.text) is not None and _SAYS_A_DAY.search(sentence) is None


def _givens(text: str) -> tuple[str, ...]:
    found = [match.group(1) for match in _QUOTED.finditer(text)]
    found += _NUMBER.findall(text)
    if _HAN.search(text):
        found += _LATIN.findall(text)
    else:
        body = without_place(text)
        while opening := _OPENING.match(body):
            body = body[opening.end() :]
        found += _CAPITALISED.findall(body)
    bare = (given.strip(" .'’").lower() for given in found)
    return tuple(dict.fromkeys(given for given in bare if given and not _MYSELF.fullmatch(given)))


def without_place(text: str) -> str:
    """A question without the words that only say where its answer stands: “according to the … documents”, 根据…的说明. The name of the
    document stays: another one is not what is asked for.
    """
    text = _PLACE_FIRST.sub(lambda place: f"{place[1] or place[3] or ''}{place[2] or ''} ", text)
    return _PLACE_LAST.sub(r"\1 ", text)


def asks_only(term: str) -> bool:
    """Whether a term of a question belongs to the asking (what, 什么) and not to the matter."""
    return _ASKING.fullmatch(term) is not None
