"""One against another: two values, two times, a column later than another."""

import re

from agent.business.ask.chinese.forms import AND, COUNTER, END, FIGURE, HAN, MONTH, YEAR, Table

_EITHER = "(?:谁|哪边|哪一边|哪方|哪个|哪一个|哪家|哪类|哪种|哪年|哪一年|哪个月|哪头)"
_BIGGER = "(?:更|比较|要|最|相对)?(?:高|多|大|好|强|畅销)(?:一?些|一?点儿?)?"
_BESIDE = "(?:比(?:一比|一下|较|起来)?,?|,)"
_BOTH = rf"^(?P<a>[^,]+?){AND}(?P<b>[^,]+?){_BESIDE}(?P<when>[^,]*?)"
_WHOLE = "(?P<whole>[^,]*(?:和|与|跟|还是|、)[^,]*?),?"
_LAST = r"(?P<b>去年|前年|上个?月|上个?季度|上周|(?:19|20)\d\d年)"

_TIME = r"(?:去年|前年|上个?月|上上个?月|上个?季度|上周|(?:19|20)\d\d年?(?:\d{1,2}月)?|\d{1,2}月)"


def _of_both(match: re.Match[str]) -> str:
    """“A和B,哪边客户多”: the figure of both."""
    figure = match["x"].removesuffix("的")
    is_counted = match["way"] == "多" and not figure.endswith(("额", "量", "数", "费", "入", "钱"))
    return f"{match['a']}和{match['b']}的{figure}{'数' if is_counted else ''}对比"


def _sold(match: re.Match[str]) -> str:
    return "销售额" if "钱" in match["much"] else "销量"


def _month_by_month(match: re.Match[str]) -> str:
    return f"{match['a']}比{match['b']}{_sold(match)}{match['way']}多少"


def _than_then(match: re.Match[str]) -> str:
    return f"的{_sold(match)}比{match['b']}变化了多少"


compared = Table(
    # “较去年同期”, “是涨了还是跌了”, “多赚了多少”
    (r",?[跟和与同较比](?:去年同期|上年同期|同期)(?:相比|对比|比较|比)?", "同比"),
    (rf"较(?={_TIME})", "比"),
    (r"是?[涨升增多高]了?还是[跌降减少低]了?", "变化了多少"),
    (rf"[跟和与同](?P<b>{_TIME})比,?(?P<x>{FIGURE})?(?:相?差了?|差别|变化了?)多少", r"比\g<b>\g<x>变化了多少"),
    (r"同比(?:相?差了?)多少", "同比变化多少"),
    (r"(?P<way>[多少])[赚挣]了?多少钱?", r"销售额\g<way>多少"),
    # two times
    (rf"(?P<y>{YEAR})(?P<a>{MONTH})比(?=\d{{1,2}}月)", r"\g<y>\g<a>比\g<y>"),
    (
        rf"(?P<a>{YEAR}{MONTH})比(?P<b>{YEAR}{MONTH})(?P<way>多|少)卖了?(?P<much>多少钱|多少|几{COUNTER})[?。]*$",
        _month_by_month,
    ),
    (rf"比{_LAST}(?:同期)?[多少]卖了?(?P<much>多少钱|多少)", _than_then),
    (rf"比{_LAST}[更要还]?[高多好低少差](?:一?些|一?点|了)?(?:吗|没有|没|不)[?。]?$", r"跟\g<b>比怎么样"),
    (rf"[多少]卖[出掉]?了(?:多少|几){COUNTER}?(?=[?。呢啊]|$)", "销量变化了多少"),
    (rf"[多少差高低涨降增减]了(?:几|多少){COUNTER}?(?=[?。呢啊]|$)", "变化了多少"),
    # two values: “华东的销售额比华南多多少”
    (
        (
            rf"^(?P<a>[^,]+)的(?P<x>{FIGURE})比(?P<b>(?![^,]{{0,6}}[年月季周期天日均])[^,]{{2,12}}?)[要还]?[高多大贵低少][出了]?(?:多少|几)"
            rf"(?:钱|元|块|{COUNTER})?{END}"
        ),
        r"\g<a>和\g<b>的\g<x>对比",
    ),
    # two columns
    (
        rf"(?<={HAN})比(?P<b>(?!平均)[^,年月季周期天日]{{2,7}}?)[还更要都]?(?P<way>[低高少大小])(?=的)",
        r"\g<way>于\g<b>",
    ),
    (rf"(?<={HAN})(?P<way>[低高少])过(?={HAN})", r"\g<way>于"),
    (rf"(?<={HAN})比(?P<b>{HAN}{{2,7}}?)(?:还要?|更|要|都)?(?P<way>晚|早)(?=的|$)", r"\g<way>于\g<b>"),
    # two values: the figure before or after “谁”
    (
        (
            rf"^(?P<both>[^,]+?(?:和|与|跟|、)[^,]+?)的(?P<x>{FIGURE}),?(?:是|到底|究竟)*"
            rf"(?:哪一?(?:年|个月|个季度|边|个|家|类|种|位)|谁)的?{_BIGGER}[?呢。]*$"
        ),
        r"\g<both>的\g<x>对比",
    ),
    (
        (
            rf"^(?P<both>[^,]+?(?:和|与|跟|、|还是)[^,]+?)(?:,\s*|比(?:一比|一下|起来|较)?,?|相比,?|两者|之间|[中里])?"
            rf"(?:请问|到底|究竟|其中)?(?:哪一?[个家种类位款名边支](?:{HAN}{{1,4}}?的|的)?|谁的?|两者谁的?)(?P<x>{FIGURE})"
            rf"{_BIGGER}[?呢。]*$"
        ),
        r"\g<both>的\g<x>对比",
    ),
    (rf"{_BOTH}的?(?P<x>{FIGURE})(?:还?是)?{_EITHER}{_BIGGER}[呢啊呀]?[?。]?$", r"\g<when>\g<a>和\g<b>的\g<x>对比"),
    (rf"{_BOTH}{_EITHER}的?(?P<x>{FIGURE}){_BIGGER}[呢啊呀]?[?。]?$", r"\g<when>\g<a>和\g<b>的\g<x>对比"),
    (
        rf"{_BOTH}{_EITHER}(?:曲子|歌曲?|产品|商品|东西|货)?卖[得的]{_BIGGER}[呢啊呀]?[?。]?$",
        r"\g<when>\g<a>和\g<b>的销量对比",
    ),
    (
        (
            r"(?P<a>[^,]+?)[跟和与同](?P<b>[^,]+?)(?:比一下|比起来|相比较?|比较|对比|比)?,?(?:到底|究竟)?"
            r"哪一?(?:年|个?月|个?季度|边|边儿|方|里|天|周)的?(?P<x>[^,?更比最]{1,8}?)(?:更|比较|要|最)?(?P<way>高|多|大)"
            r"(?:一?些|一?点)?(?=[,。?]|$)"
        ),
        _of_both,
    ),
    (
        (
            rf"{_WHOLE}(?:到底|究竟)?是?(?:{_EITHER}|[两]者谁|两边谁)的?{_BIGGER}呢?(?=[,。?]|$)"
            r"(?:[,。?]?\s*(?:分别|各自?|各是?)[是为]?多少)?"
        ),
        r"\g<whole> 对比 ",
    ),
    (
        rf"{_EITHER}(?:更|比较)?卖[得的]{_BIGGER}(?=.*(?:销售额|收入|营业额|销量|金额|件))",
        "对比",
    ),
    (rf"{_WHOLE}{_EITHER}(?:更|比较)?卖[得的]{_BIGGER}", r"\g<whole>对比销量"),
)
