"""A large layer to test on: the tables of a small one hidden among those of a company that does everything.

The others are made of things, of what is kept about them, and of columns, always the same for the same size; they have words in both
languages where the small layer has, and keys among themselves.
"""

import hashlib
from collections.abc import Sequence

from business.semantic_layer.model import (
    Defaults,
    Dimension,
    Entity,
    Measure,
    SemanticLayer,
    SemanticModel,
    UnitRule,
    Value,
    Words,
)

_THINGS = """
vehicle 车辆; machine 机器; warehouse 仓库; pallet 托盘; lease 租约; tenant 租户; visitor 访客; badge 门卡; laptop 笔记本; server 服务器;
certificate 证书; incident 事故; audit 审计; budget 预算; grant 拨款; donation 捐赠; pension 养老金; payroll 工资单; shift 班次;
vacancy 空缺职位; applicant 应聘者; training 培训; claim 理赔; policy 保单; premium 保费; mortgage 按揭; loan 贷款; collateral 抵押物;
portfolio 投资组合; bond 债券; turbine 涡轮机; meter 电表; pipeline 管道; substation 变电站; well 油井; crop 作物; harvest 收成; herd 畜群;
vaccine 疫苗; ward 病房; surgery 手术; prescription 处方; ambulance 救护车; parcel 包裹; container 集装箱; vessel 船舶; berth 泊位;
customs 报关; tariff 关税; route 线路; driver 司机; fuel 燃料; tyre 轮胎; campaign 营销活动; coupon 优惠码; newsletter 简报; webpage 网页;
domain 域名; sensor 传感器; firmware 固件
"""
_KEPT = "register 登记; inspection 检查; schedule 日程; assignment 分配; adjustment 调整; approval 审批; forecast 预测; archive 归档"
_COLUMNS = """
code 编码 S; serial number 序列号 S; grade 等级 S; condition 状况 S; remark 备注 S; approver 批准人 S; building 楼栋 S; floor 楼层 N;
capacity 容量 N; tonnage 吨位 N; mileage 里程 N; voltage 电压 N; humidity 湿度 N; temperature 温度 N; pressure 压力 N; depth 深度 N;
width 宽度 N; height 高度 N; gross amount 毛额 N; net amount 净额 N; deposit 押金 N; penalty 罚金 N; allowance 津贴 N; instalment 分期 N;
interest rate 利率 N; exchange rate 汇率 N; headcount 人数 N; overtime hours 加班时长 N; downtime 停机时长 N; defect count 缺陷数 N;
issued on 签发日期 D; expires on 到期日期 D; inspected on 检查日期 D; repaired on 维修日期 D; signed on 签署日期 D;
archived on 归档日期 D; is insured 已投保 B; is leased 已出租 B; is certified 已认证 B; is hazardous 危险品 B; priority 优先级 V;
channel 渠道 V; stage 阶段 V; risk class 风险等级 V; supervisor 主管 S; contractor 承包商 S; inspector 检查员 S; region code 区域编码 S;
cost centre 成本中心 S; ledger account 总账科目 S
"""
_VALUES = (("low", "低"), ("medium", "中"), ("high", "高"), ("urgent", "紧急"))
_TYPES = {"S": "categorical", "N": "number", "D": "time", "B": "boolean", "V": "categorical"}


def hidden_among(layer: SemanticLayer, *, tables: int = 300, columns: int = 30) -> SemanticLayer:
    """A layer of so many tables in which those of this one stand apart from each other."""
    own = list(layer.semantic_models)
    is_labelled = any(model.label.zh for model in own)
    taken = {model.name for model in own}
    others = [model for model in made_tables(tables, columns, is_labelled=is_labelled) if model.name not in taken]
    others = others[: tables - len(own)]
    step = max(1, tables // max(1, len(own)))
    for place, model in enumerate(own):
        others.insert(place * step, model)
    return layer.model_copy(update={"semantic_models": tuple(others)})


def made_tables(tables: int, columns: int, *, is_labelled: bool) -> list[SemanticModel]:
    """So many tables of a large company, each with so many columns and a key to up to three of the tables before it."""
    things, kept = _pairs(_THINGS), _pairs(_KEPT)
    named = [(f"{thing}_{about}", f"{said}{told}") for about, told in kept for thing, said in things]
    names = [name for name, _label in named]
    return [
        _table(name, label, names[max(0, place - 40) : place], columns, is_labelled=is_labelled)
        for place, (name, label) in enumerate(named[:tables])
    ]


def _table(name: str, label: str, before: Sequence[str], columns: int, *, is_labelled: bool) -> SemanticModel:
    order = sorted(_triples(_COLUMNS), key=lambda one: _number(name + one[0]))
    to = sorted(before, key=lambda other: _number(name + other))[:3]
    dimensions = [_dimension(*one, is_labelled=is_labelled) for one in order[: max(0, columns - 1 - len(to))]]
    time = next((one.name for one in dimensions if one.type == "time"), "")
    return SemanticModel(
        name=name,
        table=name,
        label=Words(en=name.replace("_", " "), zh=label) if is_labelled else Words(),
        org_unit=UnitRule(shared_with="everyone"),
        defaults=Defaults(agg_time_dimension=time),
        entities=(
            Entity(name=name, type="primary", expr=f"{name}_id"),
            *(Entity(name=other, type="foreign", expr=f"{other}_id") for other in to),
        ),
        dimensions=tuple(dimensions),
        measures=(Measure(name=f"number_of_{name}", agg="count"), *_sum(dimensions, is_labelled=is_labelled)),
    )


def _sum(dimensions: Sequence[Dimension], *, is_labelled: bool) -> list[Measure]:
    """The total of the first number, where people have described the layer."""
    number = next((one for one in dimensions if one.type == "number"), None)
    if number is None or not is_labelled:
        return []
    label = Words(en=f"total {number.label.en}", zh=f"{number.label.zh}合计")
    return [Measure(name=f"total_{number.name}", agg="sum", expr=number.expr, label=label)]


def _dimension(said: str, label: str, kind: str, *, is_labelled: bool) -> Dimension:
    values = tuple(Value(value=value, synonyms=(zh,) if is_labelled else ()) for value, zh in _VALUES if kind == "V")
    name = said.replace(" ", "_")
    words = Words(en=said, zh=label) if is_labelled else Words()
    return Dimension(name=name, expr=name, type=_TYPES[kind], label=words, values=values)  # type: ignore[arg-type]


def _number(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _pairs(text: str) -> list[tuple[str, str]]:
    found = [one.rsplit(None, 1) for one in text.replace("\n", " ").split(";")]
    return [(said.strip(), label) for said, label in found]


def _triples(text: str) -> list[tuple[str, str, str]]:
    found = [one.rsplit(None, 2) for one in text.replace("\n", " ").split(";")]
    return [(said.strip(), label, kind) for said, label, kind in found]
