"""Numbers as bounds: ranges, at least, exactly; “不止”, “有5个以上”."""

import re

from agent.business.ask.chinese.forms import COUNTER, HAN, MORE, NUMBER, Table

_SCALE = "百万|千万|万|千|亿"


def _range(match: re.Match[str]) -> str:
    """“10万到20万”, “10到20万”: both of the same size; two years are a time."""
    if all(re.fullmatch(r"(?:19|20)\d\d", match[end]) for end in "ab"):
        return match[0]
    scale = match["scale"] or match["scale2"] or ""
    unit = match["u2"] if match["u2"] in ("分钟", "秒钟", "秒") else ""
    return f"介于{match['a']}{scale}{unit}和{match['b']}{match['scale2'] or ''}{unit}"


def _than(match: re.Match[str]) -> str:
    """“比10张多”: more than so many."""
    return f"{'超过' if match['way'] in '多高大长贵' else '少于'}{match['n']}{match['c'] or ''}"


numbered = Table(
    (r"(?<![高多大长])超(?=[\d一二两三四五六七八九十])", "超过"),
    (r"(?<![\d.\-])(?P<a>\d+(?:\.\d+)?)-(?P<b>\d+(?:\.\d+)?)(?=万|千|亿|元|块)", r"\g<a>到\g<b>"),
    (rf"比(?P<n>{NUMBER})(?P<c>{COUNTER}|分钟|秒|元|块)?(?P<way>[多高大长贵少低小短])(?=的|[,?。]|$)", _than),
    (r"(?<=[数额量价金费算])过了?(?=\d)", "超过"),
    (r"不止(?=[\d一二两三四五六七八九十])", "超过"),
    (
        rf"(?:只|仅)有(?P<n>{NUMBER})(?P<c>{COUNTER})(?P<t>{HAN}{{2,4}})的(?P<g>{HAN}{{2,5}})(?=有|[,?。]|$)",
        r"恰好\g<n>\g<c>\g<t>的\g<g>",
    ),
    (
        (
            rf"(?:介于|在|从)?(?<![\d月日年号周第.\-])(?P<a>\d[\d,]*(?:\.\d+)?)(?P<scale>{_SCALE})?(?:元|块|美元)?(?:到|至|~|—|–)"
            rf"(?P<b>\d[\d,]*(?:\.\d+)?)(?P<scale2>{_SCALE})?(?P<u2>元|块钱|块|美元|分钟|秒钟|秒)?(?:之间|区间)?"
            r"(?![\d月日年号季周点天星度])"
        ),
        _range,
    ),
    (rf"有(?P<n>{NUMBER})(?P<c>{COUNTER})?[及或和]?以上的?(?={HAN}{{2,5}}的)", r"有至少\g<n>\g<c>"),
    (r"(?P<x>员工|客户|同事|人员)人数", r"\g<x>数"),
    (rf"(?P<x>(?:员工|同事|人员).*{MORE})(?P<n>{NUMBER})人", r"\g<x>\g<n>名"),
    (rf"(?<={HAN})(?<![超经通下买卖签开做用去来到看])过(?=\d[\d,.]*(?:万|千|百|亿|块|元|美元|分钟|秒|%))", "超过"),
)
