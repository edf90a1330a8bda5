"""What a question asks for: the kind of answer it expects and the names and numbers it takes for granted.

Rules, no model: the interrogatives of both languages are a closed class. `expected` reads the question,
`has_answer_of` looks for something of that kind in a sentence, and `givens` lists what a passage must mention to be
about the same matter at all.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from agent.extractive.amounts import MONTHS, amount_asked, gives
from agent.extractive.identifiers import identifiers_in
from knowledge.text.chinese_script import simplified


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

# The first rule that matches decides: the specific before the general.
_RULES: tuple[tuple[AnswerKind, re.Pattern[str]], ...] = (
    (AnswerKind.DEFAULT, re.compile(r"\bdefaults?\b|默认|缺省|预设", re.IGNORECASE)),
    (
        AnswerKind.REASON,
        re.compile(
            r"\bwhy\b|what (?:caused?|reasons?)|for what reason|为什么|为何|何故|原因|缘故|怎么会",
            re.IGNORECASE,
        ),
    ),
    (
        AnswerKind.NUMBER,
        re.compile(
            r"\bhow (?:many|much|old|long|far|tall|high|big|large|often|fast|deep|wide|heavy)\b"
            r"|what (?:percent|number|amount|population|share|proportion|fraction|age|size)"
            r"|多少|几(?!乎|何|率)|多大|多长|多高|多远|多久|多重|多宽|多深|比例是|比率|人口数|数量|面积是|长度|高度",
            re.IGNORECASE,
        ),
    ),
    (
        AnswerKind.TIME,
        re.compile(
            r"\bwhen\b|\bwhat (?:year|date|day|month|century|decade|time|period|era)\b"
            r"|\b(?:which|what) (?:\w+ )?(?:year|century|decade)\b"
            r"|何时|什么时[候间期]|哪一?[年天月日]|哪个(?:月|年代|世纪|时期|朝代)|何年|何月|时间是|日期",
            re.IGNORECASE,
        ),
    ),
    (
        AnswerKind.PERSON,
        re.compile(
            r"\bwho(?:m|se)?\b|\b(?:what|which) (?:person|man|woman|king|queen|president|leader)\b"
            r"|谁|何人|哪位|什么人|哪一?个人|哪些人",
            re.IGNORECASE,
        ),
    ),
    (
        AnswerKind.PLACE,
        re.compile(
            r"\bwhere\b"
            r"|\b(?:what|which) (?:\w+ )?(?:country|city|state|place|region|town|continent|river|county|location)\b"
            r"|哪里|哪儿|何处|何地|在哪|什么地[方区]|哪一?个?(?:国家|城市|省|市|区|县|地方|地区|州|洲)|位于|位置",
            re.IGNORECASE,
        ),
    ),
    (
        AnswerKind.NAME,
        re.compile(
            r"\b(?:which|what) (?:\w+ )?(?:company|team|group|organi[sz]ation|language|name|school|university)\b"
            r"|名字|叫什么|什么名|哪一?[个种款部家支座所]|别名|又称|又名",
            re.IGNORECASE,
        ),
    ),
)

_NUMBER_WORDS = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand"
    r"|million|billion|half|third|quarter|twice|once|double|first|second|fourth|fifth|several|none|no)s?\b"
)
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡林郭何高罗郑梁谢宋唐许邓冯韩曹曾彭萧蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任姚卢傅钟崔谭廖范汪"
    "陆金石戴贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷黎史龙陶贺顾毛郝龚邵万钱严武戚莫孔向汤"
)
_EVIDENCE: dict[AnswerKind, re.Pattern[str]] = {
    AnswerKind.DEFAULT: re.compile(r"\bdefault|默认|缺省|预设", re.IGNORECASE),
    AnswerKind.NUMBER: re.compile(
        rf"\d|{_NUMBER_WORDS}|百分之"
        r"|[一二三四五六七八九十百千万亿两半](?=[个名人位种条次岁年天月日公里米吨元分层座部集场届期号级成倍%])",
        re.IGNORECASE,
    ),
    AnswerKind.TIME: re.compile(
        r"\b1\d{3}s?\b|\b20\d{2}s?\b|\bcentur|\bdecade|\bB\.?C\b|\b(?:day|week|month|year)s?\b"
        rf"|\b(?:{MONTHS})\b"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d{1,2}:\d{2}"
        r"|\d{1,4}\s*[年月日]|[一二三四五六七八九十]+[年月日]|世纪|年代|时期|朝|凌晨|上午|下午|[春夏秋冬]|[早晚]期|[末初元]年",
        re.IGNORECASE,
    ),
    AnswerKind.PERSON: re.compile(
        r"(?<=[a-z,;'\")] )[A-Z][a-zà-ÿ'’-]+|^[A-Z][a-zà-ÿ'’-]+ [A-Z][a-zà-ÿ'’-]+|[\u4e00-\u9fff]·[\u4e00-\u9fff]"
        rf"|[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}"
        r"|先生|女士|父|母|子|妻|皇帝|公主|将军|导演|演员|作者|教授|博士|人"
    ),
    AnswerKind.PLACE: re.compile(
        r"\b(?:in|at|from|to|near|of|on|through|across|between|into) (?:the )?(?:[a-z]+ )?[A-Z]"
        r"|\b(?:north|south|east|west)(?:ern)?\b"
        r"|[\u4e00-\u9fff][省市县区州国路街镇乡村岛山河湖海洲港站馆院校寺府宫厦]|位于|地处|坐落|[东南西北]"
    ),
    AnswerKind.REASON: re.compile(
        r"\b(?:because|due to|since|so that|in order|reasons?|caused?|result|as a|therefore|led to|to avoid|prevent)\b|"
        r"因|由于|所以|为了|原因|导致|以致|从而|使得|以便|缘于|造成",
        re.IGNORECASE,
    ),
    AnswerKind.NAME: re.compile(r"(?<=[a-z,;] )[A-Z0-9]|[“「《\"『]|称|名|叫|为|是"),
}

# Terms that ask or join and say nothing of the matter; the pairs of characters are rare, so that their idf would count.
_ASKING = re.compile(
    r"what|which|who|whom|whose|when|where|whi|why|how|do|doe|did|can|could|should|would|.?[什么谁哪吗呢怎的是了].?|多少?|少|几|何|[为如]何|何[时地处]"
)
_THESE_DAYS = r"\b(?:today|tonight|tomorrow|yesterday|right now|(?:this|next|last) week)\b|今[天晚]|[明昨]天|[本这上下]个?(?:周|星期)"
_ASKS_OF_THESE_DAYS = re.compile(_THESE_DAYS, re.IGNORECASE)
_SAYS_A_DAY = re.compile(
    rf"{_THESE_DAYS}|\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}} (?:{MONTHS})\b|\b(?:{MONTHS}) \d{{1,2}}\b|月\s*\d{{1,2}}\s*日",
    re.IGNORECASE,
)
_ASKS_OF_THE_PAST = re.compile(r"\bwhen (?:did|was|were)\b", re.IGNORECASE)
_DURATION = re.compile(
    rf"(?:\d+|{_NUMBER_WORDS})[- ](?:working )?(?:hour|day|week|month|year)s?\b", re.IGNORECASE
)  # no point in time
_STEPS = re.compile(
    r"\bhow (?:do|does|can|could|should|to|must|would)\b|\b(?:steps|procedure|process)\b"
    r"|\bwhat (?:do|should|must) (?:I|we|you) (?:have to )?do\b|怎么(?!会|样)|如何|怎样|步骤|流程|手续|[哪几]步",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:what|which) (?:\w+ )?(?:are|were|changed|is new)\b|\b(?:list|all|every|overview|summar\w+)\b"
    r"|哪些|哪几|列出|所有|全部|清单|一览|概述|总结|有什么",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"「《『]([^”\"」》』]{2,40})[”\"」》』]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*%?")
_CAPITALISED = re.compile(
    r"(?<![.?!\w])(?:[A-Z][\w'’&.-]*|[A-Z]{2,}\w*)(?:\s+(?:of|the|de|la|du|von|van|and)?\s*[A-Z0-9][\w'’&.-]*)*"
)
_LATIN = re.compile(r"[A-Za-z][\w.+#-]*[A-Za-z0-9]")
_OPENING = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|in|on|at|the|a|an|"
    r"of|for|from|to|by|with|during|after|before|if|besides|along|under|as|has|have|had|will|would|should)\b\s*",
    re.IGNORECASE,
)


def analyse(text: str) -> Question:
    """Read a question of either language and script."""
    text = simplified(text)
    kind = next((kind for kind, pattern in _RULES if pattern.search(text)), AnswerKind.ANY)
    return Question(text, kind, _givens(text), _HAN.search(text) is not None, codes=identifiers_in(text))


def has_answer_of(question: Question, sentence: str) -> bool:
    """Whether the sentence holds something of the expected kind that the question has not said itself."""
    pattern = _EVIDENCE.get(question.kind)
    if pattern is None:
        return True
    sentence = simplified(sentence)
    for given in question.givens:
        sentence = re.sub(re.escape(given), " ", sentence, flags=re.IGNORECASE)
    if question.kind is AnswerKind.TIME and _ASKS_OF_THE_PAST.search(question.text):
        sentence = _DURATION.sub(" ", sentence)
    return pattern.search(sentence) is not None and gives(amount_asked(question.text), sentence)


def lacks_amount(question: Question, sentence: str) -> bool:
    """Whether a question asks for an amount of one kind, and a sentence gives none."""
    return not gives(amount_asked(question.text), simplified(sentence))


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
        body = text
        while opening := _OPENING.match(body):
            body = body[opening.end() :]
        found += _CAPITALISED.findall(body)
    return tuple(dict.fromkeys(given.strip(" .'’").lower() for given in found if given.strip(" .'’")))


def asks_only(term: str) -> bool:
    """Whether a term of a question belongs to the asking (what, 什么) and not to the matter."""
    return _ASKING.fullmatch(term) is not None
