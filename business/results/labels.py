"""What the columns of a result are called in a language."""

from collections.abc import Sequence

from business.logical_query.wording import AGGREGATES, label
from business.semantic_layer.model import SemanticLayer

_COUNTED = {"zh": "数量", "en": "count"}
_DERIVED = {
    "en": {
        "ratio": "ratio",
        "share": "share (%)", "part": "part", "whole": "whole", "current": "current", "previous": "previous", "change": "change",
        "change_percent": "change (%)", "average": "average", "exists": "exists", "period": "period", "weekday": "weekday (1 = Monday)",
    },
    "zh": {
        "ratio": "比值",
        "share": "占比（%）", "part": "部分", "whole": "总体", "current": "本期", "previous": "对比期", "change": "变化",
        "change_percent": "变化率（%）", "average": "平均", "exists": "是否有", "period": "时间", "weekday": "星期（1 = 星期一）",
    },
}  # fmt: skip
_PERIODS = {"day": "日", "week": "周", "month": "月", "quarter": "季度", "year": "年"}


def column_labels(columns: Sequence[str], layer: SemanticLayer, language: str) -> tuple[str, ...]:
    """What the columns of a result are called in a language; a name that means several things, or none, stays as it is."""
    key = "zh" if language.startswith("zh") else "en"
    said: dict[str, set[str]] = {"count": {_COUNTED[key]}} | {name: {word} for name, word in _DERIVED[key].items()}
    if key == "zh":
        said |= {name: {word} for name, word in _PERIODS.items()}
    for model in layer.semantic_models:
        rows = f"{label(model, key)}数量" if key == "zh" else f"number of {label(model, key)} records"
        said.setdefault(f"count_{model.name}", set()).add(rows)
        for part in (model, *model.measures, *model.dimensions):
            said.setdefault(part.name, set()).add(label(part, key))
        for dimension in model.dimensions:
            said.setdefault(dimension.expr.strip('"'), set()).add(label(dimension, key))
            for agg in AGGREGATES[key]:
                between = "" if key == "zh" else " "
                told = f"{AGGREGATES[key][agg]}{between}{label(dimension, key)}"
                said.setdefault(f"{agg}_{dimension.name}"[:60], set()).add(told)
    return tuple(said[name].copy().pop() if len(said.get(name, ())) == 1 else name for name in columns)
