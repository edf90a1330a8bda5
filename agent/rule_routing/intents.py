"""What kind of question it is, by rules: the specification's words, for when there is no model or it fails.

They err towards documents: a search that finds nothing says so honestly, a wrong refusal only annoys.
"""

import re
from dataclasses import dataclass

from agent.arithmetic.evaluate import Unworkable, evaluate, show
from agent.rule_routing.context_dependence import asks, is_vague, language_asked
from agent.state import Route
from business.pipeline import QUESTION_LENGTH
from knowledge.text.chinese_script import simplified

_SQL = re.compile(
    r"多少|几个|几次|统计|新增|上个?月|本月|上周|今年以来|列表|列出|排名|前\s*\d+|指标|总数|总额|平均|占比|同比|环比"
    r"|\bhow many\b|\bhow much\b|\bcount\b|\btotal\b|\baverage\b|\bsum of\b|\btop \d+\b|\branking\b|\blast month\b|\blist (?:all|the)\b",
    re.IGNORECASE,
)
_DOC = re.compile(
    r"文档|规范|手册|制度|政策|流程|说明|如何|怎么|怎样|配置|默认|策略|为什么|规定"
    r"|\bhow (?:do|to|can|should)\b|\bdefault\b|\bpolicy\b|\brules?\b|\bmanual\b|\bhandbook\b|\bdocuments?\b|\bconfigure\b|\bwhy\b",
    re.IGNORECASE,
)
_SECRETS = re.compile(
    r"(?:管理员|root|数据库|系统|别人|他人|同事|所有人|其他人)的?(?:登录)?(?:密码|口令|密钥)"
    r"|\b(?:admin(?:istrator)?|root|database|someone(?: else)?'?s?|other (?:people|users|person)'?s?)"
    r"\s+(?:passwords?|credentials|secret keys?)\b",
    re.IGNORECASE,
)
_AROUND = re.compile(
    r"(?:绕过|跳过|忽略|无视|关闭|突破)\s*(?:所有|全部|任何|一切)?的?(?:权限|访问控制|授权|鉴权)|没有权限(?:看|访问|读)?的(?:文档|文件|资料|内容)"
    r"|\b(?:bypass|ignore|circumvent|get around|disable)\s+(?:\w+\s+){0,3}(?:permissions?|access controls?|authori[sz]ation)\b"
    r"|\b(?:documents?|files?|folders?) (?:that )?I (?:may|can|must|am) ?not (?:allowed to )?(?:see|read|access|open)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"^\s*(?:请|帮我|麻烦)?(?:删除|清空|修改|更新|插入)(?:所有|全部|这个|那个)?(?:用户|员工|订单|数据|记录|表|数据库|文档)"
    r"|^\s*(?:please\s+)?(?:drop|truncate|delete|wipe)\s+(?:all\s+|the\s+)?(?:users?|employees?|orders?|tables?|data(?:base)?|records?)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hello|hi|hey|hello there|good (?:morning|afternoon|evening)|how are you|thanks|thank you|thanks a lot|who are you|what are you"
    r"|what can (?:you do|i ask(?: you)?)|what do you do|how (?:can|do) you help(?: me)?"
    r"|你好|您好|大家好|嗨|早上好|下午好|晚上好|谢谢|谢谢[你您]|多谢|感谢|你是谁|你是什么|[你您]能(?:做|干|帮我做)(?:什么|啥)|[你您]会(?:做)?(?:什么|啥)"
    r"|[你您]有(?:什么|哪些)功能|(?:我)?(?:可以|能)问[你您]?(?:什么|啥|些什么)|能(?:做|干)(?:什么|啥)"
    r"|ok(?:ay)?|got it|i see|understood|great|perfect|nice|cool|all ?right|sorry|never mind|no problem|(?:good)?bye"
    r"|see you(?: later)?"
    r"|(?:are you|is this) (?:a |an )?(?:human(?: being)?|robot|bot|ai|real(?: person)?|person|machine|computer|there)"
    r"|what(?:'s| is) your name|tell me (?:a joke|about yourself)|nice to meet you"
    r"|好的?|知道了|明白了?|了解了?|收到|懂了|没事了?|行|可以了|再见|拜拜|辛苦了?|不客气|早|在吗|抱歉|对不起|厉害|太好了|不错"
    r"|[你您]是(?:不是)?(?:真人|人类?|机器人|ai|人工智能)|[你您]叫(?:什么(?:名字)?|啥)|(?:给我)?(?:讲|说)个笑话|介绍一下[你您]?自己)[啊呀吗呢啦吧]?$",
    re.IGNORECASE,
)
GREETING = "greeting"  # the intent of words that ask for nothing that documents or data say
UNCLEAR = "unclear_follow_up"  # the intent where it is not certain how a question goes on from the one before
GOES_ON = "goes_on"  # … where documents are asked both in one
ASKS_NUMBER = "ask_number"  # the intent of words that ask for numbers or lists
UNSAID = "ask"  # the intent where no word says whether documents or data are asked; a search of documents errs least


@dataclass(frozen=True)
class Ruling:
    """expression: what to calculate, for CALC. readings: what may be meant, for CLARIFY."""

    route: Route
    intent: str
    expression: str = ""
    readings: tuple[str, ...] = ()


def rule(question: str, *, earlier: str = "") -> Ruling:
    """The route of a complete question. earlier: the question before it, "" for none."""
    text = simplified(question.strip().rstrip("?？!！。. "))
    if refusal := _refusal(text):
        return Ruling(Route.REFUSE, refusal)
    if is_greeting(question):
        return Ruling(Route.CLARIFY, GREETING)
    if language_asked(question) or (not earlier and is_vague(question)):
        return Ruling(Route.CLARIFY, "unclear")
    if is_arithmetic(question):
        return Ruling(Route.CALC, "calculate", expression=question)
    if _SQL.search(text) and len(text) <= QUESTION_LENGTH:
        return Ruling(Route.HYBRID if _DOC.search(text) else Route.SQL, ASKS_NUMBER)
    return Ruling(Route.DOC, "ask_documents" if _DOC.search(text) else UNSAID)


def is_greeting(question: str) -> bool:
    """Whether somebody says hello or thanks, or asks what the assistant is for, and nothing else."""
    said = [part.strip() for part in re.split(r"[,，!！。.?？~～]+", question) if part.strip()]
    return bool(said) and all(_GREETING.match(simplified(part)) for part in said)


def asks_for_data(text: str) -> bool:
    """Whether a text has one of the specification's words for numbers and lists."""
    return bool(_SQL.search(simplified(text)))


def _refusal(text: str) -> str:
    """What is asked for that nobody is given; "" for everything else. A question about it is none: it is searched for
    under the person's rights like any other.
    """
    if asks(text):
        return ""
    if _AROUND.search(text):
        return "asks_to_get_around_rights"
    if _SECRETS.search(text):
        return "asks_for_secrets"
    return "asks_to_change_data" if _CHANGES.search(text) else ""


def is_arithmetic(question: str) -> bool:
    """Whether the whole question is an expression that has a value, and more than a number."""
    if not re.search(r"\d", question) or len(question) > 200:
        return False
    try:
        value = show(evaluate(question))
    except Unworkable:
        return False
    return value != question.strip() and not re.fullmatch(r"[\d\s,.\-/年月日号]+[?？]?", question.strip())
