"""The words of both languages that say how a question is put, not what it is about. Everything else must be in the layer."""

from agent.business.ask.chinese.words import CHINESE_PHRASES
from agent.business.ask.english.words import ENGLISH_PHRASES
from agent.business.ask.words.kinds import Kind, split_phrases

__all__ = (
    "AFTER_NUMBER",
    "COMPARISONS",
    "EARLIER",
    "FUNCTION_WORDS",
    "LONGEST",
    "NUMBER_WORDS",
    "PERIODS",
    "THEN",
    "Kind",
    "split_phrases",
)

_PHRASES: dict[Kind, str] = {
    Kind.COUNT: (
        "how many; number of; the number of; total number of; count of; count; 有多少; 多少; 几; 数量; 个数; "
        "总数; 数目; 总量; 量; 数"
    ),
    Kind.SHARE: (
        "share; share of; percentage; percentage of; percent; percent of; portion of; what part of; proportion; proportion of; "
        "fraction of; "
        "in percentage; percentage wise; in percent; as a percentage; as a percentage of; "
        "占比; 比例; 百分比; 比重; 份额; 所占比例; 所占百分比; 所占比重; 百分之几; 百分之多少; 占多少; 占比情况; 的占比; %"
    ),
    Kind.RATIO: "ratio; ratio of; ratio between",
    Kind.OUT_OF: "占; out of; 占了; 占到",
    Kind.CHANGE: (
        "growth; growth of; growth in; growth rate; growth rate of; rate of growth; change; changed; change in; increase; "
        "increased; increase in; increase of; decrease; decrease in; decline; decline in; drop; drop in; grow; grew; grown; "
        "difference; difference in; difference between; the difference between; difference of; percentage increase; "
        "percentage increase in; percentage change; percentage change in; percentage growth; percent change; percent change in; "
        "by how much; how many more; how much more; how many fewer; how much less; how much higher; how much lower; "
        "evolve; evolved; developed; 增长; 增长了; 增长率; 增长多少; 增长了多少; 增长幅度; 增幅; 涨幅; 变化; 变化了; 变化了多少; "
        "变化情况; 下降; 下降了; 下降了多少; 降了多少; 涨了多少; 减少了多少; 增加了多少; 相差; 相差多少; 差多少; 差额; 差异; 差距; "
        "多了多少; 少了多少; 多多少; 少多少; 高多少; 高了多少; 低了多少; 变动"
    ),
    Kind.PREVIOUS: (
        "month over month; month on month; mom; quarter over quarter; qoq; week over week; compared to the previous period; "
        "previous period; the previous period; 环比; 环比情况; 上期; 与上期; "
        "year over year; year on year; yoy; y o y; the year before; year before; 同比; 同期; 同比情况"
    ),
    Kind.WHEN: (
        "when; when was; when were; when did; what date; on what date; 什么时候; 何时; 是什么时候; 是在什么时候; 是何时; "
        "是哪天; 是哪一天; 在什么时候; 在哪天; 是哪一日; 哪天; 哪一天; 什么时间; 什么日期; 哪一日"
    ),
    Kind.EXISTS: (
        "is there; is there a; is there an; is there any; are there; are there any; do we have; do we have any; do we have a; "
        "do you have; do you have any; have we; have we got; have we got any; do we currently have; do we currently have any; "
        "does any; do any; did any; are any; is any; have any; has any; 有没有; 是否有; 是否存在; 存不存在"
    ),
    Kind.THAN: "than; 比; than in; than the",
    Kind.DURATION: "seconds of; minute; min; hour; millisecond; ms; sec; 秒; 秒钟; 分钟; 小时; 毫秒",
    Kind.ORDINAL: "second; third; fourth; fifth; 第二; 第三; 第四; 第五",
    Kind.BUY: (
        "buy; bought; purchase; purchased; ordered; buying; 购买; 购买过; 买; 买过; 买了; 下单; 下过单; 下了单; 下过订单; 消费过; "
        "有过购买; 有购买; 成交过; 成交; 采购过; bought something; bought anything; purchased something; purchased anything; "
        "ordered something; ordered anything; order something; order anything; buy something; buy anything; bought from us; "
        "ordered from us; buy from us; order from us; placed an order; placed orders; place an order; 下过订单; 买过东西; 买了东西; "
        "买东西; 下了订单"
    ),
    Kind.EVENT: (
        "close; closed; closes; deliver; delivered; delivers; receive; receives; 完成了; 处理; 处理了; handle; handled; "
        "process; processed; published; occurred; occur; occurs; happen; happens; happened; "
        "reported; posted; scheduled; recorded; 送达; 签收; 关闭; 关闭了; 结束; 结束了; "
        "ended; end; "
        "responsible for; is responsible for; are responsible for; in charge of; look after; looks after; looked after; take care of; "
        "takes care of; assigned to; 负责; 负责的; 跟进; 跟进的; 对接; 对接的; 照管; 送; 送的; 送过; 送了; 承运; 承运的; 运输; 运输的; "
        "came in; come in; comes in; coming in; received; 收到; 收到了; 接到; 接到了; "
        "returned; 退货; 退回; 退回了; left; updated; 更新"
    ),
    Kind.MUCH: "how much; 多少钱; 多少元; 多少金额; 钱",
    Kind.SELL: "sell; sold; selling; 订购; 订购过; 卖过; 售出过; 卖; 卖出; 卖掉; 卖了; 卖出去; 卖出去过; 卖掉过; 售出; 销售了; "
    "卖出了; 售出了",
    Kind.EACH: (
        "respectively; both; vs; versus; compared with; compared to; look against; looks against; stack up against; "
        "stacks up against; compare; comparison; comparison of; 分别; 对比; 对比情况; "
        "比较; 相比; 相比较; compare with; compare to; compares to; compares with; comparing; against; 对比一下; 比一下; 之间; "
        "between"
    ),
    Kind.NEW: "new; 新; 新的",
    Kind.SPREAD: "distribution; distribution of; 分布; 构成",
    Kind.SUFFIX: "类; 类的; 系列; 区; 乐; 音乐",
    Kind.CURRENCY: "元; 块; 块钱; 人民币; 美元; 欧元; dollar; usd; rmb; cny; yuan; euro; eur",
    Kind.ASK: (
        "what is; what was; what are; what were; what; how is; how was; how did; how does; how do; 如何; 怎么样; 是多少; "
        "有多大; 多长; 多久; 到底是多少; 为多少; 是什么; 什么; 多大; 多高"
    ),
    Kind.LIST: (
        "list; show; show me; give me; display; find; which; who; which ones; get; give; provide a list of; a list of; "
        "list of; list out; return; tell me; see; enumerate; look up; pull; pull up; i need; i want; "
        "列出; 显示; 列一下; 列出来; 要; 需要; 我要; 给一下; 列举; 找出; 展示; 给出; 有谁; 都有谁; 哪些; 有哪些; 是哪些; "
        "分别是哪些; 都有哪些; 是哪个; 哪几个; 哪几家; 哪几位; 哪种; 哪类; 哪款; 哪张; 哪笔; 哪首; 哪名; 是谁; 是哪家; 是哪位; "
        "分别是谁; 有哪几个; 来一份; 拉一下; 拉一份; 导出; 哪个; 哪位; "
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
        "last; lately; 最后; 最后一个; 最后一笔; 最后一次; 最近一个; 最近一笔; 最近一次; 最近一张; 最近的一笔; 最近的一个; "
        "最近的一次; 第一多; 居首; 最近; 最高; 最大; 最多; 最长; 最新; 最晚; 最大值; 最高值"
    ),
    Kind.MIN: (
        "minimum; min; lowest; smallest; least; fewest; shortest; earliest; the least; the fewest; "
        "第一个; 第一笔; 第一次; 第一位; 第一家; 第一张; 首个; 首位; 首次; 首笔; 最早一个; 最早一笔; "
        "最低; 最小; 最少; 最短; 最早; 最小值; 最低值"
    ),
    Kind.TOP: "top; first; the top; the first; 前; 排名前; 排名靠前的; 排前; 排名前列的",
    Kind.GROUP: (
        "by; per; for each; in each; of each; each; for every; in every; every; grouped by; group by; "
        "broken down by; split by; across; across all; by each; within each; within; for every; each of the; from each; "
        "各; 各个; 各自; 每个; 每; 每一; 每位; 每家; 每名; 按; 按照; 分; 根据"
    ),
    Kind.PERIOD: (
        "day; daily; per day; week; weekly; per week; month; monthly; per month; quarter; quarterly; per quarter; "
        "year; yearly; annual; per year; 日; 每日; 每天; 天; 周; 每周; 月; 每月; 每个月; 月度; 月份; 季度; "
        "每季度; 每个季度; 年; 每年; 年度; 年份; 每个季; 每个年度; 每一年; 每一个月; 每个星期; 每星期; "
        "weekday; day of the week; day of week; 星期几; 周几; 每个星期几; 星期"
    ),
    Kind.BETWEEN: "between; 介于",
    Kind.NOT: (
        "never been; not been; 从来没有; 从没; 没填; 没有填; 没填写; 没有填写; 没留; 没有留; 没有登记; 没登记; 未填写; 未填; 从来没被; "
        "一直没有; 一直没; "
        "lack; lacks; lacking; missing;  没; 没有被; 未被; 没被; not; no; without; except; excluding; "
        "other than; never; non; outside; outside of; except for; apart from; but not; neither; nor; did not; have not; "
        "has not; had not; do not; does not; are not; is not; were not; was not; don't; "
        "excluding; without any; with no; who never; 没有任何; 并非; 不包括; 不算; 剔除; 排除; 从来没; 没有过; 以外; 之外; 外; "
        "没有; 不是; 非; 除; 除了; 不在; 不含; 未; 从未"
    ),
    Kind.AND: "and; as well as; together with; along with; 和; 与; 跟; 及; 以及; 并; 且; 还有",
    Kind.OR: "or; 或; 或者; 还是",
    Kind.ORDER: (
        "order by; order the result by; order result by; sort the result by; sorted in; "
        "order them by; sort them by; sorted in; arranged by; ordered by; sorted by; sort by; ranked by; order the results by; "
        "sort the results by; ordered; sorted; ranked; "
        "rank; ranking; ranking of; 排序; 排列; 排名; 排行; 排行榜; 从"
    ),
    Kind.DESCENDING: (
        "descending; in descending order; desc; from highest to lowest; highest first; largest first; biggest first; "
        "most first; newest first; "
        "latest first; most recent first; most expensive first; high to low; from high to low; from most to least; "
        "longest first; 由高到低; 由多到少; "
        "由大到小; 从新到旧; 从贵到便宜; 从晚到早; 降序; 从高到低; "
        "从多到少; 从大到小; 倒序"
    ),
    Kind.ASCENDING: (
        "ascending; in ascending order; asc; from lowest to highest; lowest first; smallest first; fewest first; oldest first; "
        "earliest first; "
        "cheapest first; low to high; from low to high; from least to most; shortest first; alphabetically; "
        "in alphabetical order; alphabetical; "
        "由低到高; 由少到多; 由小到大; 从旧到新; 从早到晚; 从便宜到贵; 按字母顺序; 按字母排序; 升序; 从低到高; 从少到多; 从小到大"
    ),
    Kind.UNKNOWN: (  # “what counts as a vendor” asks for a definition
        "count as; counted as; 花在; 用在"
    ),
    Kind.EMPTY: "empty; 空的; 空; 是空的; 为空",
    Kind.USE: "used; use; using; used before; 用过; 使用过; 用到; 用到过; 合作过; 被使用; 被用过; unused",
    Kind.STOP: (
        "a; an; the; of; in; on; at; to; for; from; with; is; are; was; were; be; been; has; have; had; "
        "having; do; does; did; "
        "there; that; which is; which are; who is; who are; we; our; us; me; i; it; its; their; they; them; please; can; "
        "could; you; whose; as; "
        "this; these; those; so; far; "
        "currently; now; exist; belong; located; live; come; based; s; also; where; value; "
        "whom; those; ones; ever; just; actually; really; then; hi; hello; thanks; thank you; ok; right now; at the moment; "
        "at present; to date; overall; please; shall; will; would; 那; 那么; 麻烦你; 谢谢; 您好; 你好; 呀; 吧; 哦; 呢; 每次; "
        "次; 一笔; 一次; "
        "一个; 一张; 总体; 整体; 大概; 大约; 差不多; 具体; 各自的; 它们; 他们; 上; 能; 能否; 可以; 可否; 给; 看; 看一下; 查; "
        "算; 算一下; 说一下; 告诉我; "
        "总的; 里面; 当中; 其中; 名下; 旗下; 手上; 手里; 下面;"
        "的; 了; 吗; 呢; 啊; 在; 是; 有; 为; 个; 位; 家; 名; 笔; 张; 条; 首; 件; 份; 种; 款; 人; 里; 中; 我; "
        "我们; 我司; 公司; 请; 请问; 一下; "
        "统计; 计算; 求; 得; 都; 来自; 属于; 位于; 目前; 当前; 现在; 其; 它; 他; 她; 这些; 那些; 之; 于; 对; "
        "由; 被; 把; 来; 至今; 值; 最; 情况; 想; 想要; 知道; 想知道; 想看; 帮; 帮我; 麻烦; 趋势; 走势; 运送; 配送; "
        "贡献; 带来; 创造; 下过; 数据; 库里; 库中; 系统里; 开; 开了; 还; 还在; 已经; 到现在; 到目前; 到目前为止; "
        "截至目前; 截止目前; 运; 运了; 运往; 运到; 寄往; 送往; 发往; 经手; 经手过; 分布在; 分布于; 遍布; 接; "
        "接了;  汇总; 明细; 以及其; 并且; "
        "目前为止; "
        "ship; ships; bring; brings; brought; generate; generates; generated; "
        "earn; earns; earned; own; owns; owned; "
        "lead; leads; manage; manages; managed; support; supports; supported; carry; carried; trend; breakdown; "
        "breakdown of; still; yet; already; so far; among; "
        "figures; data; i would like to see; i would like to know; i want to see; i want to know; any; "
        "being; contain; contains; containing; include; includes; 时间; 期间; "
        "排; 以; "
        "part of; a part of; written; associated; enrolled; offered; named; "
        "called; "
        "respective; corresponding; result; 过; 出; "
        "placed; made; work; place; make; "
        "supply; supplied; provide; provided; issue; issued; within; "
        "下; 单; 产生; 对应; 相关; 拥有; 包含; 提供; 供应; 开具"
    ),
}
_COMPARISONS = {
    ">": (
        "more; greater; higher; larger; longer; later; after; later than; past; 晚于; 迟于; 多过; more than; greater than; "
        "over; above; in excess of; worth more than; beyond; exceeding; exceed; higher than; larger than; longer than; "
        "bigger than; > ; 大于; 超过; 高于; 多于; 长于; 超出"
    ),
    ">=": (
        "at least; a minimum of; minimum of; no fewer than; not fewer than; no less than; not less than; >=; 不少于; 不低于; "
        "至少; 大于等于; 不小于"
    ),
    "<": (
        "fewer; less; lower; smaller; shorter; earlier; before; earlier than; prior to; 早于; 先于; less than; cheaper than; "
        "under; below; fewer than; lower than; smaller than; shorter than; <; 小于; 低于; "
        "少于; 不到; 不足; 短于"
    ),
    "<=": "at most; a maximum of; no more than; not more than; up to; <=; 不超过; 不多于; 至多; 最多不超过; 小于等于; 不高于; 不大于",
    "=": "equal to; exactly; =; 等于; 正好; 恰好",
}
_AFTER_NUMBER = {
    ">=": "or more; or above; or higher; and above; and up; and more; plus; upwards; 以上; 及以上",
    "<=": "以内; 之内; or less; or fewer; or lower; and below; or below; 以下; 及以下",
}
# between two times, the second against the first: “在要求日期之后发货”
_THEN = {">": "之后; 以后; 之后才; 以后才; 之后的", "<": "之前; 以前; 之前就; 以前就"}
_PERIODS = {
    "day": "day; daily; per day; 日; 每日; 每天; 天",
    "week": "week; weekly; per week; 周; 每周; 每个星期; 每星期",
    "weekday": "weekday; day of the week; day of week; 星期几; 周几; 每个星期几; 星期",
    "month": "month; monthly; per month; 月; 每月; 每个月; 月度; 月份; 每一个月",
    "quarter": "quarter; quarterly; per quarter; 季度; 每季度; 每个季度; 每个季",
    "year": "year; yearly; annual; per year; 年; 每年; 年度; 年份; 每个年度; 每一年",
}
NUMBER_WORDS = {
    word: value
    for value, words in enumerate(
        (
            "zero 零",
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
            "eleven 十一",
            "twelve 十二",
        )
    )
    for word in words.split()
}


FUNCTION_WORDS: dict[tuple[str, ...], Kind] = {
    key: kind
    for table in (_PHRASES, CHINESE_PHRASES, ENGLISH_PHRASES)
    for kind, text in table.items()
    for key in split_phrases(text)
}
COMPARISONS: dict[tuple[str, ...], str] = {
    key: sign for sign, text in _COMPARISONS.items() for key in split_phrases(text)
}
AFTER_NUMBER: dict[tuple[str, ...], str] = {
    key: sign for sign, text in _AFTER_NUMBER.items() for key in split_phrases(text)
}
THEN: dict[tuple[str, ...], str] = {key: sign for sign, text in _THEN.items() for key in split_phrases(text)}
PERIODS: dict[tuple[str, ...], str] = {key: period for period, text in _PERIODS.items() for key in split_phrases(text)}
_EARLIER = {  # of PREVIOUS, how long before
    "year": "year over year; year on year; yoy; y o y; the year before; year before; 同比; 同期; 同比情况",
    "quarter": "quarter over quarter; qoq",
    "month": "month over month; month on month; mom",
    "week": "week over week",
}
EARLIER = {key: unit for unit, text in _EARLIER.items() for key in split_phrases(text)}
LONGEST = 8  # units of a phrase
