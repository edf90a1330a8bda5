"""Whether a question leans on the one before it, by its wording alone; and both as one text, for a search of documents."""

import re
from dataclasses import dataclass
from enum import StrEnum

from knowledge.text.chinese_script import simplified
from knowledge.text.language import language_of
from knowledge.text.terms import terms

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
_GOES_ON = re.compile(r"^(?:and|but|or|also)\b|^(?:而|但|或者?|也)(?!许|是)|的$", re.IGNORECASE)
_CORRECTS = re.compile(r"^(?:no|nope|not|wrong|不对?|不是|错了?)\b\s*[,，:：]|^(?:不对|不是|错了)", re.IGNORECASE)
_THINGS = {  # what one name of the same kind replaces
    "address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII),
    "code": re.compile(r"(?<![\w@.-])([A-Za-z]{1,6})[- ]?\d{2,}(?:-[A-Za-z\d]+)*(?![\w@.])", re.ASCII),
    "number": re.compile(r"(?<![\w@.-])v?\d+(?:\.\d+)+(?![\w@.-])", re.ASCII | re.IGNORECASE),
    "year": re.compile(r"(?<![\w@.-])(?:19|20)\d\d(?![\w@.-])", re.ASCII),
}
_OF_A_THING = {"for", "of", "in", "the", "about", "对", "于", "对于", "的"}
_LANGUAGES = {"zh": re.compile("chinese|mandarin|[中汉]", re.IGNORECASE), "en": re.compile("english|英", re.IGNORECASE)}
_IN_LANGUAGE = re.compile(
    r"(?:(?:please|now|again|and|(?:can|could|would) you(?: please)?)[, ]+)*"
    r"(?:(?:say|write|answer|give|put|tell|translate|repeat|explain|reply|respond)"
    r"(?: (?:me|it|that|this|the answer|your answer|again))*,? )?"
    r"(?:(?:in|into|to) )?(?:english|mandarin|chinese)(?: version)?(?:[, ]+(?:please|again|now|instead))*"
    r"|(?:请|麻烦|劳驾|能不能|能否|可以|[你您]|再|帮我|把|将|这个|它|答案|回答|上面的?|刚才的?)*(?:用|以|换成?|改成?|翻译?成|译成|说|讲|来个)?"
    r"(?:中文|汉语|英文|英语)版?(?:来|再|说|讲|回答|回复|作答|写|解释|重复|告诉我|表达|一下|一遍|一次|吧|好吗|可以吗|行吗|谢谢|[,，])*",
    re.IGNORECASE,
)


_ASKS = re.compile(
    r"什么|啥|谁|哪|几|多少|多久|吗|呢|是否|有没有|能否|需要|需不需要|如何|怎么|怎样|为何|规定|流程|要求|处罚|处分"
    r"|\b(?:how|what|why|when|who|whom|whose|which|where|policy|rules?|process)\b|^\s*(?:may|can|could|does|do|did|is|are|was|were|has|have|should|must|will|would)\b",
    re.IGNORECASE,
)


class Lean(StrEnum):
    PART = "part"  # names what is to stand in the place of a part, or beside it: “What about Norway?”, “and by region?”
    POINTS_BACK = "points back"  # by a pronoun
    GOES_ON = "goes on"  # begins as the second half of a sentence, or leaves out what the first one was about, and asks something
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
    if not (begins := _GOES_ON.search(plain)):
        return Leaning(Lean.NONE, text)
    rest = text[begins.end() :].strip() if begins.start() == 0 else text
    return Leaning(Lean.GOES_ON if len(text) > SHORT or asks(rest) else Lean.PART, rest)


def asks(text: str) -> bool:
    """Whether a text has a word that asks, or one for the rules of something."""
    return bool(_ASKS.search(simplified(text)))


def is_vague(question: str) -> bool:
    """Whether nothing is said of what is asked about."""
    return _VAGUE.match(simplified(_bare(question))) is not None


def language_asked(text: str) -> str:
    """Return the language, zh or en, in which the last answer is wanted again (“In English please”, “用中文说”); "" for a question."""
    bare = simplified(_bare(text))
    if not _IN_LANGUAGE.fullmatch(bare):
        return ""
    return next((language for language, name in _LANGUAGES.items() if name.search(bare)), "")


def in_one_text(question: str, earlier: str) -> str:
    """A question that leans on the one before it, and that one, as a text to search with; others come back as they are."""
    leaning = leaning_of(question) if earlier else Leaning(Lean.NONE, question)
    if leaning.how is Lean.PART:
        return _replaced(earlier, leaning.part) or beside(earlier, leaning.part)
    if leaning.how is Lean.POINTS_BACK:
        return beside(leaning.part, _bare(earlier))
    return question


def _replaced(earlier: str, part: str) -> str:
    """Return the question before about another code, version, number, address or year, where a part names nothing else and the question
    has one of its kind; "" for every other part.
    """
    for thing in _THINGS.values():
        new, old = list(thing.finditer(part)), list(thing.finditer(earlier))
        if len(new) != 1 or len(old) != 1:
            continue
        if thing.groups and new[0][1].lower() != old[0][1].lower():
            continue
        rest = set(terms(thing.sub(" ", part))) - _OF_A_THING
        if rest <= set(terms(earlier)):
            return earlier[: old[0].start()] + new[0][0] + earlier[old[0].end() :]
    return ""


def _bare(question: str) -> str:
    return question.strip().rstrip("?？!！。. ")


def beside(question: str, added: str) -> str:
    """A question with words in brackets, punctuated as its language is."""
    bare = _bare(question)
    return f"{bare}（{added}）？" if language_of(bare) == "zh" else f"{bare} ({added})?"
