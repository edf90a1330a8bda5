"""Turns of phrase of Chinese: what is said twice, by the way, or with a picture of it, in the wording that is read.

They come before all other forms; each says no more than what it stands for.
"""

import re
from collections.abc import Callable

_HAN = "[\u3400-\u9fff]"
_C = "(?:个|位|家|张|款|首|种|类|条|笔|单|名|件|份|支|台|只|部|项)"
_N = r"(?:\d+|[一二两三四五六七八九十]+)"
_MONTH = r"(?:1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月份?"
_FORMS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    # what it is wanted for; what is handed over besides
    ((r"[,，。](?:我|我们|咱们?)?(?:要|得|想|准备|打算|需要)(?:去|来)?(?:补货|备货|进货|开会|汇报|写报告|写周报|做报表|对账|核对"
         r"|下单|催款|回访|打电话)(?:用|了)?[。.!！]*$"), ""),
    (rf"[?？,，]\s*(?P<x>{_HAN}{{2,4}})(?:也|都|一起|一并|顺便)+(?:给|发|告诉|报|发给)(?:我|我们)?(?:一下|一份)?(?:吧|哈)?[。.]?$",
     r",\g<x>是多少"),
    (r"^(?:请)?(?:只|仅|就|单)(?:看|算|统计|考虑|计|论)(?P<x>[^,，]+的[^,，的]+)[,，](?P<rest>[^,，]+)$", r"\g<x>\g<rest>"),
    (rf"{_HAN}着的(?P<t>{_HAN}{{2,4}})[((](?P<v>{_HAN}{{2,4}})状态[))]", r"\g<v>的\g<t>"),
    (rf"(?:有|共|一共)+(?:几|多少){_C}[、,，]?(?:都|分别|各)?(?:叫|是)(?:什么|啥|哪些)(?:名字|名称)?[?？。]*$", "有哪些"),
    # the things of several groups, counted for each
    ((rf"^(?P<x>[^,，]+?)(?:都|各自|分别)*(?:属于|来自|分布在|归属于|归属|出自)(?:于)?(?:哪些|哪几个)(?P<y>{_HAN}{{2,4}})[、,，]\s*"
         rf"(?:每一?{_C}?|各)(?P=y)?(?:各)?(?:有)?(?:几|多少){_C}?[?？。呢]*$"), r"各\g<y>\g<x>有多少"),
    ((rf"^(?P<a>{_HAN}{{1,4}}?)的?(?:几|各)个?(?P<g>国家|城市|地区|大区|省份)(?:里面?|中|当中)(?P<x>.+?)(?P<most>卖得最[好差])的?"
         rf"前(?P<n>{_N})(?:名|位|个)?[?？。]*$"), r"\g<x>在\g<a>销量最高的\g<n>个\g<g>"),
    # exactly one
    (rf"(?:只|仅)有(?P<n>{_N})(?P<c>{_C})(?P<t>{_HAN}{{2,4}})的(?P<g>{_HAN}{{2,5}})(?=有|[,，?？。]|$)",
     r"恰好\g<n>\g<c>\g<t>的\g<g>"),
    # who
    (rf"谁的(?:单张|单笔|单个|某张|某笔)(?P<x>{_HAN}{{2,6}})(?P<more>超过|高于|大于|多于|低于|少于|不到)了?(?=\d)",
     r"哪些客户的\g<x>\g<more>"),
    # one time against another
    (rf"(?P<y>(?:19|20)\d\d年|今年|去年|前年)(?P<a>{_MONTH})(?P<by>比)(?=\d{{1,2}}月)", r"\g<y>\g<a>\g<by>\g<y>"),
    ((rf"(?P<a>(?:(?:19|20)\d\d年|今年|去年|前年){_MONTH})比(?P<b>(?:(?:19|20)\d\d年|今年|去年|前年){_MONTH})(?P<way>多|少)卖了?"
     rf"(?P<much>多少钱|多少|几{_C})[?？。]*$"),
     lambda m: f"{m['a']}比{m['b']}{'销售额' if '钱' in m['much'] else '销量'}{m['way']}多少"),
    # pictures of what is plain
    (r"走(?=\s?[A-Z][^,，的]*的(?:订单|单子?|货))", ""),
    (r"(?:仓库|库房|货仓|仓)(?:里面?|中|内)?(?:还|仍|尚)有(?:货|库存|存货)", "还有货"),
    (r"手(?:上|里|头)?经过(?:了|的)?(?=多少|几)", "有"),
    (r"(?<=[期间])落(?=在)", ""),
    (r"(?:哪天|什么时候|几号|哪一天|啥时候)(?:出)?生的?(?=[?？。]|$)", "出生日期是什么时候"),
    (rf"(?P<which>哪些|哪几{_C})(?P<x>{_HAN}{{2,3}})的(?:东西|玩意儿?)(?=[?？。]|$)", r"\g<which>\g<x>"),
    (r"历年(?:来)?的?(?=累计|总计|合计|一共|总共)", ""),
    (r"都(?=(?:跑|部署|运行|驻|放|开|搭|装)在哪)", ""),
]  # fmt: skip
_COMPILED = [(re.compile(pattern), form) for pattern, form in _FORMS]


def turned(text: str) -> str:
    """A part of a question without quotes, in the forms that are read."""
    for pattern, form in _COMPILED:
        text = pattern.sub(form, text)
    return text
