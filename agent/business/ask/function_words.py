"""The words of both languages that say how a question is put, not what it is about. Everything else must be in the layer."""

from enum import StrEnum

from agent.business.ask.units import key_of


class Kind(StrEnum):
    """One letter each: a question without its filters is a word over them, and patterns are regular expressions."""

    COUNT = "C"
    ASK = "Q"
    LIST = "L"
    ALL = "A"
    DISTINCT = "U"
    SUM = "S"
    AVG = "V"
    MAX = "X"
    MIN = "N"
    TOP = "T"
    GROUP = "G"
    PERIOD = "g"
    NUMBER = "#"
    MODEL = "M"
    DIMENSION = "d"
    QUANTITY = "n"
    TIME = "t"
    MEASURE = "m"
    VALUE = "v"
    QUOTED = "q"
    COMPARE = "c"
    AFTER = "a"
    BETWEEN = "b"
    NOT = "!"
    AND = "&"
    OR = "o"
    ORDER = "O"
    DESCENDING = "D"
    ASCENDING = "E"
    WINDOW = "w"
    MUCH = "H"
    SELL = "s"
    EACH = "e"
    NEW = "W"
    SUFFIX = "u"
    SPREAD = "p"
    CURRENCY = "$"
    ADJECTIVE = "J"
    STOP = " "
    UNKNOWN = "?"


