"""What is to be shown besides what is asked: “,连价格一起列出来”, “,附上负责人”, “,电话也给我”, “及其金额”."""

from agent.business.ask.chinese.courtesies import PLEASE, SHOW
from agent.business.ask.chinese.forms import AS_WELL, COUNTER, HAN, Table

_IT = "(?:它们的?|他们的?|其|各自的?|对应的?|相应的?|具体的?)"
_VALUES = "(?:金额|数额|数目|数字|数值|数量|个数)"

shown_besides = Table(
    (
        rf"[?,]\s*(?P<x>{HAN}{{2,4}}){AS_WELL}+(?:给|发|告诉|报|发给)(?:我们?)?(?:一下|一份)?[吧哈]?。?$",
        r",\g<x>是多少",
    ),
    (
        rf"^(?P<all>.+?)[,;]\s*(?:{PLEASE})*(?:连同|连带|连着|连)(?P<x>{HAN}{{2,6}}?){AS_WELL}+{SHOW}(?:来|出来)?。?$",
        r"列出\g<all>,\g<x>分别是什么",
    ),
    (
        rf"^(?P<all>.+?)[,;]\s*(?:{PLEASE})*(?:附上|带上|标上|写上|注明|标明|列明|给出|附)(?P<x>{HAN}{{2,6}}?)。?$",
        r"列出\g<all>,\g<x>分别是什么",
    ),
    (rf"^(?P<a>.*[最前].*?)(?:及其|以及|及|和|跟|与)(?:{_IT})*{_VALUES}。?$", r"\g<a>"),
    (
        rf"^(?P<a>[^,]*最[^,]*?)(?:及其|以及|及|[和与](?={_IT}))(?:{_IT})?(?P<x>{HAN}{{2,4}})。?$",
        r"列出\g<a>,\g<x>分别是什么",
    ),
    # what is shown anyhow: its name, its number
    (
        rf"(?<={HAN}),?(?:名字|名称|名单|姓名)[和跟与及、](?:{_IT})?{_VALUES}{AS_WELL}?(?:要|列出来?|写上|带上|[发报]?给我(?:一下|看看)?)?。?$",
        "",
    ),
    (rf"(?:和|跟|与|及|以及|、|还有)(?:{_IT})?{COUNTER}数。?$", ""),
)
