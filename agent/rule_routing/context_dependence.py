"""Whether a question leans on the one before it, by its wording alone; and both as one text, for a search of documents."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import yaml

from knowledge.ingestion.chinese_script import simplified
from knowledge.ingestion.language import language_of

SHORT = 40  # characters of a question that may lean on the one before by a pronoun alone
_PART = re.compile(
    r"^(?:and\s+(?:what|how)\s+about|what\s+about|how\s+about|and\s+for|and\s+in|same\s+for)\s+(.+)$"
    r"|^(?:那么?|还有|以及)(?:对于|对|如果是|在)?(.+?)(?:呢|怎么样|又如何)?$|^(.{1,20})呢$",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|that one|those)\b|它|它们|该(?:功能|策略|文档|制度)|上述|前者|后者|其中",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:这个|那个|它|他|她|这|那|这样|那样)(?:呢|是什么|怎么样|怎么办|怎么弄|如何)?$"
    r"|^(?:it|this|that|what|how|why|what about (?:it|this|that)|how about (?:it|this|that)|and|so|help|帮助|怎么办|为什么|什么|呢)$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:[Ii]t|[Tt]hey|them|[Tt]his|[Tt]hat|[Tt]hese|[Tt]hose|[Hh]e|[Ss]he)\b"
    r"(?! (?:year|month|week|quarter|time|company|firm|team|office|site|system|service|assistant|app|handbook)s?\b)"
    r"|它们?|(?<!其)[他她]们?|[这那](?:个(?!月|季|星期|周|财?年|公司|系统|助手)|些|份|张|件|次)"
)
_JOINS = re.compile(r"[,;，；]|\b(?:and|or|if|to)\b|和|或|如果")  # what a pronoun stands for may be on the other side
_BEST = re.compile(  # without what it is measured by
    r"^(?:who|which|what)(?:'s| is| are| was| were)? (?:(?:our|the|your|my) )*(?:best|worst|top|most important) (?!practice|way|time)\w+$"
    r"|^(?:谁是|哪[个位家些]是?)?(?:我们|公司)?的?最(?:好|差|重要|厉害|优秀)的.{1,4}?(?:是谁|是哪.{0,2}|有哪些)?$",
    re.IGNORECASE,
)
FEW_WORDS, FEW_CHARACTERS = 2, 4  # of matter, up to which a pronoun leaves open what is meant
_GOES_ON = re.compile(r"^(?:and|but|or|also)\b|^(?:而|但|或者?|也)(?!许|是)|的$", re.IGNORECASE)
_CORRECTS = re.compile(r"^(?:no|nope|not|wrong|不对?|不是|错了?)\b\s*[,，:：]|^(?:不对|不是|错了)", re.IGNORECASE)


class Lean(StrEnum):
    PART = "part"  # names what is to stand in the place of a part: “What about Norway?”
    POINTS_BACK = "points back"  # by a pronoun
    GOES_ON = "goes on"  # begins as the second half of a sentence, or leaves out what the first one was about
    CORRECTS = "corrects"
    NONE = ""


@dataclass(frozen=True)
class Leaning:
    """How a question leans. part: what it names of its own, in its words."""

    how: Lean
    part: str


def leaning_of(question: str) -> Leaning:
    text = _bare(question)
    plain = simplified(text)
    if _VAGUE.match(plain):
        return Leaning(Lean.POINTS_BACK, text)
    if _CORRECTS.search(plain):
        return Leaning(Lean.CORRECTS, text)
    if named := _PART.match(plain):
        start, end = named.span(named.lastindex or 0)
        return Leaning(Lean.PART, text[start:end].strip())
    if len(text) <= SHORT and _POINTS_BACK.search(plain):
        return Leaning(Lean.POINTS_BACK, text)
    return Leaning(Lean.GOES_ON if _GOES_ON.search(plain) else Lean.NONE, text)


def is_vague(question: str) -> bool:
    """Whether nothing is said of what is asked about."""
    return _VAGUE.match(simplified(_bare(question))) is not None


def is_open(question: str) -> bool:
    """Whether it cannot be told what a question asks about, where nothing was asked before it: a pronoun that stands for nothing, the
    best of a kind without a measure, or words alone that say nothing of any matter.
    """
    text = simplified(_bare(question))
    if _VAGUE.match(text) or _BEST.match(text):
        return True
    if not re.search(r"\w", _EMPTY.sub(" ", text)):
        return bool(text)
    if not _PRONOUN.search(text) or _JOINS.search(text):
        return False
    matter = _EMPTY.sub(" ", _PRONOUN.sub(" ", text)).lower()
    words = re.findall(r"[a-z][\w'-]*|\d+", matter)
    return len(words) <= FEW_WORDS and len(re.findall(r"[\u3400-\u9fff]", matter)) <= FEW_CHARACTERS


def _empty_words() -> re.Pattern[str]:
    kept = yaml.safe_load(Path(__file__).with_name("empty_words.yaml").read_text(encoding="utf-8"))
    english, chinese = (
        sorted({word for some in kept[language].values() for word in some}, key=len, reverse=True)
        for language in ("en", "zh")
    )
    return re.compile(
        rf"\b(?:{'|'.join(map(re.escape, english))})\b|{'|'.join(map(re.escape, chinese))}", re.IGNORECASE
    )


_EMPTY = _empty_words()


def in_one_text(question: str, earlier: str) -> str:
    """A question that leans on the one before it, and that one, as a text to search with; others come back as they are."""
    leaning = leaning_of(question) if earlier else Leaning(Lean.NONE, question)
    if leaning.how is Lean.PART:
        return beside(earlier, leaning.part)
    if leaning.how is Lean.POINTS_BACK:
        return beside(leaning.part, _bare(earlier))
    return question


def _bare(question: str) -> str:
    return question.strip().rstrip("?？!！。. ")


def beside(question: str, added: str) -> str:
    """A question with words in brackets, punctuated as its language is."""
    bare = _bare(question)
    return f"{bare}（{added}）？" if language_of(bare) == "zh" else f"{bare} ({added})?"
