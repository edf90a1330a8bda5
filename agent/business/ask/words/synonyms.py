"""Chinese words that mean the same in any business: what a layer calls 员工 is also called 同事, unless it says otherwise itself."""

_SAME = """
员工 职员 雇员 同事 职工 工作人员
客户 顾客 客人 买家 主顾
订单 单子
产品 商品 货品 货
供应商 供货商 供货方 供应方 厂家 厂商
承运商 物流公司 货运公司 快递公司 运输公司 承运公司 物流商 承运方 快递
歌曲 曲目 曲子 单曲 歌
专辑 唱片 大碟
流派 曲风 音乐类型 音乐风格
播放列表 歌单
艺术家 歌手 艺人 音乐人
发票 账单
销售额 营业额 营收 营业收入 销售收入 销售金额 收入 成交额 成交金额 交易额 业绩 进账 流水
销量 销售量 销售数量 售出数量
单价 价格 售价 价钱
标价 价格 单价 售价 价钱
库存 库存量 存货 存货量 现货
运费 运输费 运输费用 邮费 物流费 物流费用
总运费 运费总额 运费合计
预算 预算金额 预算额
地区 区域 大区 片区
办公室 办公地点 办公点
职位 岗位 职务
电话 电话号码 联系电话
邮箱 电子邮箱 邮件地址 电子邮件 邮箱地址
联系人 联络人
类别 品类 分类
时长 长度 播放时长
文件大小 文件体积
客单价 平均订单金额 平均客单价
目的国 收货国家 收货国
"""


def _groups() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _SAME.strip().splitlines():
        words = tuple(line.split())
        for word in words:
            found[word] = tuple(dict.fromkeys((*found.get(word, ()), *words)))
    return found


_GROUPS = _groups()


def same_as(word: str) -> tuple[str, ...]:
    """What else a word of a layer is called; none for a word that is not in the list."""
    return tuple(other for other in _GROUPS.get(word, ()) if other != word)