_PHRASES: dict[Kind, str] = {
    Kind.COUNT: (
        "how many; number of; the number of; total number of; count of; count; 有多少; 多少; 几; 数量; 个数; "
        "总数; 数目; 总量; 量; 数"
    ),
    Kind.MUCH: "how much; 多少钱; 多少元; 多少金额; 钱",
    Kind.SELL: "sell; sold; selling; 订购; 订购过; 卖过; 售出过; 卖; 卖出; 卖掉; 卖了; 售出; 销售了; 卖出了; 售出了",
    Kind.EACH: "respectively; both; vs; versus; compared with; compared to; compare; comparison; comparison of; 分别; 对比; 比较; 相比",
    Kind.NEW: "new; 新; 新的",
    Kind.SPREAD: "distribution; distribution of; 分布; 构成",
    Kind.SUFFIX: "类; 类的; 系列; 区",
    Kind.CURRENCY: "元; 块; 块钱; 人民币; 美元; 欧元; 万元; dollar; usd; rmb; cny; yuan; euro; eur",
    Kind.ASK: "what is; what was; what are; what were; what; 是多少; 为多少; 是什么; 什么; 多大; 多高",
    Kind.LIST: (
        "list; show; show me; give me; display; find; which; who; get; give; provide a list of; a list of; "
        "list of; list out; return; tell me; name; see; "
        "列出; 显示; 列一下; 列出来; 要; 需要; 我要; 给一下; 列举; 找出; 展示; 给出; 有谁; 都有谁; 哪些; 哪个; 哪位; "
        "哪家; 哪一; 哪; 谁; 给我; 查询; 查一下; 查看; 看看; 列表; 名单"
    ),
    Kind.ALL: (
        "all; all of; every single; in total; altogether; in all; 总计有; 合计有; 一共有; 总共有; 所有; 全部; "
        "一共; 总共; 共; 共有; 全体"
    ),
    Kind.DISTINCT: "distinct; different; unique; 不同; 不重复",
    Kind.SUM: "total; sum; sum of; total amount of; overall; 总; 总和; 合计; 总计; 累计; 之和",
    Kind.AVG: "average; mean; avg; on average; 平均; 平均值; 均值; 平均数",
    Kind.MAX: (
        "maximum; max; highest; largest; biggest; greatest; most; longest; latest; newest; the most; most recent; most recently; "
        "最近; 最高; 最大; 最多; 最长; 最新; 最晚; 最大值; 最高值"
    ),
    Kind.MIN: (
        "minimum; min; lowest; smallest; least; fewest; shortest; earliest; oldest; the least; the fewest; "
        "最低; 最小; 最少; 最短; 最早; 最小值; 最低值"
    ),
    Kind.TOP: "top; first; 前; 排名前; 排前; 排名前列的",
    Kind.GROUP: (
        "by; per; for each; in each; of each; each; for every; in every; every; grouped by; group by; "
        "broken down by; split by; across; across all; by each; for every; "
        "各; 各个; 各自; 每个; 每; 每一; 每位; 每家; 每名; 按; 按照; 分; 根据"
    ),
    Kind.PERIOD: (
        "day; daily; per day; week; weekly; per week; month; monthly; per month; quarter; quarterly; per quarter; "
        "year; yearly; annual; per year; 日; 每日; 每天; 天; 周; 每周; 月; 每月; 每个月; 月度; 月份; 季度; "
        "每季度; 每个季度; 年; 每年; 年度; 年份"
    ),
    Kind.BETWEEN: "between; 介于",
    Kind.NOT: (
        "never been; not been; 从来没有; 从没; 没; 没有被; 未被; 没被; not; no; without; except; excluding; "
        "other than; never; non; 没有; 不是; 非; 除; 除了; 不在; 不含; 未; 从未"
    ),
    Kind.AND: "and; as well as; together with; along with; 和; 与; 及; 以及; 并; 且; 还有",
    Kind.OR: "or; 或; 或者; 还是",
    Kind.ORDER: (
        "order by; order the result by; order result by; sort the result by; ordered in; sorted in; "
        "ordered by; sorted by; sort by; ranked by; order the results by; sort the results by; ordered; sorted; ranked; "
        "rank; ranking; ranking of; 排序; 排列; 排名; 排行; 排行榜; 从"
    ),
    Kind.DESCENDING: (
        "descending; in descending order; desc; from highest to lowest; highest first; 降序; 从高到低; "
        "从多到少; 从大到小; 倒序"
    ),
    Kind.ASCENDING: (
        "ascending; in ascending order; asc; from lowest to highest; lowest first; 升序; 从低到高; 从少到多; 从小到大"
    ),
    Kind.STOP: (
        "a; an; the; of; in; on; at; to; for; from; with; is; are; was; were; be; been; has; have; had; "
        "having; do; does; did; "
        "there; that; we; our; us; me; i; it; its; their; they; them; please; can; could; you; whose; as; "
        "this; these; those; so; far; "
        "currently; now; exist; belong; located; live; come; based; using; s; also; where; value; "
        "的; 了; 吗; 呢; 啊; 在; 是; 有; 为; 个; 位; 家; 名; 笔; 张; 条; 首; 件; 份; 种; 款; 人; 里; 中; 我; "
        "我们; 我司; 公司; 请; 请问; 一下; "
        "统计; 计算; 求; 得; 都; 来自; 属于; 位于; 目前; 当前; 现在; 其; 它; 他; 她; 这些; 那些; 之; 于; 对; "
        "由; 被; 把; 来; 至今; 值; 最; 情况; 想; 想要; 知道; 想知道; 想看; 帮; 帮我; 麻烦; 趋势; 走势; 运送; 配送; 处理; "
        "贡献; 带来; 创造; 下过; 数据; 库里; 库中; 系统里; 开; 开了; 还; 还在; 已经; 到现在; 到目前; 到目前为止; "
        "截至目前; 截止目前; 运; 运了; 运往; 运到; 寄往; 送往; 发往; 经手; 接; 接了;  汇总; 明细; 以及其; 并且; "
        "进行; 目前为止; "
        "ship; ships; receive; receives; close; closed; bring; brings; brought; generate; generates; generated; "
        "earn; earns; earned; deliver; delivered; own; owns; owned; "
        "lead; leads; manage; manages; managed; support; supports; supported; carry; carried; trend; breakdown; "
        "breakdown of; still; yet; already; so far; among; "
        "figures; data; i would like to see; i would like to know; i want to see; i want to know; any; "
        "being; contain; contains; include; includes; 时间; 期间; "
        "排; 以; "
        "published; occurred; occur; posted; written; associated; enrolled; offered; scheduled; named; "
        "called; received; recorded; "
        "respective; corresponding; result; 过; 出; "
        "placed; made; bought; purchased; handle; handled; process; processed; work; place; make; buy; "
        "purchase; supply; supplied; provide; provided; issue; issued; within; "
        "下; 购买; 买; 产生; 对应; 相关; 拥有; 包含; 提供; 供应; 开具"
    ),
}
_COMPARISONS = {
    ">": "more than; greater than; over; above; exceeding; exceed; higher than; larger than; longer than; "
    "bigger than; > ; 大于; 超过; 高于; 多于; 长于; 超出",
    ">=": "at least; no less than; not less than; >=; 不少于; 不低于; 至少; 大于等于; 不小于",
    "<": "less than; under; below; fewer than; lower than; smaller than; shorter than; <; 小于; 低于; "
    "少于; 不到; 不足; 短于",
    "<=": "at most; no more than; not more than; up to; <=; 不超过; 不多于; 至多; 最多不超过; 小于等于; 不高于; 不大于",
    "=": "equal to; exactly; =; 等于; 正好; 恰好",
}
_AFTER_NUMBER = {">=": "or more; or above; 以上; 及以上", "<=": "or less; or fewer; or below; 以下; 及以下"}
_PERIODS = {
    "day": "day; daily; per day; 日; 每日; 每天; 天",
    "week": "week; weekly; per week; 周; 每周",
    "month": "month; monthly; per month; 月; 每月; 每个月; 月度; 月份",
    "quarter": "quarter; quarterly; per quarter; 季度; 每季度; 每个季度",
    "year": "year; yearly; annual; per year; 年; 每年; 年度; 年份",
}
NUMBER_WORDS = {
    word: value
    for value, words in enumerate(
        (
            "",
            "one 一",
            "two 二 两",
            "three 三",
            "four 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight 八",
            "nine 九",
            "ten 十",
        )
    )
    for word in words.split()
}


def split_phrases(text: str) -> list[tuple[str, ...]]:
    return [key_of(phrase) for phrase in text.split(";")]


FUNCTION_WORDS: dict[tuple[str, ...], Kind] = {
    key: kind for kind, text in _PHRASES.items() for key in split_phrases(text)
}
COMPARISONS: dict[tuple[str, ...], str] = {
    key: sign for sign, text in _COMPARISONS.items() for key in split_phrases(text)
}
AFTER_NUMBER: dict[tuple[str, ...], str] = {
    key: sign for sign, text in _AFTER_NUMBER.items() for key in split_phrases(text)
}
PERIODS: dict[tuple[str, ...], str] = {key: period for period, text in _PERIODS.items() for key in split_phrases(text)}
LONGEST = 8  # units of a phrase
