"""When: periods one by one, a period just past, a whole period, the date of something."""

import re

from agent.business.ask.chinese.forms import END, FIGURE, HAN, Table

_PERIOD = {"日": "每天", "天": "每天", "周": "每周", "月": "每月", "季": "每季度", "季度": "每季度", "年": "每年"}
_UNIT = "(?P<unit>日|天|周|月|季度|季|年)"
_WHICH = "哪(?:个?月份?|个?季度|一?年|一?天)"
_WHICH_DAY = "(?:是?(?:哪天|哪一天|什么时候|几号|何时|多少))"


def _each(match: re.Match[str]) -> str:
    return _PERIOD[match["unit"]]


def _mean_of_each(match: re.Match[str]) -> str:
    return f"平均{_PERIOD[match['unit']]}"


def _months_in_a_row(match: re.Match[str]) -> str:
    """“3月、4月、5月的…合计”: from the first to the last."""
    first, second, last = (int(match[name]) for name in "abc")
    return f"{first}月到{last}月的" if (second, last) == (first + 1, first + 2) else match[0]


def _to_date(match: re.Match[str]) -> str:
    """“今年销售额跟去年同期比”: up to today, as last year's was up to the same day."""
    return {"年": "今年到现在", "月": "本月至今", "季": "本季度至今", "周": "本周至今"}[match["unit"]]


timed = Table(
    (
        (
            r"(?:截[至止]目前,?)?[今本这]个?(?P<unit>[年月季周])度?(?:以来|至今|到现在|到目前(?:为止)?)?的?"
            r"(?![上下]半年|[\d前第一二三四A-Za-z])(?=.*(?:同期|同比))"
        ),
        _to_date,
    ),
    (r"(?<=[期间])落(?=在)", ""),
    # one by one: “逐月”, “一个月一个月”, “四个季度分别”, “历年”
    (rf"(?:逐|挨){_UNIT}(?:度|份)?(?=的|地|{HAN})", _each),
    (r"一个?(?P<unit>月|季度|年)一个?(?P=unit)[的地]?", _each),
    (
        (
            r"(?P<each>每个?(?P<unit>月|季度|年|周|天).*?),\s*请?按(?P=unit)(?:份|度)?(?:来|分)?"
            r"(?:列出来?|展示|统计|汇总|给出|分开)?。?$"
        ),
        r"\g<each>",
    ),
    (r"(?<=年)的?(?:四|4)个季度[里中内]?(?=.*(?:分别|各))", "每季度"),
    (r"(?<=年)的?(?:十二|12)个月[里中内]?(?=.*(?:分别|各))", "每月"),
    (r"历年来?的?(?=累计|总计|合计|一共|总共)", ""),
    (r"历年来?的?|逐年[的地]?", "每年"),
    (rf"(?P<unit>月|年|季|周|日)均(?={HAN})", _mean_of_each),
    (r"(?<!\d)(?P<a>1?\d)(?:到|至|-|~)(?P<b>1?\d)月(?!\d)", r"\g<a>月到\g<b>月"),
    (
        r"(?P<m>1?\d月)(?P<a>[1-3]?\d)[日号]?(?:到|至|-|~)(?P<b>[1-3]?\d)(?P<day>[日号])",
        r"\g<m>\g<a>\g<day>到\g<m>\g<b>\g<day>",
    ),
    (
        r"(?<!\d)(?P<a>1?\d)月、(?P<b>1?\d)月(?:、|和)(?P<c>1?\d)月的?(?=[^,]*(?:合计|总计|一共|总共|总和))",
        _months_in_a_row,
    ),
    # which period: “哪个月卖得最好”, “业绩最好的是哪个月”
    (r"几月份?(?=[^,]*最)", "哪个月"),
    (rf"(?P<when>{_WHICH})的?(?:卖[得的]|业绩|生意)最[好多高]", r"\g<when>的销售额最高"),
    (rf"^(?P<head>[^,]*?)业绩最[好高]的?是(?P<when>{_WHICH}){END}", r"\g<head>\g<when>的销售额最高"),
    (
        rf"^(?P<head>[^,]*?)(?P<x>{FIGURE})最(?P<way>[高低多少])的?是(?P<when>{_WHICH}){END}",
        r"\g<head>\g<when>的\g<x>最\g<way>",
    ),
    # just past
    (r"这(?P<n>[一二两三四五六七八九十\d]+)个月(?:以来|来|里|内)?", r"最近\g<n>个月"),
    (r"刚刚?(?:过去|结束)的?[这那]?一?个?(?=(?:月|季度|周|星期)(?!份))", "上个"),
    (r"刚刚?(?:过去|结束)的?[这那]?个?(?=\d{1,2}月|[一二三四五六七八九十]{1,2}月|第?[一二三四]季度|年)", ""),
    # the whole of it
    (r"(?<=[年月度])的?(?:全年|整年|一整年|全月|整月|一整个?月|整个季度)(?:里|内|中|下来)?", ""),
    (r"(?<=[年月度])度?(?:一共|总共)?算?下来", ""),
    (r"(?<=[月年周天度])卖多少钱", "卖了多少钱"),
    (r"(?P<a>(?:19|20)\d\d)[、和跟与](?P<b>(?:19|20)\d\d)(?:这)?两年", r"\g<a>年和\g<b>年"),
    (r"(?P<y>(?:19|20)\d\d)年?(?:这一?年|这年)", r"\g<y>年"),
    # the date of something
    (
        rf"^(?P<n>最[近后]一[次笔])(?P<who>[^,有][^,]{{1,11}}?)(?P<deed>下单|购买|开票)的?(?P<when>{_WHICH_DAY}?)[?。]*$",
        r"\g<who>\g<n>\g<deed>\g<when>",
    ),
    (
        (
            r"(?P<which>第一|最后一|最近一|首)(?P<c>[笔张个次])(?P<t>订单|发票|账单)的?(?:日期|时间)"
            rf"{_WHICH_DAY}?[?。]*$"
        ),
        r"\g<which>\g<c>\g<t>是什么时候",
    ),
    (r"最(?P<way>后|近)一单是(?P<when>哪天|什么时候|哪一天)下的", r"最\g<way>一笔订单是\g<when>"),
    (rf"哪(?:一)?天的?(?={HAN}{{2,6}}最[多少高低])", "哪个天"),
    (r"(?:哪天|什么时候|几号|哪一天)出?生的?(?=[?。]|$)", "出生日期是什么时候"),
    (r"哪一?年出生的?", "什么时候出生"),
)
