"""Who: whose orders, who bought, supplied, carried or sang it, who is with us."""

import re

from agent.business.ask.chinese.forms import END, HAN, MORE, Table

_DIGITS = "零一二三四五六七八九十"
_WHO = "是由?谁"
_DONE = "(?P<end>[了过]?的[?。]?)$"


def _for_years(match: re.Match[str]) -> str:
    """“入职超过三年的员工”: joined before today so long ago; who has years of service is still with us."""
    years = match["n"] if match["n"].isdigit() else _DIGITS.index(match["n"].replace("两", "二"))
    here = "没有离职的" if match["what"] in ("司龄", "工龄", "在职") else ""
    return f"before today {years} years ago入职的{here}"


named_as_people = Table(
    # longer than so many years with us; “三年以上” and “满三年” also take those of that very day, for which there is no wording
    (
        r"(?P<what>司龄|工龄|入职|在职)(?:已经?)?超过了?(?P<n>\d+|[一二两三四五六七八九十])年了?的?(?=员工|同事|人)",
        _for_years,
    ),
    (r"(?:这个)?(?P<t>项目|客户|环境)?是?谁在?[管带](?:的|着)?[?。]*$", r"\g<t>的负责人是谁"),
    (
        r"联系人(?:名字|姓名|是谁)?(?:[和及与跟、,]|以及)(?:他们的?|其|什么|啥)?(?:职务|职位|头衔)(?:是什么|是啥)?",
        "联系人和联系人职务",
    ),
    (rf"谁的(?:单张|单笔|单个|某张|某笔)(?P<x>{HAN}{{2,6}})(?P<more>{MORE})了?(?=\d)", r"哪些客户的\g<x>\g<more>"),
    (r"(?P<x>发票|账单|订单|单子)是谁的", r"\g<x>是哪个客户的"),
    (r"(?P<who>客户|顾客|员工|同事|供应商|歌手|艺术家)(?:里面?|里头|当中|中间?),?谁", r"哪个\g<who>"),
    (r"花钱(?=最|比|更)", "消费"),
    (rf"谁(?=(?:买|下过?单|下了单|订购|消费|花钱|采购|订){HAN}*)(?!.*的$)", "哪些客户"),
    (r"有(?:客户|顾客|人|用户)(?=来?(?:下单|下过单|购买|买东西))", ""),
    (rf"在职的?(?=员工|同事|人员|人(?!{HAN}))", "没有离职的"),
    (r"(?P<verb>[入在离]职)了?(?P<n>几|多少)[个位名]?人", r"\g<verb>了\g<n>名员工"),
    # “是谁家供的”, “从哪家供应商进的”, “卖给了哪些客户”
    (r"是?谁家供的货?", "是哪家供应商的"),
    (r"从(?P<which>哪家|哪个|哪些)供应商(?:进货?|采购|拿货?|买)的", r"是\g<which>供应商的"),
    (r"供应商供(?=\s?[A-Za-z“])", "供应商供应"),
    (rf"^(?P<x>[^,]+?)都?卖给(?:了|过)?(?P<which>哪些|哪几家|哪家)客户{END}", r"\g<which>客户购买过\g<x>"),
    (r"销售冠军", "销售额最高的员工"),
    # “是谁买的”
    (rf"{_WHO}(?P<v>下|买|订|订购|购买){_DONE}", r"是哪个客户\g<v>\g<end>"),
    (rf"{_WHO}(?P<v>供|供应|供货|提供){_DONE}", r"是哪家供应商\g<v>\g<end>"),
    (rf"{_WHO}(?P<v>送|运|承运|配送|运送|运输){_DONE}", r"是哪家承运商\g<v>\g<end>"),
    (rf"{_WHO}(?:唱|演唱|演奏){_DONE}", "是哪位歌手的"),
    (rf"{_WHO}(?!负责|跟进|对接|经手)(?P<v>[^,?的]{{1,4}}的[?。]?)$", r"是何人\g<v>"),
)
